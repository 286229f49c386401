"""Parsers of the recorders' configuration files, and their filters of operators and calls.

MindSpore's ``data_dump.json`` configures the dump recorder, msprobe's ``config.json`` the precision debugger.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, TypeVar

from mindinsight.writer.recorders.dump import COLUMNS, iteration_filter

T = TypeVar("T")


class ConfigError(ValueError):
    """Error of a key with an invalid value in a recorder's configuration."""


def _load(path: str | Path, parse: Callable[[object, str], T]) -> T:
    """Return the result of ``parse`` for the JSON and the text of a file. Errors name the file."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    try:
        return parse(content, text)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _object(content: object, name: str = "the configuration") -> Mapping[str, Any]:
    if not isinstance(content, Mapping):
        raise ConfigError(f"{name} is a JSON object, got {content!r}")
    return content


def _choice(key: str, value: Any, allowed: Sequence[Any]) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, str)) or value not in allowed:
        raise ConfigError(f"{key} is one of {', '.join(map(str, allowed))}, got {value!r}")
    return value


def _names(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ConfigError(f"{key} is a list of names, got {value!r}")
    if wrong := [item for item in value if not isinstance(item, str)]:
        raise ConfigError(f"{key} is a list of names, and holds {wrong[0]!r}")
    return tuple(value)


Saved: TypeAlias = Literal["tensor", "statistic", "full"]

VARIABLE: Final = "MINDSPORE_DUMP_CONFIG"
_FALLBACK: Final = "MS_DIAGNOSTIC_DATA_PATH"  # names the directory if no path is set
_STATISTICS: Final = ("max", "min", "l2norm")
_SAVED: Final = ("tensor", "statistic", "full")
_HASHES: Final = {"hash": "md5", "hash:md5": "md5"}  # newer names of a category
# Keys for accelerators or the asynchronous dump, with the value without effect there. None: never reported.
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


@dataclass(frozen=True)
class DumpConfig:
    """Settings of a dump: its directory, the iterations and operators, and the data of their tensors.

    ``source`` is the text of the file, copied into the dump unchanged.
    """

    path: Path
    net_name: str
    iteration: str = "all"  # "all", or numbers and inclusive ranges joined by "|"
    dump_mode: Literal[0, 1, 2] = 0  # all operators, those in ``kernels``, those marked by ``set_dump``
    kernels: tuple[str, ...] = ()
    input_output: Literal[0, 1, 2] = 0  # both, inputs, outputs
    saved_data: Saved = "tensor"
    statistic_category: tuple[str, ...] = _STATISTICS
    op_debug_mode: Literal[0, 3, 4] = 0  # all, operators that overflowed, inputs of abnormal operators
    overflow_number: int = 0  # limit of operators recorded with op_debug_mode 3. 0: none
    initial_iteration: int = 0  # number of the first step
    without_effect: tuple[str, ...] = ()  # keys that are set and have no effect
    source: str = ""

    def selects(self) -> Callable[[int], bool]:
        """Return the predicate of the iterations to dump."""
        return iteration_filter(self.iteration)


def load_dump_config(path: str | Path, environment: Mapping[str, str] = os.environ) -> DumpConfig:
    """Return the dump configuration in a file. Raises ConfigError, and OSError if the file is unreadable."""
    return _load(path, lambda content, text: parse_dump_config(content, environment, text))


def parse_dump_config(
    content: object, environment: Mapping[str, str] = os.environ, source: str = ""
) -> DumpConfig:
    """Return the configuration in an object with ``common_dump_settings`` and ``e2e_dump_settings``.
    Raises ConfigError with the key, its value and the allowed values. The object may hold the keys of both
    sections itself."""
    settings = _dump_settings(content)
    debug: Any = _choice("op_debug_mode", settings.get("op_debug_mode", 0), (0, 1, 2, 3, 4))
    debug = 3 if debug in (1, 2) else debug  # overflows of AiCore or Atomic operators only
    mode = _choice("dump_mode", settings.get("dump_mode", 0), (0, 1, 2))
    if mode == 2 and not debug:
        raise ConfigError("dump_mode 2 takes operators marked by set_dump, which only Ascend has: use 0 or 1")
    overflows = _count(settings, "overflow_number")
    if overflows and debug != 3:
        raise ConfigError("overflow_number only has a meaning with op_debug_mode 3")
    both = _choice("input_output", settings.get("input_output", 0), (0, 1, 2))
    return DumpConfig(
        path=_path(settings, environment),
        net_name=_net_name(settings),
        iteration="all" if debug == 4 else _iteration(settings),
        dump_mode=0 if debug else mode,
        kernels=_names("kernels", settings.get("kernels", [])),
        input_output=0 if debug == 3 else both,
        saved_data=_choice("saved_data", settings.get("saved_data", "tensor"), _SAVED),
        statistic_category=_categories(settings),
        op_debug_mode=debug,
        overflow_number=overflows,
        initial_iteration=_count(settings, "initial_iteration"),
        without_effect=tuple(_unused(settings)),
        source=source or json.dumps(content, indent=2),
    )


def _dump_settings(content: object) -> dict[str, Any]:
    """Return the keys of all sections of a dump configuration in one dict. Before MindSpore 1.2 the only
    section was ``DumpSettings``."""
    whole = _object(content)
    names = ("common_dump_settings", "e2e_dump_settings", "async_dump_settings", "DumpSettings")
    sections = [whole.get(name, {}) for name in names]
    settings: dict[str, Any] = {}
    for section in sections if any(sections) else [whole]:
        settings |= _object(section, "a section of the configuration")
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
        text = "|".join(filter(None, text.split("|")))  # MindSpore ignores empty items, too
    try:
        iteration_filter(text)
    except ValueError as error:
        raise ConfigError(f"iteration: {error}") from error
    return text


def _categories(settings: Mapping[str, Any]) -> tuple[str, ...]:
    categories = _names("statistic_category", settings.get("statistic_category", list(_STATISTICS)))
    names = tuple(dict.fromkeys(_HASHES.get(name, name) for name in categories))
    if wrong := [name for name in names if name not in COLUMNS]:
        raise ConfigError(f"statistic_category holds {wrong[0]!r}; allowed are {', '.join(COLUMNS)}")
    return names


def _count(settings: Mapping[str, Any], key: str) -> int:
    value = settings.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ConfigError(f"{key} is a number from 0 on, got {value!r}")
    return value


def _unused(settings: Mapping[str, Any]) -> list[str]:
    """Return the keys without effect: unknown keys, and keys of accelerators that are not set to the
    default."""
    known = {field.name for field in fields(DumpConfig)} - {"without_effect", "source"}
    names = [key for key in settings if key not in known | _WITHOUT_EFFECT.keys()]
    for key, neutral in _WITHOUT_EFFECT.items():
        if neutral is not None and key in settings and settings[key] != neutral:
            names.append(key)
    return names


_REGEX: Final = re.compile(r"name-regex\((.*)\)", re.DOTALL)


class KernelFilter:
    """Predicate of operator names, by MindSpore's rules.

    An entry is ``name-regex(RE)``, which matches a whole full name, or a full name, recognized by ``/`` or
    ``-op``, or an operator type, searched in the last part of a name regardless of case. No entries select
    all operators. Raises ValueError for an invalid regular expression.
    """

    def __init__(self, kernels: Iterable[str]) -> None:
        entries = [re.sub(r"[ \"]", "", kernel) for kernel in kernels]
        self._unmatched = dict.fromkeys(filter(None, entries))
        matches = {entry: _REGEX.fullmatch(entry) for entry in self._unmatched}
        self._expressions = {entry: _compiled(entry, match[1]) for entry, match in matches.items() if match}
        self._all = not self._unmatched
        self._entries = tuple(self._unmatched)
        self._answers: dict[str, bool] = {}

    @property
    def unmatched(self) -> tuple[str, ...]:
        """Return the entries that have matched no operator so far, () without entries."""
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


def _compiled(entry: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"kernels: {entry!r} is not a valid regular expression: {error}") from error


Task: TypeAlias = Literal["statistics", "tensor", "overflow_check", "structure"]
Level: TypeAlias = Literal["L0", "L1", "L2", "mix"]
Summary: TypeAlias = Literal["statistics", "md5"]

_TASKS: Final = ("statistics", "tensor", "overflow_check", "structure")
_LEVELS: Final = ("L0", "L1", "L2", "mix")
_SUMMARIES: Final = ("statistics", "md5")
_DATA_MODES: Final = ("all", "forward", "backward", "input", "output")
_DIRECTIONS: Final = frozenset({"forward", "backward"})
_SIDES: Final = frozenset({"input", "output"})
_SECTION: Final = ("scope", "list", "data_mode", "summary_mode")  # keys of a task's section
_COMMON: Final = ("task", "dump_path", "rank", "step", "level", "extra_info")
_IGNORED: Final = (  # options of accelerators, and of analyses that msprobe runs afterwards
    "async_dump",
    "check_mode",
    "error_data_path",
    "file_format",
    "overflow_nums",
    "precision",
    "risk_level",
)
_LONGEST_RANGE: Final = 1_000_000  # ranks or steps: the numbers of a range are held in a set
_API_NAME: Final = re.compile(r"[A-Za-z]+\..+\.\d+\.(forward|backward)")
_MODULE_NAME: Final = re.compile(r"(Module|Cell)\..+\.(forward|backward)\.\d+")


@dataclass(frozen=True)
class ProbeConfig:
    """Settings of a precision debugger: directory, kind of data, and the selected calls, ranks and steps.

    Empty ``ranks`` and ``steps`` select all.
    """

    dump_path: Path
    task: Task = "statistics"
    level: Level = "L1"
    ranks: frozenset[int] = frozenset()
    steps: frozenset[int] = frozenset()
    scope: tuple[str, ...] = ()  # names of the first and last entry, or none
    names: tuple[str, ...] = ()  # key ``list``: substrings of names
    directions: frozenset[str] = _DIRECTIONS
    sides: frozenset[str] = _SIDES
    summary_mode: Summary = "statistics"
    extra_info: bool = True  # with stack.json and construct.json
    without_effect: tuple[str, ...] = ()  # keys that are set and have no effect

    @property
    def saves_tensors(self) -> bool:
        """Return True if tensors are written to files."""
        return self.task in ("tensor", "overflow_check")


def load_probe_config(path: str | Path, keys: Mapping[str, object]) -> ProbeConfig:
    """Return msprobe's configuration in a file. ``keys`` override the keys of the file. Raises ConfigError,
    and OSError if the file is unreadable."""
    return _load(path, lambda content, _: parse_probe_config(content, keys))


def parse_probe_config(content: object, keys: Mapping[str, object] | None = None) -> ProbeConfig:
    """Return the configuration in an object with the content of msprobe's file. ``keys`` override its
    keys. Raises ConfigError with the key, its value and the allowed values. Keys of the task's section
    (``"statistics": {"scope": []}``) may also be at the top level."""
    settings = _probe_settings(content, keys or {})
    level = _choice("level", settings.get("level") or "L1", _LEVELS)
    directions, sides = _data_mode(settings)
    extra_info = settings.get("extra_info", True)
    if not isinstance(extra_info, bool):
        raise ConfigError(f"extra_info is true or false, got {extra_info!r}")
    return ProbeConfig(
        dump_path=_dump_path(settings),
        task=_choice("task", settings.get("task") or "statistics", _TASKS),
        level=level,
        ranks=_numbers(settings, "rank"),
        steps=_numbers(settings, "step"),
        scope=_scope(settings, level),
        names=_texts(settings, "list"),
        directions=directions,
        sides=sides,
        summary_mode=_choice("summary_mode", settings.get("summary_mode") or "statistics", _SUMMARIES),
        extra_info=extra_info,
        without_effect=tuple(name for name in _IGNORED if settings.get(name)),
    )


def _probe_settings(content: object, keys: Mapping[str, object]) -> dict[str, Any]:
    """Return the keys of the file, overridden by those of its task's section and by ``keys``."""
    content = _object(content)
    given = {key: value for key, value in keys.items() if value is not None}
    task = given.get("task", content.get("task", "statistics"))
    section = content.get(task, {}) if isinstance(task, str) else {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"{task} is a section with {', '.join(_SECTION)}, got {section!r}")
    common = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    settings = {**common, **section, **given}
    allowed = (*_COMMON, *_SECTION, *_IGNORED)
    if unknown := [key for key in settings if key not in allowed]:
        raise ConfigError(f"{unknown[0]!r} is not a key; allowed are {', '.join((*_COMMON, *_SECTION))}")
    return settings


