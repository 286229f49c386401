"""Parser of MindSpore's dump configuration, ``data_dump.json``, and its filter of operators."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from mindinsight.writer.recorders.dump import COLUMNS, iteration_filter

Saved: TypeAlias = Literal["tensor", "statistic", "full"]

VARIABLE: Final = "MINDSPORE_DUMP_CONFIG"
_FALLBACK: Final = "MS_DIAGNOSTIC_DATA_PATH"  # where no path is set
_SAVED: Final = ("tensor", "statistic", "full")
_STATISTICS: Final = ("max", "min", "l2norm")
_HASHES: Final = {"hash": "md5", "hash:md5": "md5"}  # newer names of a category
# Keys that say how an accelerator or the asynchronous dump works; the value that changes nothing here.
_WITHOUT_EFFECT: Final[Mapping[str, object]] = {
    "trans_flag": None,
    "save_kernel_args": False,
    "stat_calc_mode": "host",
    "device_stat_precision_mode": None,
    "sample_mode": 0,
    "sample_num": None,
    "file_format": "npy",
    "support_device": None,
    "enable": None,
}
_KNOWN: Final = {
    "dump_mode",
    "path",
    "net_name",
    "iteration",
    "saved_data",
    "input_output",
    "kernels",
    "op_debug_mode",
    "statistic_category",
    "overflow_number",
    "initial_iteration",
    *_WITHOUT_EFFECT,
}


class ConfigError(ValueError):
    """A key of a dump configuration with a value it cannot have."""


@dataclass(frozen=True)
class DumpConfig:
    """What to dump and where. ``source`` is the text of the file, written beside the dump as it is."""

    path: Path
    net_name: str
    iteration: str = "all"  # "all", or numbers and inclusive ranges joined by "|"
    dump_mode: Literal[0, 1, 2] = 0  # all operators; those of ``kernels``; those of ``set_dump``
    kernels: tuple[str, ...] = ()
    input_output: Literal[0, 1, 2] = 0  # both; inputs; outputs
    saved_data: Saved = "tensor"
    statistic_category: tuple[str, ...] = _STATISTICS
    op_debug_mode: Literal[0, 3, 4] = 0  # all; operators that overflowed; inputs of abnormal operators
    overflow_number: int = 0  # operators that are recorded with op_debug_mode 3; 0: no limit
    initial_iteration: int = 0  # number of the first step
    without_effect: tuple[str, ...] = ()  # keys that were set and mean nothing here
    source: str = ""

    def selects(self) -> Callable[[int], bool]:
        """Predicate of the iterations to dump."""
        return iteration_filter(self.iteration)


def load_config(path: str | Path, environment: Mapping[str, str] = os.environ) -> DumpConfig:
    """The configuration in a file. Raises ConfigError, and OSError where it cannot be read."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    try:
        return parse_config(content, environment, text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_config(
    content: object, environment: Mapping[str, str] = os.environ, source: str = ""
) -> DumpConfig:
    """The configuration in an object: ``common_dump_settings`` and ``e2e_dump_settings``, or their keys.

    Raises ConfigError with the key, its value and what is allowed.
    """
    settings = _settings(content)
    debug = _choice(settings, "op_debug_mode", {0: 0, 1: 3, 2: 3, 3: 3, 4: 4}, 0)
    mode = _choice(settings, "dump_mode", {0: 0, 1: 1, 2: 2}, 0)
    if mode == 2 and not debug:
        raise ConfigError("dump_mode 2 takes operators marked by set_dump, which only Ascend has: use 0 or 1")
    saved = _choice(settings, "saved_data", dict(zip(_SAVED, _SAVED, strict=True)), "tensor")
    overflows = _count(settings, "overflow_number")
    if overflows and debug != 3:
        raise ConfigError("overflow_number only has a meaning with op_debug_mode 3")
    both = _choice(settings, "input_output", {0: 0, 1: 1, 2: 2}, 0)
    return DumpConfig(
        path=_path(settings, environment),
        net_name=_net_name(settings),
        iteration="all" if debug == 4 else _iteration(settings),
        dump_mode=0 if debug else mode,
        kernels=_kernels(settings),
        input_output=0 if debug == 3 else both,
        saved_data=saved,
        statistic_category=_categories(settings),
        op_debug_mode=debug,
        overflow_number=overflows,
        initial_iteration=_count(settings, "initial_iteration"),
        without_effect=tuple(_unused(settings)),
        source=source or json.dumps(content, indent=2),
    )


def _settings(content: object) -> dict[str, Any]:
    """Keys of both sections in one; before MindSpore 1.2 the section was ``DumpSettings`` in capitals."""
    if not isinstance(content, Mapping):
        raise ConfigError(f"the configuration is a JSON object, got {type(content).__name__}")
    sections = [content.get(name, {}) for name in ("common_dump_settings", "e2e_dump_settings")]
    sections += [content.get(name, {}) for name in ("async_dump_settings", "DumpSettings")]
    if not any(sections):
        sections = [content]
    settings: dict[str, Any] = {}
    for section in sections:
        if not isinstance(section, Mapping):
            raise ConfigError(f"a section of the configuration is a JSON object, got {section!r}")
        settings |= section
    return settings


def _path(settings: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
    text = settings.get("path", "")
    if not isinstance(text, str):
        raise ConfigError(f"path is text, got {text!r}")
    if not text:
        folder = environment.get(_FALLBACK, "")
        if not folder:
            raise ConfigError(f"path is not set, and neither is the variable {_FALLBACK}")
        return Path(folder).absolute() / "debug_dump"
    if not text.startswith("/"):
        raise ConfigError(f"path is absolute, got {text!r}")
    return Path(text)


def _net_name(settings: Mapping[str, Any]) -> str:
    name = settings.get("net_name", "Net")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        raise ConfigError(f"net_name is made of letters, digits, '-' and '_', got {name!r}")
    return name


def _iteration(settings: Mapping[str, Any]) -> str:
    value = settings.get("iteration", "all")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ConfigError(f"iteration is 'all' or text such as '0|5-8|100-120', got {value!r}")
    text = str(value)
    if text != "all" and re.fullmatch(r"[\d|-]*", text):
        text = "|".join(filter(None, text.split("|")))  # empty items match nothing in MindSpore, too
    try:
        iteration_filter(text)
    except ValueError as error:
        raise ConfigError(f"iteration: {error}") from error
    return text


def _kernels(settings: Mapping[str, Any]) -> tuple[str, ...]:
    kernels = settings.get("kernels", [])
    if not isinstance(kernels, Sequence) or isinstance(kernels, str):
        raise ConfigError(f"kernels is a list of names, got {kernels!r}")
    for kernel in kernels:
        if not isinstance(kernel, str):
            raise ConfigError(f"kernels holds {kernel!r}, which is no name")
    return tuple(kernels)


def _categories(settings: Mapping[str, Any]) -> tuple[str, ...]:
    categories = settings.get("statistic_category", list(_STATISTICS))
    if not isinstance(categories, Sequence) or isinstance(categories, str):
        raise ConfigError(f"statistic_category is a list of names, got {categories!r}")
    names: tuple[Any, ...] = tuple(dict.fromkeys(_HASHES.get(str(name), name) for name in categories))
    if wrong := [name for name in names if name not in COLUMNS]:
        raise ConfigError(f"statistic_category holds {wrong[0]!r}; allowed are {', '.join(COLUMNS)}")
    return names


def _choice(settings: Mapping[str, Any], key: str, allowed: Mapping[Any, Any], default: object) -> Any:
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, str)) or value not in allowed:
        raise ConfigError(f"{key} is one of {', '.join(map(str, allowed))}, got {value!r}")
    return allowed[value]


