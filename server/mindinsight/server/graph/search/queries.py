"""Parser of search queries: ``type:MatMul shape:*x50257 dtype:float16 attr:strides=2 attention``.

Words are separated by blanks; what is found matches all of them. Asterisks and question marks stand for any
characters in the value of a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import translate
from typing import Final

from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Graph
from mindinsight.server.graph.model.node_details import Output, attribute_summaries, output_of
from mindinsight.server.graph.search.patterns import matcher

FIELDS: Final = ("type", "shape", "dtype", "attr")
_TIMES: Final = re.compile(r"[×,]")
_BRACKETS: Final = re.compile(r"[()\[\]\s\"]")

_Match = Callable[[str], bool]
_Find = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Cases are ignored everywhere."""

    words: tuple[tuple[bool, _Find], ...] = ()  # whether it is looked for in the whole path, and its search
    types: tuple[_Match, ...] = ()
    shapes: tuple[_Match, ...] = ()
    dtypes: tuple[_Match, ...] = ()
    attributes: tuple[tuple[str, _Match], ...] = ()

    @property
    def has_fields(self) -> bool:
        """Whether the values of nodes are looked at, and not only names."""
        return bool(self.types or self.shapes or self.dtypes or self.attributes)

    def rank(self, path: str) -> int:
        """0 if the name of a path begins with the words, 1 if it contains them all, -1 if it does not.

        Words with a slash are looked for in the whole path.
        """
        name = path.rpartition("/")[2]
        starts = [find(path if whole else name) for whole, find in self.words]
        return -1 if any(start < 0 for start in starts) else int(not starts or starts[0] > 0)

    def matches_node(self, graph: Graph, node: int) -> bool:
        """Whether type, output and attributes of a node match; any of its outputs."""
        if not all(match(graph.types[node]) for match in self.types):
            return False
        if self.shapes or self.dtypes:
            output = output_of(graph, node)
            if not _matches_output(self, output):
                return False
        return not self.attributes or self._matches_attributes(graph, node)

    def _matches_attributes(self, graph: Graph, node: int) -> bool:
        if graph.kinds[node] not in (OPERATOR, CONSTANT):
            return False
        values = {name.lower(): value for name, value in attribute_summaries(graph, node)}
        return all(
            name in values and any(match(value) for value in _forms(values[name]))
            for name, match in self.attributes
        )


def parse_query(text: str) -> Query:
    """Parse a query; a word before a colon that names no field is part of a name."""
    words: list[tuple[bool, _Find]] = []
    fields: dict[str, list[_Match]] = {name: [] for name in FIELDS}
    attributes: list[tuple[str, _Match]] = []
    for word in text.split():
        name, colon, value = word.partition(":")
        field = name.lower()
        if not colon or not value or field not in FIELDS:
            words.append(("/" in word, matcher(word, False)))
        elif field == "attr":
            attribute, equals, wanted = value.partition("=")
            attributes.append((attribute.lower(), glob(wanted if equals else "*")))
        else:
            fields[field].append(glob(_TIMES.sub("x", value) if field == "shape" else value))
    return Query(
        tuple(words), tuple(fields["type"]), tuple(fields["shape"]), tuple(fields["dtype"]), tuple(attributes)
    )


def glob(pattern: str) -> _Match:
    """Predicate of texts that match a pattern with asterisks as a whole; adjacent asterisks count once."""
    compiled = re.compile(translate(re.sub(r"\*+", "*", pattern).replace("[", "[[]")), re.IGNORECASE)
    return lambda text: compiled.match(text) is not None


def _matches_output(query: Query, output: Output) -> bool:
    shapes = ["x".join("?" if size < 0 else str(size) for size in shape) for shape in output.shapes]
    elements = [word for word in re.split(r"[^a-z0-9_]+", output.text.lower()) if word and not word.isdigit()]
    return all(any(match(shape) for shape in shapes) for match in query.shapes) and all(
        any(match(element) for element in elements) for match in query.dtypes
    )


def _forms(value: str) -> list[str]:
    """The text of an attribute with and without brackets, and its elements: for ``2,2`` and for ``2``."""
    bare = _BRACKETS.sub("", value)
    return [value, bare, *bare.split(",")]