def _dump_path(settings: Mapping[str, Any]) -> Path:
    value = settings.get("dump_path", "")
    if not isinstance(value, (str, Path)):
        raise ConfigError(f"dump_path is the path of a directory, got {value!r}")
    if not str(value):
        raise ConfigError("dump_path is not set: it is the directory that the dump is written to")
    path = Path(value).absolute()
    if path.exists() and not path.is_dir():
        raise ConfigError(f"dump_path is the path of a directory, and {value} is a file")
    return path


def _numbers(settings: Mapping[str, Any], key: str) -> frozenset[int]:
    """Return the numbers of a list such as ``[0, "5-8"]``, or of a single item."""
    value = settings.get(key)
    items = [] if value is None else value
    if isinstance(items, (int, str)):
        items = [items]
    if not isinstance(items, Sequence):
        raise ConfigError(f'{key} is a list of numbers and ranges such as [0, "5-8"], got {value!r}')
    numbers: set[int] = set()
    for item in items:
        first, last = _range(key, item)
        numbers.update(range(first, last + 1))
    return frozenset(numbers)


def _range(key: str, item: object) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", str(item), re.ASCII)
    if isinstance(item, bool) or not isinstance(item, (int, str)) or match is None:
        raise ConfigError(f'{key} holds numbers from 0 on and ranges such as "5-8", got {item!r}')
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first or last - first > _LONGEST_RANGE:
        raise ConfigError(f"{key}: {item!r} is not a range of at most a million numbers")
    return first, last


