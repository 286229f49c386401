"""Parser of msprobe's configuration, ``config.json``, and its filter of entries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Task: TypeAlias = Literal["statistics", "tensor", "overflow_check", "structure"]
Level: TypeAlias = Literal["L0", "L1", "L2", "mix"]
Summary: TypeAlias = Literal["statistics", "md5"]

TASKS: Final = ("statistics", "tensor", "overflow_check", "structure")
LEVELS: Final = ("L0", "L1", "L2", "mix")
SUMMARIES: Final = ("statistics", "md5")
DATA_MODES: Final = ("all", "forward", "backward", "input", "output")
_DIRECTIONS: Final = frozenset({"forward", "backward"})
_SIDES: Final = frozenset({"input", "output"})
_BLOCK: Final = ("scope", "list", "data_mode", "summary_mode")  # keys of the section that a task has
_COMMON: Final = ("task", "dump_path", "rank", "step", "level", "extra_info")
_WITHOUT_EFFECT: Final = (  # how an accelerator works, and analyses that are not recording
    "async_dump",
    "check_mode",
    "error_data_path",
    "file_format",
    "overflow_nums",
    "precision",
    "risk_level",
)
_LARGEST: Final = 1_000_000_000  # rank or step
_API_NAME: Final = re.compile(r"[A-Za-z]+\..+\.\d+\.(forward|backward)")
_MODULE_NAME: Final = re.compile(r"(Module|Cell)\..+\.(forward|backward)\.\d+")


class ConfigError(ValueError):
    """A key of msprobe's configuration with a value it cannot have."""


@dataclass(frozen=True)
class ProbeConfig:
    """What to record and where. Empty ``ranks`` and ``steps`` select all."""

    dump_path: Path
    task: Task = "statistics"
    level: Level = "L1"
    ranks: frozenset[int] = frozenset()
    steps: frozenset[int] = frozenset()
    scope: tuple[str, ...] = ()  # names of the first and last entry, or none
    names: tuple[str, ...] = ()  # ``list``: parts of names
    directions: frozenset[str] = _DIRECTIONS
    sides: frozenset[str] = _SIDES
    summary_mode: Summary = "statistics"
    extra_info: bool = True  # with stack.json and construct.json
    without_effect: tuple[str, ...] = ()  # keys that were set and mean nothing here

    @property
    def saves_tensors(self) -> bool:
        return self.task in ("tensor", "overflow_check")


def load_config(path: str | Path, keys: Mapping[str, object]) -> ProbeConfig:
    """The configuration in a file; ``keys`` go before its own.

    Raises ConfigError, and OSError where the file cannot be read.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    try:
        return parse_config(content, keys)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_config(content: object, keys: Mapping[str, object] | None = None) -> ProbeConfig:
    """The configuration in an object as msprobe's file has it; ``keys`` go before its own.

    Keys of the task's section (``"statistics": {"scope": []}``) may stand at the top, too. Raises
    ConfigError with the key, its value and what is allowed.
    """
    settings = _settings(content, keys or {})
    task = _choice(settings, "task", TASKS, "statistics")
    level = _choice(settings, "level", LEVELS, "L1")
    directions, sides = _data_mode(settings)
    return ProbeConfig(
        dump_path=_path(settings),
        task=task,
        level=level,
        ranks=_numbers(settings, "rank"),
        steps=_numbers(settings, "step"),
        scope=_scope(settings, level),
        names=_texts(settings, "list"),
        directions=directions,
        sides=sides,
        summary_mode=_choice(settings, "summary_mode", SUMMARIES, "statistics"),
        extra_info=_flag(settings, "extra_info", True),
        without_effect=tuple(name for name in _WITHOUT_EFFECT if settings.get(name)),
    )


def _settings(content: object, keys: Mapping[str, object]) -> dict[str, Any]:
    """Keys of the file, of its task's section and of the caller in one."""
    if not isinstance(content, Mapping):
        raise ConfigError(f"the configuration is a JSON object, got {type(content).__name__}")
    given = {key: value for key, value in keys.items() if value is not None}
    task = given.get("task", content.get("task", "statistics"))
    section = content.get(task, {}) if isinstance(task, str) else {}
    if not isinstance(section, Mapping):
        raise ConfigError(f"{task} is a section with {', '.join(_BLOCK)}, got {section!r}")
    common = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    settings = {**common, **section, **given}
    allowed = (*_COMMON, *_BLOCK, *_WITHOUT_EFFECT)
    if unknown := [key for key in settings if key not in allowed]:
        raise ConfigError(f"{unknown[0]!r} is no key; allowed are {', '.join((*_COMMON, *_BLOCK))}")
    return settings


