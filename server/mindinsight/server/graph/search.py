"""Search in a graph: by text, regular expression, type and query, and along its edges."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Final, Literal, TypeVar

import numpy as np
import re2

from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Graph, Numbers
from mindinsight.server.graph.model.node_details import Output, attribute_summaries, output_of
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree

_MEMORY: Final = 8 << 20  # limit of the bytes of a compiled expression and its cache


class BadPattern(ValueError):  # noqa: N818
    """Error: RE2 rejects a regular expression. The message has the reason and the position."""


def matcher(pattern: str, regex: bool, ignore_case: bool = True) -> Callable[[str], int]:
    """Compile a pattern to a function that returns the start of its first match or -1, or raise
    BadPattern."""
    flags = re.IGNORECASE if ignore_case else 0
    return _finder(_compile(pattern, ignore_case) if regex else re.compile(re.escape(pattern), flags))


def _finder(searched: Any) -> Callable[[str], int]:
    def find(text: str) -> int:
        match = searched.search(text if text.isascii() else _encodable(text))
        return -1 if match is None else int(match.start())

    return find


def _compile(pattern: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(_encodable(pattern), options)
    except re2.error as error:
        raise BadPattern(_located(pattern, error)) from error


def _located(pattern: str, error: Exception) -> str:
    """Return RE2's reason with the position of the part that it rejects."""
    text = error.args[0] if error.args else ""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    reason, _, part = text.partition(": ")
    at = pattern.find(part) if part else -1
    if part.startswith("(?") and reason == "invalid perl operator":
        reason = "lookaround is not supported"
    if at < 0 or part == pattern:
        return text
    return f"{reason}: {part} at character {at + 1}"


