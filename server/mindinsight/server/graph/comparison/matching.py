"""Matching of the nodes of two graphs.

Scopes are partners when the scopes around them are, and

1. their names are equal, or else
2. their names are equal but for numbers (``3-Block``, ``13-Block``), the first left over with the first.

Operators are partners when the scopes around them are and their types are equal. Numbers that operators get
(``Conv2D-op12``) are counted over the whole graph, so one more anywhere changes all that follow: they are not
looked at. Instead those of one type in a scope are laid side by side in the order of the file, where

1. output, attributes and what feeds them are equal, or else
2. what feeds them is equal (types of operators, names of parameters), or else
3. nothing is: the first left over with the first.

Boxes made by folding (groups, repeats, runs) are partners when they are of one kind and hold more partners of
each other's than of any other box's.
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
    """Two trees and the partner of each place."""

    left: Tree
    right: Tree
    to_right: Numbers  # [left places] place in the right tree, -1 for none
    to_left: Numbers  # [right places]


def match(left: Tree, right: Tree, signatures: tuple[Signatures, Signatures]) -> Matching:
    """The partners in two graphs, by the rule above; their tops are partners."""
    scopes: list[Pair] = [(ROOT, ROOT)]
    operators: list[Pair] = []
    for here, there in scopes:  # grows on the way
        mine, its = _members(left, here), _members(right, there)
        scopes += _scopes(left, right, mine, its)
        operators += _operators(left, right, mine, its, signatures)
    matching = _paired(left, right, [*scopes, *operators])
    boxes = _boxes(matching, [*scopes, *operators])
    return _paired(left, right, [*scopes, *operators, *boxes]) if boxes else matching


def _paired(left: Tree, right: Tree, pairs: Sequence[Pair]) -> Matching:
    columns = np.array(pairs, dtype=np.int32).T
    to_right = np.full(len(left.paths), -1, dtype=np.int32)
    to_left = np.full(len(right.paths), -1, dtype=np.int32)
    to_right[columns[0]] = columns[1]
    to_left[columns[1]] = columns[0]
    return Matching(left, right, to_right, to_left)


def _members(tree: Tree, place: int) -> list[int]:
    """The scopes and operators of a scope, out of the boxes that folding put around them."""
    members: list[int] = []
    for child in tree.children(place):
        members += _members(tree, child) if _is_box(tree, child) else [child]
    return members


def _is_box(tree: Tree, place: int) -> bool:
    return bool(tree.nodes[place] < 0) and tree.types[place] != SCOPE


def _scopes(left: Tree, right: Tree, mine: list[int], its: list[int]) -> list[Pair]:
    """Partners among scopes: by name, then by name without numbers."""
    waiting = [place for place in mine if not left.is_leaf(place)]
    others = [place for place in its if not right.is_leaf(place)]
    pairs: list[Pair] = []
    for name in (_name, _pattern):
        named_alike = _by_name(left, right, waiting, others, name)
        pairs += named_alike
        taken = {here for here, _ in named_alike}, {there for _, there in named_alike}
        waiting = in_file_order(left, (place for place in waiting if place not in taken[0]))
        others = in_file_order(right, (place for place in others if place not in taken[1]))
    return pairs


def _by_name(
    left: Tree, right: Tree, mine: Iterable[int], its: Iterable[int], name: Callable[[str], str]
) -> list[Pair]:
    """The first of each name with the first of that name, the second with the second."""
    waiting: dict[str, list[int]] = {}
    for place in its:
        waiting.setdefault(name(right.paths[place]), []).append(place)
    pairs = []
    for place in mine:
        if others := waiting.get(name(left.paths[place])):
            pairs.append((place, others.pop(0)))
    return pairs


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _pattern(path: str) -> str:
    return _NUMBER.sub("*", _name(path))


def _operators(
    left: Tree, right: Tree, mine: list[int], its: list[int], signatures: tuple[Signatures, Signatures]
) -> list[Pair]:
    """Partners among operators: type by type, side by side in the order of the file."""
    keys = [_keys(left, right, signatures, whole=True), _keys(left, right, signatures, whole=False)]
    there = _by_type(right, its)
    pairs: list[Pair] = []
    for kind, places in _by_type(left, mine).items():
        pairs += align(places, there.get(kind, []), keys)
    return pairs


def _keys(left: Tree, right: Tree, signatures: tuple[Signatures, Signatures], whole: bool) -> Keys:
    """What an operator says of itself, and what feeds it; or only what feeds it."""

    def key(tree: Tree, of: Signatures, place: int) -> Hashable:
        node = int(tree.nodes[place])
        return (of.feeds(node), of.of(node) if whole else None)

    return partial(key, left, signatures[0]), partial(key, right, signatures[1])


def _by_type(tree: Tree, places: Iterable[int]) -> dict[str, list[int]]:
    by_type: dict[str, list[int]] = {}
    for place in sorted(filter(tree.is_leaf, places), key=tree.nodes.__getitem__):
        by_type.setdefault(tree.types[place], []).append(place)
    return by_type


def _boxes(matching: Matching, pairs: Iterable[Pair]) -> list[Pair]:
    """Partners among boxes, those that hold the most of each other's first."""
    left, right = matching.left, matching.right
    common = Counter(
        (here, there)
        for pair in pairs
        for here in _around(left, pair[0])
        for there in _around(right, pair[1])
        if left.types[here] == right.types[there]
    )
    partners: list[Pair] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    for (here, there), _ in sorted(common.items(), key=lambda item: (-item[1], item[0])):
        if here not in taken[0] and there not in taken[1]:
            taken[0].add(here)
            taken[1].add(there)
            partners.append((here, there))
    return partners


def _around(tree: Tree, place: int) -> Iterator[int]:
    """The boxes that folding put around a scope or an operator."""
    while (place := int(tree.parents[place])) > ROOT and _is_box(tree, place):
        yield place
