"""Node search by text, regular expression and type; matches nested in their scopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from mindinsight.server.graph.model.graph import OPERATOR
from mindinsight.server.graph.scopes.tree import ROOT, Tree
from mindinsight.server.graph.search.patterns import matcher
from mindinsight.server.graph.search.queries import Query

T = TypeVar("T")


def match_end_of_path(tree: Tree, text: str) -> list[int]:
    """Indices whose path contains the text, with no slash after its last occurrence; in creation order.

    MindInsight's rule: searching for the name of a scope finds the scope and not its contents. Case is
    ignored; an empty text and a lone slash match nothing.
    """
    text = text.lower()
    if text in {"", "/"}:
        return []

    def matches_end(path: str) -> bool:
        position = path.rfind(text)
        return position >= 0 and "/" not in path[position + len(text) :]

    matches = [index for index, path in enumerate(tree.paths) if matches_end(path.lower())]
    return sorted(matches, key=lambda index: int(tree.creation_order[index]))


def find_nodes(tree: Tree, pattern: str = "", types: Sequence[str] = (), regex: bool = False) -> list[int]:
    """Indices of the given types whose name matches, or whose path if the pattern contains a slash.

    Names that begin with the pattern come first, then ascending. Case is ignored. Raises BadPattern.
    """
    search = matcher(pattern, regex)
    match_path = "/" in pattern
    type_filter = set(types)
    matches = []
    for index in range(ROOT + 1, len(tree.paths)):
        if type_filter and tree.types[index] not in type_filter:
            continue
        path = tree.paths[index]
        name = path.rpartition("/")[2]
        start = search(path if match_path else name)
        if start >= 0:
            matches.append((start != (len(path) - len(name) if match_path else 0), index))
    return [index for _, index in sorted(matches)]


def query_nodes(tree: Tree, query: Query, types: Sequence[str] = ()) -> list[int]:
    """Indices of the given types that match a query: names that begin with its first word come first.

    Scopes are found by words alone.
    """
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
    """Parameters and constants of the graph that match a query."""
    graph = tree.graph
    nodes = np.flatnonzero(graph.kinds != OPERATOR).tolist()
    return [node for node in nodes if query.rank(graph.names[node]) >= 0 and query.matches_node(graph, node)]


def find_outer(tree: Tree, pattern: str, regex: bool = False) -> list[int]:
    """Parameters and constants of the graph whose name matches. Raises BadPattern."""
    search = matcher(pattern, regex)
    nodes = np.flatnonzero(tree.graph.kinds != OPERATOR).tolist()
    return [node for node in nodes if search(tree.graph.names[node]) >= 0]


def nest(tree: Tree, indices: Sequence[int], entry: Callable[[int, list[T]], T]) -> list[T]:
    """Build a tree of entries from indices and their ancestors; siblings in the order of ``indices``."""
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
    """Number of operators of each type, most frequent first."""
    nodes = np.unique(tree.nodes[tree.nodes >= 0])
    counts: dict[str, int] = {}
    for node in nodes.tolist():
        kind = tree.graph.types[node]
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
