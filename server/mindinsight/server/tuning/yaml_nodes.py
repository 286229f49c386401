"""YAML reader that keeps line and key of every value, so that an error can name them.

Scalars differ from YAML 1.1: `1e-5` is a number and `on` is text. Numbers, `true`, `false` and `null` are
read by their value, anything quoted is text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from mindinsight.server.errors import BadSettings, bad_settings
from mindinsight.server.texts import terminal_text

Scalar = None | bool | int | float | str
_WORDS: Final[Mapping[str, bool | None]] = {"true": True, "false": False, "null": None, "~": None, "": None}
_MOST_LEVELS: Final = 20  # of nesting; a tuning file has 4, and PyYAML recurses for each level
SIZE: Final = 1 << 20  # characters of a file; PyYAML takes some seconds to compose a megabyte
_MOST_NODES: Final = 20_000  # values, repeated by aliases included; a tuning file has some dozens


class ConfigError(BadSettings):
    """Error in a tuning file. The text names line, key and the allowed values."""


@dataclass(frozen=True)
class Node:
    """Value in a YAML file, with its line and key."""

    data: Scalar | Sequence[Node] | Mapping[str, Node]
    line: int  # from 1
    key: str  # "parameters.lr.bounds"; empty for the whole file

    def fail(self, name: str, /, **words: object) -> NoReturn:
        """Raise ConfigError with line, key and the text `cli.tuning.<name>`. `got` among the words is the
        value of this node, unless another one is given."""
        why = text_of(name, **{"got": shown(self.data), **words})
        raise config_error("at", line=self.line, key=self.key or text_of("file"), why=why)

    def mapping(self, *allowed: str) -> Mapping[str, Node]:
        """Return the entries of a mapping. Raises ConfigError for another value, and for keys other than
        `allowed`, if any are given."""
        if not isinstance(self.data, Mapping):
            self.fail("no_mapping_but_colon" if _lacks_space(self.data) else "no_mapping")
        for name, entry in self.data.items():
            if allowed and name not in allowed:
                entry.fail("unknown_key", names=", ".join(allowed))
        return self.data

    def items(self) -> Sequence[Node]:
        """Return the entries of a list. Raises ConfigError for another value."""
        if not isinstance(self.data, Sequence) or isinstance(self.data, str):
            self.fail("no_list")
        return self.data

    def text(self, *allowed: str) -> str:
        """Return a non-empty text, which must be in `allowed` if any are given. Raises
        ConfigError otherwise."""
        if allowed and self.data not in allowed:
            self.fail("none_of", names=", ".join(allowed))
        if not isinstance(self.data, str) or not self.data:
            self.fail("no_text")
        return self.data

    def number(self) -> int | float:
        """Return a finite number. Raises ConfigError for another value."""
        if not is_number(self.data) or not math.isfinite(self.data):  # type: ignore[arg-type]
            self.fail("no_number")
        return self.data  # type: ignore[return-value]

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`. Raises ConfigError for another value."""
        if not isinstance(self.data, int) or isinstance(self.data, bool) or not low <= self.data <= high:
            self.fail("no_whole_number", low=low, high=high)
        return self.data

    def truth(self) -> bool:
        """Return the node's boolean value. Raises ConfigError for another value."""
        if not isinstance(self.data, bool):
            self.fail("no_boolean")
        return self.data

    def scalar(self) -> bool | int | float | str:
        """Return a number, text, true or false. Raises ConfigError for another value."""
        if not isinstance(self.data, (bool, int, float, str)):
            self.fail("no_scalar")
        return self.data


def is_number(value: object) -> bool:
    """Return True for an int or float that is not a bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(data: object) -> str:
    """Return a value as text for an error message. Containers and None are named by their kind."""
    if isinstance(data, Mapping):
        return text_of("mapping")
    if isinstance(data, Sequence) and not isinstance(data, str):
        return text_of("list")
    return text_of("nothing") if data is None else repr(data)


def text_of(name: str, /, **words: object) -> str:
    """Return the text `cli.tuning.<name>` in the language of the terminal."""
    return terminal_text(f"cli.tuning.{name}", words)


def config_error(name: str, /, **words: object) -> ConfigError:
    """Return the error with the text `cli.tuning.<name>`."""
    return ConfigError(text_of(name, **words))


def read_yaml(text: str) -> tuple[Node, tuple[str, ...]]:
    """Return the root of a YAML text, and a warning for each key that occurs twice (the last one counts).
    Raises ConfigError if the text is empty, too long or not YAML, BadSettings if PyYAML is not installed."""
    try:
        import yaml  # from the extra `tune`, which a server may lack
    except ModuleNotFoundError as error:
        raise bad_settings("tune_package", name=error.name) from error
    if len(text) > SIZE:
        raise config_error("too_long", n=f"{len(text):,}", most=f"{SIZE:,}")
    try:
        _check_events(yaml, text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = text_of("no_yaml", why=error.problem or error)
        at = why if mark is None else text_of("at_line", line=mark.line + 1, why=why)
        raise ConfigError(at) from error
    except yaml.YAMLError as error:
        raise config_error("no_yaml", why=error) from error
    if root is None:
        raise config_error("empty")
    reading = _Reading()
    return reading.node(root, "", 0), tuple(reading.warnings)


def _check_events(yaml: Any, text: str) -> None:
    """Raise ConfigError for too deep nesting, before PyYAML recurses into it."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_LEVELS:
            raise config_error("too_deep", line=event.start_mark.line + 1, most=_MOST_LEVELS)


class _Reading:
    """Converter of PyYAML's nodes. It counts them, because an alias stands for everything it repeats."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._count = 0

    def node(self, node: Any, key: str, depth: int) -> Node:
        """Convert a node and everything in it. Raises ConfigError for too many values or levels."""
        import yaml

        line = node.start_mark.line + 1
        self._count += 1
        if self._count > _MOST_NODES:
            raise config_error("too_many", line=line, key=key, most=f"{_MOST_NODES:,}")
        if depth > _MOST_LEVELS:
            raise config_error("too_deep", line=line, most=_MOST_LEVELS)
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
                raise config_error(
                    "at", line=name_node.start_mark.line + 1, key=key, why=text_of("key_no_text")
                )
            name = name_node.value
            inner = f"{key}.{name}" if key else name
            if name in content:
                first, last = content[name].line, name_node.start_mark.line + 1
                self.warnings.append(text_of("set_twice", line=last, key=inner, first=first))
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


def _lacks_space(data: object) -> bool:
    """Return True for text such as `name:loss`, where YAML needs a space after the colon."""
    return isinstance(data, str) and ":" in data and ": " not in data
