"""Folding of wide scopes: equal siblings are wrapped in boxes until every scope can be drawn.

In this order, and only as far as needed:

- numbered sibling scopes of the same structure (``0-Block`` ... ``11-Block``) become ``*-Block[12]``: the
  first stands for all, and the others are in one box, ``*-Block[+11]``;
- equal operators in a scope of more than WIDE children become ``Load[16]``, largest first;
- scopes that still have more than MOST children are split into runs of neighbours, ``Add-op3 … Mul-op9``.

Boxes with a number hold what is equal in types, attributes and shapes, and either consecutive (values flow
from one to the next) or parallel (none depends on another). Folding does not change the paths of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import CONSTANT, Graph
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.scopes.build import Folding, build_tree, number_preorder
from mindinsight.server.graph.scopes.sibling_flow import connected, parallel, sibling_flow
from mindinsight.server.graph.scopes.signatures import (
    common_pattern,
    number_pattern,
    operator_codes,
    signatures_of,
    unnamed,
)
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
_STANDALONE: Final = re.compile(r"(^|[-_. ])\*([-_. ]|$)")  # a number that is no part of a word


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
    """Boxes around numbered sibling scopes of the same structure, consecutive or parallel."""
    inner = np.flatnonzero(tree.nodes < 0)[1:]  # all scopes but the top
    wide = np.bincount(tree.parents[inner], minlength=1) >= _REPEATS
    if not wide.any():
        return []
    flow = sibling_flow(tree)
    signatures = signatures_of(tree, flow)
    alike: list[list[int]] = []
    for index in np.flatnonzero(wide).tolist():
        similar: dict[tuple[str, int], list[int]] = {}
        for child in tree.children(index):
            if tree.nodes[child] < 0:
                pattern = number_pattern(tree.paths[child])
                similar.setdefault((pattern, signatures[child]), []).append(child)
        by_pattern: dict[str, list[list[int]]] = {}
        for (pattern, _), members in similar.items():
            if "*" in pattern:
                by_pattern.setdefault(pattern, []).append(members)
        for groups in by_pattern.values():
            alike += [members for members in _with_first(tree, groups) if len(members) >= _REPEATS]
    kinds = np.full(len(tree.paths), -1, dtype=np.int64)
    for number, members in enumerate(alike):
        kinds[members] = number
    both = (kinds[flow.givers] >= 0) & (kinds[flow.givers] == kinds[flow.takers])
    links: list[set[tuple[int, int]]] = [set() for _ in alike]
    for giver, taker in zip(flow.givers[both].tolist(), flow.takers[both].tolist(), strict=True):
        links[kinds[giver]].add((giver, taker))
    runs: list[list[int]] = []
    lonely: list[list[int]] = []
    for number, members in enumerate(alike):
        groups = connected(members, links[number])
        runs += [group for group in groups if len(group) >= _REPEATS]
        lonely.append([group[0] for group in groups if len(group) == 1])
    if any(len(members) >= _REPEATS for members in lonely):
        for split in parallel(tree, [members for members in lonely if len(members) >= _REPEATS]):
            runs += [group for group in split if len(group) >= _REPEATS]
    return [_Box(_numbered(tree, members), REPEAT, tuple(members)) for members in runs]


def _with_first(tree: Tree, groups: list[list[int]]) -> list[list[int]]:
    """Add to a group the scope that differs only in that it takes an input of the network, as the first."""
    lonely = [group[0] for group in groups if len(group) == 1]
    joined = []
    for members in groups:
        if len(members) + 1 < _REPEATS:
            continue
        first = [scope for scope in lonely if _is_alike(tree, scope, members[0])]
        joined.append(in_file_order(tree, [*first, *members]) if len(first) == 1 else members)
    return joined


def _is_alike(tree: Tree, scope: int, other: int) -> bool:
    """Whether two scopes hold the same operators in the same order, on values of the same types.

    A parameter may stand for an operator outside of the scope, if both have one type.
    """
    leaves = tree.leaves(scope), tree.leaves(other)
    if len(leaves[0]) != len(leaves[1]):
        return False
    graph = tree.graph
    nodes = [sorted(tree.nodes[inside].tolist()) for inside in leaves]
    positions = [{node: position for position, node in enumerate(numbers)} for numbers in nodes]
    spans, sources = graph.contents.tolist(), graph.edges.sources
    begins, ends = (
        [np.searchsorted(graph.edges.targets, numbers, side).tolist() for numbers in nodes]
        for side in ("left", "right")
    )
    for position, (node, its) in enumerate(zip(*nodes, strict=True)):
        contents = [graph.payload[spans[number][0] : spans[number][1]] for number in (node, its)]
        if graph.types[node] != graph.types[its] or contents[0] != contents[1]:
            return False
        inputs = [
            sources[begin[position] : end[position]].tolist() for begin, end in zip(begins, ends, strict=True)
        ]
        if len(inputs[0]) != len(inputs[1]):
            return False
        for taken, there in zip(*inputs, strict=True):
            own, theirs = positions[0].get(taken), positions[1].get(there)
            if own != theirs or (own is None and not _is_same_value(graph, taken, there)):
                return False
    return True


def _is_same_value(graph: Graph, node: int, other: int) -> bool:
    """Whether two values have one type; constants, whether they are equal."""
    if CONSTANT in (graph.kinds[node], graph.kinds[other]):
        return unnamed(graph, node) == unnamed(graph, other)
    return output_of(graph, node).compact == output_of(graph, other).compact


def _numbered(tree: Tree, members: list[int]) -> str:
    return f"{common_pattern([_name(tree.paths[member]) for member in members])}[{len(members)}]"


def _rests(tree: Tree) -> list[_Box]:
    """Boxes around all repeated layers but the first, which stands for them."""
    boxes = []
    for index in (index for index, kind in enumerate(tree.types) if kind == REPEAT):
        members = in_file_order(tree, tree.children(index))[1:]
        name = _name(tree.paths[index]).rpartition("[")[0]
        boxes.append(_Box(f"{name}[+{len(members)}]", REST, tuple(sorted(members))))
    return boxes


def _types(tree: Tree) -> list[_Box]:
    """Boxes around equal parallel operators in wide scopes, most frequent first, until none is wide."""
    wide = np.flatnonzero(tree.counts > WIDE).tolist()
    if not wide:
        return []
    codes = operator_codes(tree).tolist()
    alike: dict[tuple[int, str, int], list[int]] = {}
    for index in wide:
        for child in tree.children(index):
            if tree.nodes[child] >= 0:
                alike.setdefault((index, tree.types[child], codes[child]), []).append(child)
    many = [members for members in alike.values() if len(members) >= _MEMBERS]
    groups = [group for split in parallel(tree, many) for group in split if len(group) >= _MEMBERS]
    boxes = []
    widths = {index: len(tree.children(index)) for index in wide}
    for members in sorted(groups, key=lambda group: -len(group)):
        index = int(tree.parents[members[0]])
        if widths[index] > WIDE and len(members) < tree.counts[index]:
            boxes.append(_Box(f"{tree.types[members[0]]}[{len(members)}]", GROUP, tuple(members)))
            widths[index] -= len(members) - 1
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
    """Name of a scope or operator as the pages show it: ``24 × Block`` for ``*-Block[24]``.

    Numbers stay where they tell a box from its siblings, and where they are part of a word: ``3 × conv3…5``.
    """
    name = _name(tree.paths[index])
    if tree.types[index] not in (REPEAT, REST, GROUP):
        return name
    pattern, _, _ = name.rpartition("[")
    members = list(folded_members(tree, index))
    if tree.types[index] == GROUP:
        return f"{len(members)} × {pattern}"
    sign = "+ " if tree.types[index] == REST else ""
    return f"{sign}{len(members)} × {_layer(tree, index, pattern, members)}"


def _layer(tree: Tree, index: int, pattern: str, members: list[int]) -> str:
    """Name of the repeated layers of a box."""
    scope = int(tree.parents[index])
    while tree.types[scope] in (REPEAT, REST, RUN):
        scope = int(tree.parents[scope])
    loose = number_pattern(pattern)
    siblings = [name for name in _scope_names(tree, scope) if number_pattern(name) == loose]
    whole = len(siblings) == len(members) + (tree.types[index] == REST)
    if whole and _STANDALONE.search(pattern):
        return pattern.replace("*", "").strip("-_. ") or _name(tree.paths[scope]) or pattern
    names = sorted((_name(tree.paths[member]) for member in members), key=lambda text: (len(text), text))
    matches = map(_first_number(pattern).fullmatch, names)
    numbers = [int(match[1]) for match in matches if match]
    contiguous = len(numbers) > 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    text = f"{numbers[0]}…{numbers[-1]}" if contiguous else "*"
    return pattern.replace("*", text, 1) if pattern.count("*") == 1 else pattern


def _first_number(pattern: str) -> re.Pattern[str]:
    return re.compile(re.escape(pattern).replace(r"\*", r"(\d+)", 1))


def _scope_names(tree: Tree, scope: int) -> Iterator[str]:
    """Yield the names of the scopes in a scope, those in boxes that folding made included."""
    for child in tree.children(scope):
        if tree.types[child] == SCOPE:
            yield _name(tree.paths[child])
        elif tree.types[child] in (REPEAT, REST, RUN):
            yield from _scope_names(tree, child)


def folded_members(tree: Tree, index: int) -> Iterator[int]:
    """Yield the scopes or operators that a box stands for, however folding nested them."""
    for child in tree.children(index):
        if tree.types[child] in (REST, RUN, GROUP):
            yield from folded_members(tree, child)
        else:
            yield child


def _name(path: str) -> str:
    return path.rpartition("/")[2]