def _path(settings: Mapping[str, Any]) -> Path:
    value = settings.get("dump_path", "")
    if not isinstance(value, (str, Path)):
        raise ConfigError(f"dump_path is the path of a directory, got {value!r}")
    if not str(value):
        raise ConfigError("dump_path is not set: it is the directory that the dump is written to")
    path = Path(value).absolute()
    if path.exists() and not path.is_dir():
        raise ConfigError(f"dump_path is the path of a directory, and {value} is a file")
    return path


def _choice(settings: Mapping[str, Any], key: str, allowed: Sequence[str], default: str) -> Any:
    value = settings.get(key) or default
    if value not in allowed:
        raise ConfigError(f"{key} is one of {', '.join(allowed)}, got {value!r}")
    return value


def _flag(settings: Mapping[str, Any], key: str, default: bool) -> bool:
    value = settings.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{key} is true or false, got {value!r}")
    return value


def _numbers(settings: Mapping[str, Any], key: str) -> frozenset[int]:
    """Numbers of a list such as ``[0, "5-8"]``; a single number stands for itself."""
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
    if last < first or last - first > _LARGEST // 1000:
        raise ConfigError(f"{key} holds the range {item!r}, which is no range of at most a million numbers")
    return first, last


def _texts(settings: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = settings.get(key)
    items = [] if value is None else value
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise ConfigError(f"{key} is a list of names, got {value!r}")
    if wrong := [item for item in items if not isinstance(item, str) or not item]:
        raise ConfigError(f"{key} is a list of names, and holds {wrong[0]!r}")
    return tuple(items)


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
    """Directions and sides; where only one kind is given, all of the other are meant."""
    value = settings.get("data_mode")
    modes = set(_texts({"data_mode": [value] if isinstance(value, str) else value}, "data_mode"))
    if wrong := sorted(modes - set(DATA_MODES)):
        raise ConfigError(f"data_mode holds {wrong[0]!r}; allowed are {', '.join(DATA_MODES)}")
    if "all" in modes or not modes:
        return _DIRECTIONS, _SIDES
    return frozenset(modes & _DIRECTIONS) or _DIRECTIONS, frozenset(modes & _SIDES) or _SIDES


_MODULES: Final = ("Module.", "Cell.")


class Selection:
    """Filter of entries by name, fed with names in the order of execution.

    ``scope`` is the first and the last entry to record: for modules, from the beginning of the first to the
    end of the last. ``names`` are parts of names, one of which an entry has to have; with level mix an entry
    that lies in such a module is recorded, too.
    """

    def __init__(self, scope: Sequence[str] = (), names: Sequence[str] = (), level: str = "L1") -> None:
        self._scope = tuple(scope)
        self._names = tuple(names)
        self._nested = level == "mix"
        self._in_scope = False
        self._open: set[str] = set()  # modules that ``names`` fit and that have not ended

    def begin(self, module: str) -> None:
        """Note that a module begins, forward or backward."""
        if self._scope and module == self._scope[0]:
            self._in_scope = True
        if self._nested and any(name in module for name in self._names):
            self._open.add(module)

    def end(self, module: str) -> None:
        """Note that a module has ended."""
        if self._scope and module == self._scope[1]:
            self._in_scope = False
        self._open.discard(module)

    def __call__(self, entry: str) -> bool:
        """Whether an entry is recorded. Of a call, the first question is the one that opens the scope."""
        is_call = not entry.startswith(_MODULES)
        if is_call and self._scope and entry == self._scope[0]:
            self._in_scope = True
        selected = (not self._scope or self._in_scope) and self._fits(entry)
        if is_call and self._scope and entry == self._scope[1]:
            self._in_scope = False
        return selected

    def _fits(self, entry: str) -> bool:
        return not self._names or bool(self._open) or any(name in entry for name in self._names)
