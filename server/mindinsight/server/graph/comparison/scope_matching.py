"""Matching of the scopes of two trees, and of the boxes that folding made: by the operators they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from mindinsight.server.graph.model.graph import Numbers, Offsets
from mindinsight.server.graph.scopes.folding import in_file_order
from mindinsight.server.graph.scopes.tree import ROOT, SCOPE, Tree

Pair: TypeAlias = tuple[int, int]
Taken: TypeAlias = tuple[set[int], set[int]]  # matched scopes of the left and of the right tree

_NUMBER: Final = re.compile(r"\d+")
_LEAST: Final = 0.25  # share of operators in common, below which only scopes of equal name are partners


def match_scopes(left: Tree, right: Tree, to_right: Numbers) -> list[Pair]:
    """Match scopes and boxes of one type; the roots are partners. ``to_right``: [t] partners of operators.

    Scopes that share the largest part of their operators (Jaccard index) come first, of equals those of
    equal name. What is left is matched below matched parents by name, then by name without numbers
    (``3-Block``, ``13-Block``), first with first.
    """
    pairs: list[Pair] = [(ROOT, ROOT)]
    taken: Taken = ({ROOT}, {ROOT})
    for pair in _by_similarity(left, right, to_right):
        _add(pairs, taken, pair)
    for left_scope, right_scope in pairs:  # grows on the way
        for name in (_name, _pattern):
            for pair in _by_name(left, right, (left_scope, right_scope), taken, name):
                _add(pairs, taken, pair)
    return pairs


def _add(pairs: list[Pair], taken: Taken, pair: Pair) -> None:
    if pair[0] not in taken[0] and pair[1] not in taken[1]:
        pairs.append(pair)
        taken[0].add(pair[0])
        taken[1].add(pair[1])


def _by_similarity(left: Tree, right: Tree, to_right: Numbers) -> Iterator[Pair]:
    """Yield pairs of scopes of one type that share operators, the most similar first."""
    leaves = np.flatnonzero((left.nodes >= 0) & (to_right >= 0)).astype(np.int64)
    if not len(leaves):
        return
    width = len(right.paths)
    inner, weights = np.unique(
        left.parents[leaves].astype(np.int64) * width + right.parents[to_right[leaves]], return_counts=True
    )
    inner_left, inner_right = np.divmod(inner, width)
    keys = np.concatenate(
        [
            left_scopes * width + right_scopes
            for left_scopes in _enclosing(left, inner_left)
            for right_scopes in _enclosing(right, inner_right)
        ]
        or [np.zeros(0, np.int64)]
    )
    combined, places = np.unique(keys, return_inverse=True)
    shared = np.bincount(places, weights=np.resize(weights, len(keys)), minlength=len(combined))
    lefts, rights = np.divmod(combined, len(right.paths))
    inside = (lefts > ROOT) & (rights > ROOT)
    lefts, rights, shared = lefts[inside], rights[inside], shared[inside]
    similarity = shared / (_operators_in(left)[lefts] + _operators_in(right)[rights] - shared)
    left_names, right_names = ([_name(path) for path in tree.paths] for tree in (left, right))
    left_depths, right_depths = ([path.count("/") for path in tree.paths] for tree in (left, right))
    rows = zip((-similarity).tolist(), lefts.tolist(), rights.tolist(), strict=True)
    candidates = [
        (negative, names_differ, abs(depth), left_scope, right_scope)
        for negative, left_scope, right_scope in rows
        if left.types[left_scope] == right.types[right_scope]
        for names_differ in (left_names[left_scope] != right_names[right_scope],)
        for depth in (left_depths[left_scope] - right_depths[right_scope],)
        if not names_differ or -negative >= _LEAST
    ]
    for *_, left_scope, right_scope in sorted(candidates):
        yield left_scope, right_scope


def _enclosing(tree: Tree, scopes: Offsets) -> Iterator[Offsets]:
    """Yield the scopes themselves, then the ones around them, and so on; the root is repeated."""
    while (scopes > ROOT).any():
        yield scopes
        scopes = np.maximum(tree.parents[scopes], ROOT).astype(np.int64)


def _operators_in(tree: Tree) -> Offsets:
    """[t] number of operators in each subtree."""
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(tree.nodes >= 0)])
    counts: Offsets = before[tree.ends] - before[:-1]
    return counts


def _by_name(
    left: Tree, right: Tree, parents: Pair, taken: Taken, name: Callable[[str], str]
) -> Iterator[Pair]:
    """Yield scopes of equal name below two matched scopes, first with first, second with second."""
    left_members = [scope for scope in _scopes_in(left, parents[0]) if scope not in taken[0]]
    if not left_members:
        return
    by_name: dict[str, list[int]] = {}
    right_members = [scope for scope in _scopes_in(right, parents[1]) if scope not in taken[1]]
    for scope in in_file_order(right, right_members):
        by_name.setdefault(name(right.paths[scope]), []).append(scope)
    for scope in in_file_order(left, left_members):
        if candidates := by_name.get(name(left.paths[scope])):
            yield scope, candidates.pop(0)


def _scopes_in(tree: Tree, index: int) -> Iterator[int]:
    """Yield the scopes directly inside a scope; boxes made by folding are replaced by their members."""
    if tree.types[index] != SCOPE and index != ROOT:
        return
    yield from _members(tree, index)


def _members(tree: Tree, index: int) -> Iterator[int]:
    for child in tree.children(index):
        if tree.is_leaf(child):
            continue
        if tree.types[child] == SCOPE:
            yield child
        else:
            yield from _members(tree, child)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _pattern(path: str) -> str:
    return _NUMBER.sub("*", _name(path))