def _count(settings: Mapping[str, Any], key: str) -> int:
    value = settings.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{key} is a number from 0 on, got {value!r}")
    return value


def _unused(settings: Mapping[str, Any]) -> list[str]:
    """Keys without effect: those of accelerators with a value that would matter there, and unknown ones."""
    names = [key for key in settings if key not in _KNOWN]
    for key, neutral in _WITHOUT_EFFECT.items():
        if neutral is not None and key in settings and settings[key] != neutral:
            names.append(key)
    return names


_REGEX: Final = re.compile(r"name-regex\((.*)\)", re.DOTALL)


class KernelFilter:
    """Predicate of operator names, by MindSpore's rules.

    An entry is ``name-regex(RE)``, which fits a whole full name; a full name, told by ``/`` or ``-op``; or an
    operator type, which is looked for in the last part of a name, capitals or not. No entries select all.
    Raises ValueError for a regular expression that is none.
    """

    def __init__(self, kernels: Iterable[str]) -> None:
        entries = [re.sub(r"[ \"]", "", kernel) for kernel in kernels]
        self._unmatched = dict.fromkeys(filter(None, entries))
        self._expressions = {entry: _compiled(entry) for entry in self._unmatched if _REGEX.fullmatch(entry)}
        self._all = not self._unmatched
        self._entries = tuple(self._unmatched)
        self._answers: dict[str, bool] = {}

    @property
    def unmatched(self) -> tuple[str, ...]:
        """Entries that fitted no operator so far."""
        return tuple(self._unmatched)

    def __call__(self, name: str) -> bool:
        if self._all:
            return True
        if name not in self._answers:
            hits = [entry for entry in self._entries if self._fits(entry, name)]
            for entry in hits:
                self._unmatched.pop(entry, None)
            self._answers[name] = bool(hits)
        return self._answers[name]

    def _fits(self, entry: str, name: str) -> bool:
        expression = self._expressions.get(entry)
        if expression is not None:
            return expression.fullmatch(name) is not None
        if "/" in entry or "-op" in entry:
            return entry == name
        last = name.rpartition("/")[2]
        return entry.lower() in (last.rpartition("-")[0] or last).lower()


def _compiled(entry: str) -> re.Pattern[str]:
    match = _REGEX.fullmatch(entry)
    text = match[1] if match else entry
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"kernels holds {entry!r}, which is no regular expression: {error}") from error
