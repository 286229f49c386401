"""Finding nodes by text, pattern and type, and showing them in their scopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from mindinsight.server.graph.model.graph import OPERATOR
from mindinsight.server.graph.scopes.tree import ROOT, Tree
from mindinsight.server.graph.search.patterns import matcher

T = TypeVar("T")


def match_end_of_path(tree: Tree, text: str) -> list[int]:
    """Places whose path holds the text with no slash behind its last occurrence, oldest first.

    MindInsight's rule: searching the name of a scope finds the scope and not all it holds. Case is
    ignored; an empty text and a lone slash find nothing.
    """
    text = text.lower()
    if text in {"", "/"}:
        return []

    def fits(path: str) -> bool:
        at = path.rfind(text)
        return at >= 0 and "/" not in path[at + len(text) :]

    matches = [place for place, path in enumerate(tree.paths) if fits(path.lower())]
    return sorted(matches, key=lambda place: int(tree.ages[place]))


def find(tree: Tree, pattern: str = "", types: Sequence[str] = (), regex: bool = False) -> list[int]:
    """Places of the types asked for whose own name fits, or whose path when the pattern holds a slash.

    Names that begin with the pattern come first, then in the order of the tree. Case is ignored.
    Raises BadPattern.
    """
    search = matcher(pattern, regex)
    whole = "/" in pattern
    wanted = set(types)
    matches = []
    for place in range(ROOT + 1, len(tree.paths)):
        if wanted and tree.types[place] not in wanted:
            continue
        path = tree.paths[place]
        name = path.rpartition("/")[2]
        start = search(path if whole else name)
        if start >= 0:
            matches.append((start != (len(path) - len(name) if whole else 0), place))
    return [place for _, place in sorted(matches)]


def find_outer(tree: Tree, pattern: str, regex: bool = False) -> list[int]:
    """Parameters and constants of the graph whose name fits. Raises BadPattern."""
    search = matcher(pattern, regex)
    nodes = np.flatnonzero(tree.graph.kinds != OPERATOR).tolist()
    return [node for node in nodes if search(tree.graph.names[node]) >= 0]


def nested(tree: Tree, places: Sequence[int], entry: Callable[[int, list[T]], T]) -> list[T]:
    """The places and the scopes around them as a tree of entries; siblings in the order of ``places``."""
    inside: dict[int, list[int]] = {ROOT: []}
    for place in places:
        for scope in [*tree.ancestors(place), place]:
            if scope not in inside:
                inside[scope] = []
                inside[int(tree.parents[scope])].append(scope)

    def build(place: int) -> T:
        return entry(place, [build(scope) for scope in inside[place]])

    return [build(place) for place in inside[ROOT]]


def types_of(tree: Tree) -> dict[str, int]:
    """How many operators there are of each type, most frequent first."""
    nodes = np.unique(tree.nodes[tree.nodes >= 0])
    counts: dict[str, int] = {}
    for node in nodes.tolist():
        kind = tree.graph.types[node]
        counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