def _encodable(text: str) -> str:
    """Return ``text`` with a question mark for each lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


FIELDS: Final = ("type", "shape", "dtype", "attr")
_TIMES: Final = re.compile(r"[×,]")
_BRACKETS: Final = re.compile(r"[()\[\]\s\"]")

_Match = Callable[[str], bool]
_Find = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Word:
    """Parsed word of a query, as searches in paths and in names. Both searches return the start of the first
    match or -1."""

    in_path: _Find
    in_name: _Find | None  # in the last part of a path, which it is given whole; None for words with a slash


@dataclass(frozen=True, slots=True)
class Query:
    """Parsed query: words in a path, and predicates of a node's type, shapes, element types and attributes.

    Case is ignored.
    """

    words: tuple[Word, ...] = ()
    types: tuple[_Match, ...] = ()
    shapes: tuple[_Match, ...] = ()
    dtypes: tuple[_Match, ...] = ()
    attributes: tuple[tuple[str, _Match], ...] = ()

    @property
    def has_fields(self) -> bool:
        """Return True if the query restricts more than names."""
        return bool(self.types or self.shapes or self.dtypes or self.attributes)

    def rank(self, path: str) -> int:
        """Return 0 if the name of a path begins with a word, 1 if the path matches, otherwise -1. All
        words must be in the path, and one of those without a slash in the name, which is its last part."""
        if any(word.in_path(path) < 0 for word in self.words):
            return -1
        starts = [word.in_name(path) if word.in_name else word.in_path(path) for word in self.words]
        known = [start for start in starts if start >= 0]
        in_name = [
            word for word, start in zip(self.words, starts, strict=True) if word.in_name and start >= 0
        ]
        if not in_name and any(word.in_name for word in self.words):
            return -1
        return int(bool(known) and min(known) > 0)

    def matches_node(self, graph: Graph, node: int) -> bool:
        """Return True if type, attributes and any of the outputs of a node match."""
        if not all(match(graph.types[node]) for match in self.types):
            return False
        if (self.shapes or self.dtypes) and not _matches_output(self, output_of(graph, node)):
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


def parse_query(text: str, regex: bool = False) -> Query:
    """Parse a query. A word before a colon that is not a field is part of a name. Raises BadPattern if it
    is invalid. With `regex` the text is one regular expression."""
    if regex:
        find = matcher(text, regex)
        return Query((Word(find, None) if "/" in text else Word(_in_name(find), _in_name(find)),))
    words: list[Word] = []
    fields: dict[str, list[_Match]] = {name: [] for name in FIELDS}
    attributes: list[tuple[str, _Match]] = []
    every = text.split()
    for word in every:
        name, colon, value = word.partition(":")
        field = name.lower()
        if not colon or not value or field not in FIELDS:
            words.append(_word(word, [other for other in every if other != word]))
        elif field == "attr":
            attribute, equals, wanted = value.partition("=")
            attributes.append((attribute.lower(), glob(wanted if equals else "*")))
        else:
            fields[field].append(glob(_TIMES.sub("x", value) if field == "shape" else value))
    return Query(
        tuple(words), tuple(fields["type"]), tuple(fields["shape"]), tuple(fields["dtype"]), tuple(attributes)
    )


def _word(text: str, others: Sequence[str]) -> Word:
    """Return the parsed word of a query with ``others``. Numbers are searched whole, and `blocks.7.fc1` also
    as the name of a module.

    A module is a scope in graphs, where the class may follow the name: `blocks/7-Block/fc1-Linear`. The
    number that counts operators, 4 in `Add-op4`, is found if it is searched alone, or with its `op`. A number
    is not found within another word: the 1 of `1 fc1` is not that of `fc1`.
    """
    outside = ["-op"] if others else []
    if text.isdecimal():
        outside += [re.escape(other[: -len(text)]) for other in others if re.search(rf"\D{text}$", other)]
    behind = "".join(f"(?<!{part})" for part in outside)
    number = re.compile(rf"(?<!\d){behind}{re.escape(text)}(?!\d)", re.IGNORECASE)
    find = _finder(number) if text.isdecimal() else matcher(text, False)
    parts = text.split("/" if "/" in text else ".")
    if len(parts) == 1 or not all(parts):
        return Word(find, None if "/" in text else _in_name(find))
    module = r"(?:-[^/]*)?/".join(map(re.escape, parts))
    in_path, at_end = (re.compile(rf"(?:^|/){module}{end}", re.IGNORECASE) for end in ("", r"[^/]*$"))

    def find_in_path(path: str) -> int:
        return 0 if in_path.search(path) else find(path)

    if "/" in text:
        return Word(find_in_path, None)
    return Word(find_in_path, lambda path: 0 if at_end.search(path) else _in_name(find)(path))


def _in_name(find: _Find) -> _Find:
    """Return a search in the name at the end of a path."""
    return lambda path: find(path.rpartition("/")[2])


def glob(pattern: str) -> _Match:
    """Return a predicate for texts that match a pattern with asterisks as a whole. Case is ignored."""
    compiled = re.compile(translate(re.sub(r"\*+", "*", pattern).replace("[", "[[]")), re.IGNORECASE)
    return lambda text: compiled.match(text) is not None


def _matches_output(query: Query, output: Output) -> bool:
    shapes = ["x".join("?" if size < 0 else str(size) for size in shape) for shape in output.shapes]
    elements = [word for word in re.split(r"[^a-z0-9_]+", output.text.lower()) if word and not word.isdigit()]
    return all(any(match(shape) for shape in shapes) for match in query.shapes) and all(
        any(match(element) for element in elements) for match in query.dtypes
    )


def _forms(value: str) -> list[str]:
    """Return the text of an attribute with and without brackets, and its elements: ``2,2`` also matches
    ``2``."""
    bare = _BRACKETS.sub("", value)
    return [value, bare, *bare.split(",")]


T = TypeVar("T")


def match_end_of_path(tree: Tree, text: str) -> list[int]:
    """Return the indices of paths that contain the text, with no slash after its last occurrence. This is
    MindInsight's rule: the name of a scope finds the scope and not its contents. Case is ignored. An empty
    text and a lone slash match nothing. Sorted by creation order."""
    text = text.lower()
    if text in {"", "/"}:
        return []

    def matches_end(path: str) -> bool:
        position = path.rfind(text)
        return position >= 0 and "/" not in path[position + len(text) :]

    matches = [index for index, path in enumerate(tree.paths) if matches_end(path.lower())]
    return sorted(matches, key=lambda index: int(tree.creation_order[index]))


def query_nodes(tree: Tree, query: Query, types: Sequence[str] = ()) -> list[int]:
    """Return the indices that match a query and are of one of ``types`` (empty: any). Names that begin
    with a word of the query come first. Scopes are matched only by words."""
    ranked = []
    type_filter = set(types)
    nodes = tree.nodes.tolist()
    for index in range(ROOT + 1, len(tree.paths)):
        if (nodes[index] < 0 and query.has_fields) or (type_filter and tree.types[index] not in type_filter):
            continue
        rank = query.rank(tree.paths[index])
        if rank >= 0 and (nodes[index] < 0 or query.matches_node(tree.graph, nodes[index])):
            ranked.append((rank, index))
    return [index for _, index in sorted(ranked)]


def query_outer(tree: Tree, query: Query) -> list[int]:
    """Return the parameters and constants of the graph that match a query."""
    graph = tree.graph
    nodes = np.flatnonzero(graph.kinds != OPERATOR).tolist()
    return [node for node in nodes if query.rank(graph.names[node]) >= 0 and query.matches_node(graph, node)]


def nest(tree: Tree, indices: Sequence[int], entry: Callable[[int, list[T]], T]) -> list[T]:
    """Return a tree of entries made from indices and their ancestors. Siblings have the order of
    ``indices``."""
    inside: dict[int, list[int]] = {ROOT: []}
    for index in indices:
        for scope in [*tree.ancestors(index), index]:
            if scope not in inside:
                inside[scope] = []
                inside[int(tree.parents[scope])].append(scope)

    def build(index: int) -> T:
        return entry(index, [build(scope) for scope in inside[index]])

    return [build(index) for index in inside[ROOT]]


def count_types(tree: Tree) -> dict[str, int]:
    """Return the number of operators of each type, most frequent first."""
    nodes = np.unique(tree.nodes[tree.nodes >= 0])
    return sorted_counts(tree.graph.types[node] for node in nodes.tolist())


def sorted_counts(types: Iterable[str]) -> dict[str, int]:
    """Return the number of occurrences of each type, most frequent first, then by name."""
    return dict(sorted(Counter(types).items(), key=lambda item: (-item[1], item[0])))


Direction = Literal["up", "down"]


def trace(tree: Tree, index: int, direction: Direction) -> Numbers:
    """Return the leaves that a subtree depends on ("up") or that depend on it ("down"), ascending. The
    leaves of the subtree are included."""
    near_ends, far_ends = tree.edges.targets, tree.edges.sources
    if direction == "down":
        near_ends, far_ends = far_ends, near_ends
    order = np.argsort(near_ends, kind="stable")
    offsets = np.searchsorted(near_ends[order], np.arange(len(tree.paths) + 1)).tolist()
    neighbours = far_ends[order].tolist()
    visited = dict.fromkeys(tree.leaves(index))
    queue = list(visited)
    for leaf in queue:
        for neighbour in neighbours[offsets[leaf] : offsets[leaf + 1]]:
            if neighbour not in visited:
                visited[neighbour] = None
                queue.append(neighbour)
    return np.array(sorted(visited), dtype=np.int32)


def count_by_box(tree: Tree, boxes: Iterable[int], leaves: Numbers) -> dict[int, int]:
    """Return the number of ``leaves`` (ascending) in each box. The root and boxes without any are omitted."""
    counts = {
        box: int(np.searchsorted(leaves, tree.ends[box]) - np.searchsorted(leaves, box)) for box in boxes
    }
    return {box: count for box, count in counts.items() if count and box != ROOT}
