"""Folding of large scopes: similar siblings are grouped into one box until a scope can be drawn.

In this order, and only as far as needed:

- numbered sibling scopes of the same structure (``0-Block`` ... ``11-Block``) become ``*-Block[12]``;
- operators of one type in a scope of more than WIDE children become ``Load[16]``, largest first;
- what still has more than MOST children is cut into runs of neighbours, ``Add-op3 … Mul-op9``.

Paths of nodes do not change by folding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.build import Folding, build_tree, walk_places
from mindinsight.server.graph.scopes.tree import GROUP, ROOT, SCOPE, Tree

REPEAT: Final = "repeat_scope"
RUN: Final = "run_scope"
BOXES: Final = (SCOPE, GROUP, REPEAT, RUN)

WIDE: Final = 32
MOST: Final = 60
_RUN: Final = 30
_REPEATS: Final = 4
_MEMBERS: Final = 4
_NUMBER: Final = re.compile(r"\d+")


def foldable_tree(graph: Graph) -> Tree:
    """The tree that our pages show: nameless nodes are kept, parameters and constants have no places."""
    everything = len(graph) + 1
    tree = build_tree(graph, Folding(least=everything, outer=False, nameless=True))
    for step in (_repeats, _types, _runs):
        tree = _insert(tree, step(tree))
        while step is _runs and (more := step(tree)):
            tree = _insert(tree, more)
    return tree


@dataclass(frozen=True, slots=True)
class _Box:
    """Children of one place that are to get a box of their own around them."""

    name: str
    type: str
    members: tuple[int, ...]


def _insert(tree: Tree, boxes: list[_Box]) -> Tree:
    """The tree with the boxes in it."""
    if not boxes:
        return tree
    parents = tree.parents.copy()
    parents[ROOT] = ROOT
    around = [int(parents[box.members[0]]) for box in boxes]
    total = len(parents)
    parents = np.concatenate([parents, np.array(around, dtype=np.int32)])
    for number, box in enumerate(boxes, total):
        parents[list(box.members)] = number
    paths = [*tree.paths, *_paths(tree, boxes, around)]
    types = [*tree.types, *(box.type for box in boxes)]
    places, walk, above, ends = walk_places(parents)
    order = walk.tolist()
    return replace(
        tree,
        paths=tuple(paths[old] for old in order),
        types=tuple(types[old] for old in order),
        nodes=np.append(tree.nodes, np.full(len(boxes), -1, dtype=np.int32))[walk],
        parents=above,
        ends=ends,
        ages=np.append(tree.ages, np.arange(total, total + len(boxes), dtype=np.int32))[walk],
        edges=replace(tree.edges, sources=places[tree.edges.sources], targets=places[tree.edges.targets]),
    )


def _paths(tree: Tree, boxes: list[_Box], around: list[int]) -> Iterable[str]:
    taken = set(tree.paths)
    for number, (box, place) in enumerate(zip(boxes, around, strict=True)):
        scope = tree.paths[place]
        path = f"{scope}/{box.name}" if scope else box.name
        yield f"{path}#{number}" if path in taken else path


def _repeats(tree: Tree) -> list[_Box]:
    """Numbered siblings of the same structure."""
    codes = {kind: code for code, kind in enumerate(dict.fromkeys(tree.types))}
    types = np.array([codes[kind] for kind in tree.types], dtype=np.int32)
    depths = _depths(tree)
    boxes = []
    inner = np.flatnonzero(tree.nodes < 0)[1:]  # all scopes but the top
    wide = np.bincount(tree.parents[inner], minlength=1) >= _REPEATS
    for place in np.flatnonzero(wide).tolist():
        scopes = [child for child in tree.children(place) if tree.nodes[child] < 0]
        alike: dict[tuple[str, bytes, bytes], list[int]] = {}
        for child in scopes:
            inside = slice(child + 1, int(tree.ends[child]))
            below = (depths[inside] - depths[child]).astype(np.uint8)
            pattern = _NUMBER.sub("*", _last(tree.paths[child]))
            alike.setdefault((pattern, types[inside].tobytes(), below.tobytes()), []).append(child)
        boxes += [
            _Box(f"{pattern}[{len(members)}]", REPEAT, tuple(members))
            for (pattern, _, _), members in alike.items()
            if len(members) >= _REPEATS and "*" in pattern
        ]
    return boxes


def _depths(tree: Tree) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Depth of each place in the tree, computed from the subtree ends."""
    change = np.zeros(len(tree.paths) + 1, dtype=np.int32)
    change[1:] += 1  # every place lies one deeper than itself begins
    np.add.at(change, tree.ends, -1)
    return np.cumsum(change[:-1], dtype=np.int32)


def _types(tree: Tree) -> list[_Box]:
    """Operators of one type in wide scopes, the most frequent type first, until the scope is not wide."""
    boxes = []
    for place in np.flatnonzero(tree.counts > WIDE).tolist():
        children = tree.children(place)
        width = len(children)
        types: dict[str, list[int]] = {}
        for child in children:
            if tree.nodes[child] >= 0:
                types.setdefault(tree.types[child], []).append(child)
        for kind, members in sorted(types.items(), key=lambda item: -len(item[1])):
            if width <= WIDE or len(members) < _MEMBERS or len(members) == len(children):
                break
            boxes.append(_Box(f"{kind}[{len(members)}]", GROUP, tuple(members)))
            width -= len(members) - 1
    return boxes


def _runs(tree: Tree) -> list[_Box]:
    """Neighbours in scopes that are still too wide. To be repeated: so many runs may need runs again."""
    boxes = []
    for place in np.flatnonzero(tree.counts > MOST).tolist():
        ordered = in_file_order(tree, tree.children(place))
        for first in range(0, len(ordered), _RUN):
            members = ordered[first : first + _RUN]
            if len(members) > 1:
                names = f"{_last(tree.paths[members[0]])} … {_last(tree.paths[members[-1]])}"
                boxes.append(_Box(names, RUN, tuple(members)))
    return boxes


def in_file_order(tree: Tree, places: Iterable[int]) -> list[int]:
    """The places by the first operator they hold; files list operators in the order in which they can run."""

    def first(place: int) -> int:
        inside = tree.nodes[place : tree.ends[place]]
        return int(inside[inside >= 0].min())

    return sorted(places, key=first)


def _last(path: str) -> str:
    return path.rpartition("/")[2]
