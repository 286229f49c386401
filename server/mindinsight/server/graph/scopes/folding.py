"""Folding of wide scopes: similar siblings are wrapped in boxes until every scope can be drawn.

In this order, and only as far as needed:

- numbered sibling scopes of the same structure (``0-Block`` ... ``11-Block``) become ``*-Block[12]``: the
  first stands for all, and the others are in one box, ``*-Block[+11]``;
- operators of one type in a scope of more than WIDE children become ``Load[16]``, largest first;
- scopes that still have more than MOST children are split into runs of neighbours, ``Add-op3 … Mul-op9``.

Folding does not change the paths of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.build import Folding, build_tree, number_preorder
from mindinsight.server.graph.scopes.signatures import number_pattern, signatures_of
from mindinsight.server.graph.scopes.tree import GROUP, ROOT, SCOPE, Tree

REPEAT: Final = "repeat_scope"
REST: Final = "rest_scope"
RUN: Final = "run_scope"
BOXES: Final = (SCOPE, GROUP, REPEAT, REST, RUN)

WIDE: Final = 32
MOST: Final = 60
_RUN: Final = 30
_REPEATS: Final = 4
_MEMBERS: Final = 4


def folded_tree(graph: Graph) -> Tree:
    """Build the tree that the pages draw: with nameless nodes, without parameters and constants."""
    everything = len(graph) + 1
    tree = build_tree(graph, Folding(least=everything, outer=False, nameless=True))
    for step in (_repeats, _rests, _types, _runs):
        tree = _wrap(tree, step(tree))
        while step is _runs and (more := step(tree)):
            tree = _wrap(tree, more)
    return tree


@dataclass(frozen=True, slots=True)
class _Box:
    """Siblings that are to be wrapped in a new scope."""

    name: str
    type: str
    members: tuple[int, ...]


def _wrap(tree: Tree, boxes: list[_Box]) -> Tree:
    """A copy of the tree with the boxes inserted."""
    if not boxes:
        return tree
    parents = tree.parents.copy()
    parents[ROOT] = ROOT
    box_parents = [int(parents[box.members[0]]) for box in boxes]
    total = len(parents)
    parents = np.concatenate([parents, np.array(box_parents, dtype=np.int32)])
    for number, box in enumerate(boxes, total):
        parents[list(box.members)] = number
    paths = [*tree.paths, *_paths(tree, boxes, box_parents)]
    types = [*tree.types, *(box.type for box in boxes)]
    indices, walk, new_parents, ends = number_preorder(parents)
    order = walk.tolist()
    return replace(
        tree,
        paths=tuple(paths[entry] for entry in order),
        types=tuple(types[entry] for entry in order),
        nodes=np.append(tree.nodes, np.full(len(boxes), -1, dtype=np.int32))[walk],
        parents=new_parents,
        ends=ends,
        creation_order=np.append(tree.creation_order, np.arange(total, total + len(boxes), dtype=np.int32))[
            walk
        ],
        edges=replace(tree.edges, sources=indices[tree.edges.sources], targets=indices[tree.edges.targets]),
    )


def _paths(tree: Tree, boxes: list[_Box], box_parents: list[int]) -> Iterable[str]:
    taken = set(tree.paths)
    for number, (box, index) in enumerate(zip(boxes, box_parents, strict=True)):
        scope = tree.paths[index]
        path = f"{scope}/{box.name}" if scope else box.name
        yield f"{path}#{number}" if path in taken else path


def _repeats(tree: Tree) -> list[_Box]:
    """Boxes around numbered sibling scopes of the same structure."""
    boxes = []
    signatures = signatures_of(tree)
    inner = np.flatnonzero(tree.nodes < 0)[1:]  # all scopes but the top
    wide = np.bincount(tree.parents[inner], minlength=1) >= _REPEATS
    for index in np.flatnonzero(wide).tolist():
        similar: dict[tuple[str, int], list[int]] = {}
        for child in tree.children(index):
            if tree.nodes[child] < 0:
                pattern = number_pattern(tree.paths[child])
                similar.setdefault((pattern, signatures[child]), []).append(child)
        boxes += [
            _Box(f"{pattern}[{len(members)}]", REPEAT, tuple(members))
            for (pattern, _), members in similar.items()
            if len(members) >= _REPEATS and "*" in pattern
        ]
    return boxes


def _rests(tree: Tree) -> list[_Box]:
    """Boxes around all repeated layers but the first, which stands for them."""
    boxes = []
    for index in (index for index, kind in enumerate(tree.types) if kind == REPEAT):
        members = in_file_order(tree, tree.children(index))[1:]
        name = _name(tree.paths[index]).rpartition("[")[0]
        boxes.append(_Box(f"{name}[+{len(members)}]", REST, tuple(sorted(members))))
    return boxes


def _types(tree: Tree) -> list[_Box]:
    """Boxes around operators of one type in wide scopes, most frequent type first, until none is wide."""
    boxes = []
    for index in np.flatnonzero(tree.counts > WIDE).tolist():
        children = tree.children(index)
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
    """Boxes around runs of neighbours in scopes that are still too wide.

    To be repeated until nothing is returned: the runs themselves may be too many.
    """
    boxes = []
    for index in np.flatnonzero(tree.counts > MOST).tolist():
        ordered = in_file_order(tree, tree.children(index))
        for first in range(0, len(ordered), _RUN):
            members = ordered[first : first + _RUN]
            if len(members) > 1:
                names = f"{_name(tree.paths[members[0]])} … {_name(tree.paths[members[-1]])}"
                boxes.append(_Box(names, RUN, tuple(members)))
    return boxes


def in_file_order(tree: Tree, indices: Iterable[int]) -> list[int]:
    """Sort indices by the first operator in each subtree; files list operators in a possible run order."""

    def first_node(index: int) -> int:
        inside = tree.nodes[index : tree.ends[index]]
        return int(inside[inside >= 0].min())

    return sorted(indices, key=first_node)


def display_name(tree: Tree, index: int) -> str:
    """Name of a scope or operator as the pages show it: ``24 × Block`` for ``*-Block[24]``."""
    name = _name(tree.paths[index])
    if tree.types[index] not in (REPEAT, REST, GROUP):
        return name
    pattern, _, _ = name.rpartition("[")
    count = int(tree.counts[index])
    if tree.types[index] == GROUP:
        return f"{count} × {pattern}"
    scope = int(tree.parents[index])
    while tree.types[scope] in (REPEAT, REST):
        scope = int(tree.parents[scope])
    layer = pattern.replace("*", "").strip("-_. ") or _name(tree.paths[scope]) or pattern
    if tree.types[index] == REST:
        return f"+ {count} × {layer}"
    rests = sum(int(tree.counts[child]) - 1 for child in tree.children(index) if tree.types[child] == REST)
    return f"{count + rests} × {layer}"


def _name(path: str) -> str:
    return path.rpartition("/")[2]
