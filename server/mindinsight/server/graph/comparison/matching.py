"""Matching of the nodes of two graphs: finds the partner of each scope, operator and box.

Scopes are matched within matched parents,

1. by name, then
2. by name without numbers (``3-Block``, ``13-Block``), first unmatched with first unmatched.

Operators are matched within matched parents by type. Their numbers (``Conv2D-op12``) are ignored: they count
over the whole graph, so one more operator anywhere changes all that follow. Those of one type in a scope are
aligned in file order,

1. by output, attributes and inputs, then
2. by inputs (types of operators, names of parameters), then
3. first unmatched with first unmatched.

Boxes made by folding (groups, repeats, runs) are matched when they are of one kind, in order of the number of
partners that they share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from mindinsight.server.graph.comparison.alignment import Keys, Pair, align
from mindinsight.server.graph.comparison.signatures import Signatures
from mindinsight.server.graph.model.graph import Numbers
from mindinsight.server.graph.scopes.folding import in_file_order
from mindinsight.server.graph.scopes.tree import ROOT, SCOPE, Tree

_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Matching:
    """Two trees and the partner of each index."""

    left: Tree
    right: Tree
    to_right: Numbers  # [t of left] index in the right tree, -1 for none
    to_left: Numbers  # [t of right] index in the left tree, -1 for none


def match(left: Tree, right: Tree, signatures: tuple[Signatures, Signatures]) -> Matching:
    """Match two trees by the rules above; their roots are partners."""
    scopes: list[Pair] = [(ROOT, ROOT)]
    operators: list[Pair] = []
    for left_scope, right_scope in scopes:  # grows on the way
        left_members, right_members = _members(left, left_scope), _members(right, right_scope)
        scopes += _scopes(left, right, left_members, right_members)
        operators += _operators(left, right, left_members, right_members, signatures)
    matching = _matching_of(left, right, [*scopes, *operators])
    boxes = _boxes(matching, [*scopes, *operators])
    return _matching_of(left, right, [*scopes, *operators, *boxes]) if boxes else matching


def _matching_of(left: Tree, right: Tree, pairs: Sequence[Pair]) -> Matching:
    columns = np.array(pairs, dtype=np.int32).T
    to_right = np.full(len(left.paths), -1, dtype=np.int32)
    to_left = np.full(len(right.paths), -1, dtype=np.int32)
    to_right[columns[0]] = columns[1]
    to_left[columns[1]] = columns[0]
    return Matching(left, right, to_right, to_left)


def _members(tree: Tree, index: int) -> list[int]:
    """Scopes and operators directly inside a scope, boxes made by folding replaced by their members."""
    members: list[int] = []
    for child in tree.children(index):
        members += _members(tree, child) if _is_box(tree, child) else [child]
    return members


def _is_box(tree: Tree, index: int) -> bool:
    return bool(tree.nodes[index] < 0) and tree.types[index] != SCOPE


def _scopes(left: Tree, right: Tree, left_members: list[int], right_members: list[int]) -> list[Pair]:
    """Match scopes by name, then by name without numbers."""
    left_scopes = [index for index in left_members if not left.is_leaf(index)]
    right_scopes = [index for index in right_members if not right.is_leaf(index)]
    pairs: list[Pair] = []
    for name in (_name, _pattern):
        named_alike = _by_name(left, right, left_scopes, right_scopes, name)
        pairs += named_alike
        taken = {left_index for left_index, _ in named_alike}, {right_index for _, right_index in named_alike}
        left_scopes = in_file_order(left, (index for index in left_scopes if index not in taken[0]))
        right_scopes = in_file_order(right, (index for index in right_scopes if index not in taken[1]))
    return pairs


def _by_name(
    left: Tree,
    right: Tree,
    left_members: Iterable[int],
    right_members: Iterable[int],
    name: Callable[[str], str],
) -> list[Pair]:
    """Match indices of equal name, first with first, second with second."""
    by_name: dict[str, list[int]] = {}
    for index in right_members:
        by_name.setdefault(name(right.paths[index]), []).append(index)
    pairs = []
    for index in left_members:
        if candidates := by_name.get(name(left.paths[index])):
            pairs.append((index, candidates.pop(0)))
    return pairs


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _pattern(path: str) -> str:
    return _NUMBER.sub("*", _name(path))


def _operators(
    left: Tree,
    right: Tree,
    left_members: list[int],
    right_members: list[int],
    signatures: tuple[Signatures, Signatures],
) -> list[Pair]:
    """Match operators: type by type, aligned in file order."""
    keys = [
        _keys(left, right, signatures, with_content=True),
        _keys(left, right, signatures, with_content=False),
    ]
    right_by_type = _by_type(right, right_members)
    pairs: list[Pair] = []
    for kind, indices in _by_type(left, left_members).items():
        pairs += align(indices, right_by_type.get(kind, []), keys)
    return pairs


def _keys(left: Tree, right: Tree, signatures: tuple[Signatures, Signatures], with_content: bool) -> Keys:
    """Alignment keys of operators: their inputs, and their output and attributes if ``with_content``."""

    def key(tree: Tree, signatures_of_tree: Signatures, index: int) -> Hashable:
        node = int(tree.nodes[index])
        return (signatures_of_tree.inputs(node), signatures_of_tree.content(node) if with_content else None)

    return partial(key, left, signatures[0]), partial(key, right, signatures[1])


def _by_type(tree: Tree, indices: Iterable[int]) -> dict[str, list[int]]:
    by_type: dict[str, list[int]] = {}
    for index in sorted(filter(tree.is_leaf, indices), key=tree.nodes.__getitem__):
        by_type.setdefault(tree.types[index], []).append(index)
    return by_type


def _boxes(matching: Matching, pairs: Iterable[Pair]) -> list[Pair]:
    """Match boxes of one type, those that share the most partners first."""
    left, right = matching.left, matching.right
    common = Counter(
        (left_box, right_box)
        for pair in pairs
        for left_box in _enclosing_boxes(left, pair[0])
        for right_box in _enclosing_boxes(right, pair[1])
        if left.types[left_box] == right.types[right_box]
    )
    partners: list[Pair] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for (left_box, right_box), _ in sorted(common.items(), key=lambda item: (-item[1], item[0])):
        if left_box not in taken[0] and right_box not in taken[1]:
            taken[0].add(left_box)
            taken[1].add(right_box)
            partners.append((left_box, right_box))
    return partners


def _enclosing_boxes(tree: Tree, index: int) -> Iterator[int]:
    """Yield the boxes that folding put around a scope or an operator, innermost first."""
    while (index := int(tree.parents[index])) > ROOT and _is_box(tree, index):
        yield index