def _texts(settings: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = settings.get(key)
    names = _names(key, [] if value is None else value)
    if "" in names:
        raise ConfigError(f"{key} is a list of names, and holds ''")
    return names


def _scope(settings: Mapping[str, Any], level: Level) -> tuple[str, ...]:
    names = _texts(settings, "scope")
    if names and len(names) != 2:
        raise ConfigError(f"scope is the names of the first and the last entry, got {list(names)!r}")
    forms = {"L0": [_MODULE_NAME], "mix": [_API_NAME, _MODULE_NAME]}.get(level, [_API_NAME])
    for name in names:
        if not any(form.fullmatch(name) for form in forms):
            example = "Module.fc1.Linear.forward.0" if level == "L0" else "Functional.linear.0.forward"
            raise ConfigError(f"scope holds {name!r}; with level {level} a name is such as {example}")
    return names


def _data_mode(settings: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the selected directions (forward, backward) and sides (input, output) of entries. Without a
    direction, or without a side, all of them are selected."""
    value = settings.get("data_mode")
    modes = set(_texts({"data_mode": [value] if isinstance(value, str) else value}, "data_mode"))
    if wrong := sorted(modes - set(_DATA_MODES)):
        raise ConfigError(f"data_mode holds {wrong[0]!r}; allowed are {', '.join(_DATA_MODES)}")
    if "all" in modes or not modes:
        return _DIRECTIONS, _SIDES
    return frozenset(modes & _DIRECTIONS) or _DIRECTIONS, frozenset(modes & _SIDES) or _SIDES


_MODULES: Final = ("Module.", "Cell.")


class Selection:
    """Filter of entries by name, called with names in the order of execution.

    ``scope`` is the first and the last entry to record. For modules it extends from the beginning of the
    first to the end of the last. An entry must contain one of ``names``. With level mix, entries inside a
    module that contains one are recorded, too.
    """

    def __init__(self, scope: Sequence[str] = (), names: Sequence[str] = (), level: str = "L1") -> None:
        self._scope = tuple(scope)
        self._names = tuple(names)
        self._nested = level == "mix"
        self._in_scope = False
        self._open: set[str] = set()  # running modules that contain one of ``names``

    def begin(self, module: str) -> None:
        """Note that the forward or backward pass of a module begins. ``module`` is the name of its entry."""
        if self._scope and module == self._scope[0]:
            self._in_scope = True
        if self._nested and any(name in module for name in self._names):
            self._open.add(module)

    def end(self, module: str) -> None:
        """Note that the forward or backward pass of a module ends."""
        if self._scope and module == self._scope[1]:
            self._in_scope = False
        self._open.discard(module)

    def __call__(self, entry: str) -> bool:
        """Return True if an entry is to be recorded. The first and last call of the scope open and close
        it."""
        is_call = not entry.startswith(_MODULES)
        if is_call and self._scope and entry == self._scope[0]:
            self._in_scope = True
        selected = (not self._scope or self._in_scope) and self._fits(entry)
        if is_call and self._scope and entry == self._scope[1]:
            self._in_scope = False
        return selected

    def _fits(self, entry: str) -> bool:
        return not self._names or bool(self._open) or any(name in entry for name in self._names)
