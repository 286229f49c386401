"""YAML reader that keeps line and key of every value, so that an error can name them.

Scalars are read as people mean them: ``1e-5`` is a number, which YAML 1.1 takes for text, and ``on`` is text,
which YAML 1.1 takes for true. Numbers, ``true``, ``false`` and ``null`` are what they look like, anything
quoted is text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from mindinsight.server.errors import BadSettings

Scalar = None | bool | int | float | str
_WORDS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None, "~": None, "": None}
_DEEPEST: Final = 20  # levels of a file
SIZE: Final = 1 << 20  # characters of a file; PyYAML composes a megabyte in some seconds
_MOST_NODES: Final = 20_000  # values with those that aliases repeat; a tuning file has some dozens


class ConfigError(BadSettings):
    """A tuning file that cannot be used; the text names line, key and what is allowed."""


@dataclass(frozen=True)
class Node:
    """A value of the file with where it stands."""

    data: Scalar | Sequence[Node] | Mapping[str, Node]
    line: int  # from 1
    key: str  # "parameters.lr.bounds"; empty for the whole file

    def fail(self, message: str) -> NoReturn:
        raise ConfigError(f"line {self.line}: {self.key or 'the file'}: {message}")

    def mapping(self, *allowed: str) -> Mapping[str, Node]:
        """The entries of a mapping, of which only ``allowed`` are known; without any, all."""
        if not isinstance(self.data, Mapping):
            hint = "; YAML needs a space after the colon" if _is_glued(self.data) else ""
            self.fail(f"must be a mapping of keys to values, got {shown(self.data)}{hint}.")
        for name, entry in self.data.items():
            if allowed and name not in allowed:
                entry.fail(f"is not known; allowed are {', '.join(allowed)}.")
        return self.data

    def items(self) -> Sequence[Node]:
        """The entries of a list."""
        if not isinstance(self.data, Sequence) or isinstance(self.data, str):
            self.fail(f"must be a list, such as [1, 2], got {shown(self.data)}.")
        return self.data

    def text(self, *allowed: str) -> str:
        """A text, one of ``allowed`` when there are any."""
        if allowed and self.data not in allowed:
            self.fail(f"must be one of {', '.join(allowed)}, got {shown(self.data)}.")
        if not isinstance(self.data, str) or not self.data:
            self.fail(f"must be a text, got {shown(self.data)}.")
        return self.data

    def number(self) -> int | float:
        """A finite number."""
        if not is_number(self.data) or not math.isfinite(self.data):  # type: ignore[arg-type]
            self.fail(f"must be a number, got {shown(self.data)}.")
        return self.data  # type: ignore[return-value]

    def whole(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        if not isinstance(self.data, int) or isinstance(self.data, bool) or not low <= self.data <= high:
            self.fail(f"must be a whole number from {low} to {high}, got {shown(self.data)}.")
        return self.data

    def truth(self) -> bool:
        if not isinstance(self.data, bool):
            self.fail(f"must be true or false, got {shown(self.data)}.")
        return self.data

    def scalar(self) -> bool | int | float | str:
        """A number, a text, true or false."""
        if not isinstance(self.data, (bool, int, float, str)):
            self.fail(f"must be a number or a text, got {shown(self.data)}.")
        return self.data


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(data: object) -> str:
    """A value as an error shows it."""
    if isinstance(data, Mapping):
        return "a mapping"
    if isinstance(data, Sequence) and not isinstance(data, str):
        return "a list"
    return "nothing" if data is None else repr(data)


def read_yaml(text: str) -> tuple[Node, tuple[str, ...]]:
    """The content of a file, and a warning for each key that stands twice: the last one counts.

    Raises ConfigError where the text is not YAML, BadSettings when PyYAML is not installed.
    """
    try:
        import yaml  # of the extra, as Optuna is; a server without it has this module, too
    except ModuleNotFoundError as error:
        raise BadSettings(f"Tuning needs {error.name}: pip install 'mindinsight[tune]'.") from error
    _check_size(text)
    try:
        _check_events(yaml, text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"line {mark.line + 1}: " if mark is not None else ""
        raise ConfigError(f"{line}this is not YAML: {error.problem or error}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"this is not YAML: {error}.") from error
    if root is None:
        raise ConfigError("the file is empty.")
    reading = _Reading()
    return reading.node(root, "", 0), tuple(reading.warnings)


def _check_size(text: str) -> None:
    if len(text) > SIZE:
        raise ConfigError(f"the file has {len(text):,} characters; at most {SIZE:,} are read.")


def _check_events(yaml: Any, text: str) -> None:
    """Raise ConfigError for a file of too many levels, before PyYAML descends into it."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ConfigError(f"line {event.start_mark.line + 1}: there are more than {_DEEPEST} levels.")


class _Reading:
    """Conversion of PyYAML's nodes, which counts them: an alias stands for all that it repeats."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._count = 0

    def node(self, node: Any, key: str, depth: int) -> Node:
        import yaml

        line = node.start_mark.line + 1
        self._count += 1
        if self._count > _MOST_NODES:
            raise ConfigError(f"line {line}: {key}: there are more than {_MOST_NODES:,} values.")
        if depth > _DEEPEST:
            raise ConfigError(f"line {line}: {key}: there are more than {_DEEPEST} levels.")
        if isinstance(node, yaml.ScalarNode):
            return Node(_scalar(node.value, quoted=node.style in ("'", '"', "|", ">")), line, key)
        if isinstance(node, yaml.SequenceNode):
            entries = [self.node(entry, f"{key}[{i}]", depth + 1) for i, entry in enumerate(node.value)]
            return Node(entries, line, key)
        return Node(self._mapping(node, key, depth), line, key)

    def _mapping(self, node: Any, key: str, depth: int) -> dict[str, Node]:
        content: dict[str, Node] = {}
        for name_node, value_node in node.value:
            if not isinstance(name_node.value, str):
                raise ConfigError(f"line {name_node.start_mark.line + 1}: {key}: a key must be a text.")
            name = name_node.value
            inner = f"{key}.{name}" if key else name
            if name in content:
                first, last = content[name].line, name_node.start_mark.line + 1
                self.warnings.append(
                    f"line {last}: {inner} stands in line {first}, too; the last one counts."
                )
            entry = self.node(value_node, inner, depth + 1)
            content[name] = Node(entry.data, name_node.start_mark.line + 1, inner)
        return content


def _scalar(text: str, quoted: bool) -> Scalar:
    if quoted:
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _is_glued(data: object) -> bool:
    """Whether ``name:loss`` was written, which YAML takes for one text."""
    return isinstance(data, str) and ":" in data and ": " not in data
