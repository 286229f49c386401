"""Matching of two trees: finds the partner of each operator, scope and box.

1. Operators by the parameters they use and the structure around them (node_matching.py).
2. Scopes by the operators that they share, then by name (scope_matching.py).
3. Operators that are left, within matched scopes by type, aligned in file order: by inputs and content, by
   inputs (types of operators, names of parameters), first with first. Those that use different parameters
   are never partners.
4. Operators of different type that stand in one place: one was replaced by the other.
5. Pairs that the edges around them contradict are separated (consistency.py).
6. Operators that are left and are equal but for which known parameters they use, in which order. All pairs
   are separated if the two graphs have next to nothing in common.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.graph.comparison.alignment import Keys, align
from mindinsight.server.graph.comparison.consistency import (
    carried_values,
    drop_contradicted,
    kinship,
    match_carriers,
)
from mindinsight.server.graph.comparison.node_columns import NodeColumns, node_columns
from mindinsight.server.graph.comparison.node_matching import (
    match_again,
    match_exchanged,
    match_nodes,
    match_renamed,
    match_replaced,
    match_used,
    pair,
)
from mindinsight.server.graph.comparison.scope_matching import Pair, match_scopes
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Numbers, Offsets
from mindinsight.server.graph.scopes.tree import ROOT, SCOPE, Tree

# Share of working operators that kin have in common, at least. Unrelated networks were measured below 0.14
# (loss, optimizer), networks with any edit above 0.75 (benchmarks/planted_pairs.py).
_KIN: Final = 0.3
_MOST_REPLACED: Final = 8  # rounds: chains of replaced operators are matched from both of their ends


@dataclass(frozen=True, eq=False)
class Matching:
    """Two trees and the partner of each index."""

    left: Tree
    right: Tree
    columns: NodeColumns  # of the nodes of both graphs
    node_partners: Offsets  # [n of the columns] parameters included, -1 for none
    to_right: Numbers  # [t of left] index in the right tree, -1 for none
    to_left: Numbers  # [t of right] index in the left tree, -1 for none


def match(left: Tree, right: Tree) -> Matching:
    """Match two trees by the rules above; their roots are partners."""
    columns = node_columns(left.graph, right.graph)
    partners, owners = match_nodes(columns)
    if ((partners < 0) & (columns.kinds == OPERATOR)).any():
        _match_open(left, right, columns, partners, owners)
        if kinship(columns, partners) < _KIN:
            partners[:] = -1
    if (partners >= 0).any():
        match_renamed(columns, partners)
    to_right = _leaf_partners(left, right, columns, partners)
    for left_scope, right_scope in match_scopes(left, right, to_right):
        to_right[left_scope] = right_scope
    to_left = np.full(len(right.paths), -1, dtype=np.int32)
    matched = np.flatnonzero(to_right >= 0)
    to_left[to_right[matched]] = matched
    return Matching(left, right, columns, partners, to_right, to_left)


def _match_open(left: Tree, right: Tree, columns: NodeColumns, partners: Offsets, owners: Offsets) -> None:
    """Match what labels left open, after separating what they paired wrongly."""
    carriers = carried_values(columns)
    drop_contradicted(columns, partners)
    match_again(columns, partners, owners)
    match_carriers(columns, partners, owners, carriers)
    match_used(columns, partners, owners)
    scopes = match_scopes(left, right, _leaf_partners(left, right, columns, partners))
    _match_remaining(left, right, columns, partners, owners, scopes)
    places = _places(left, right, columns, scopes)
    for _ in range(_MOST_REPLACED):
        if not match_replaced(columns, partners, places, owners):
            break
        match_carriers(columns, partners, owners, carriers)
        match_again(columns, partners, owners)
    drop_contradicted(columns, partners)
    match_carriers(columns, partners, owners, carriers)
    if match_exchanged(columns, partners, places):
        match_carriers(columns, partners, owners, carriers)


def _leaf_partners(left: Tree, right: Tree, columns: NodeColumns, partners: Offsets) -> Numbers:
    """[t of left] right index of each matched operator, -1 for others."""
    to_right = np.full(len(left.paths), -1, dtype=np.int32)
    leaves = np.flatnonzero(left.nodes >= 0)
    right_nodes = partners[left.nodes[leaves]] - columns.left_count
    matched = right_nodes >= 0
    to_right[leaves[matched]] = right.leaf_indices[right_nodes[matched]]
    return to_right


def _places(left: Tree, right: Tree, columns: NodeColumns, scopes: Sequence[Pair]) -> Offsets:
    """[n] number of the innermost pair of scopes around each operator; parameters and constants have 0."""
    places = np.zeros(len(columns.kinds), dtype=np.int64)
    for side, (tree, begin) in enumerate(((left, 0), (right, columns.left_count))):
        numbers = np.full(len(tree.paths), -1, dtype=np.int64)
        for number, pair_of_scopes in enumerate(scopes):
            numbers[pair_of_scopes[side]] = number
        for index in range(1, len(tree.paths)):  # a scope comes after the scope around it
            if numbers[index] < 0:
                numbers[index] = numbers[tree.parents[index]]
        leaves = np.flatnonzero(tree.nodes >= 0)
        places[tree.nodes[leaves] + begin] = numbers[leaves]
    return places


def _match_remaining(
    left: Tree,
    right: Tree,
    columns: NodeColumns,
    partners: Offsets,
    owners: Offsets,
    scopes: Sequence[Pair],
) -> None:
    """Match operators without a partner in matched scopes, type by type, aligned in file order."""
    keys = [_keys(columns, with_content=True), _keys(columns, with_content=False)]
    for left_scope, right_scope in scopes:
        if left_scope != ROOT and left.types[left_scope] != SCOPE:
            continue
        left_nodes = [node for node in _operators_in(left, left_scope) if partners[node] < 0]
        if not left_nodes:
            continue
        offset = columns.left_count
        right_nodes = [offset + node for node in _operators_in(right, right_scope)]
        right_nodes = [node for node in right_nodes if partners[node] < 0]
        by_type = _by_type(columns, right_nodes)
        for kind, nodes in _by_type(columns, left_nodes).items():
            for left_node, right_node in align(nodes, by_type.get(kind, []), keys):
                owned = owners[left_node], owners[right_node]
                if (owned[0] == owned[1] or 0 in owned) and _parameters_agree(
                    columns, partners, left_node, right_node
                ):
                    pair(partners, left_node, right_node)


def _operators_in(tree: Tree, index: int) -> Iterable[int]:
    """Nodes of the operators directly inside a scope, boxes made by folding replaced by their members."""
    for child in tree.children(index):
        if tree.is_leaf(child):
            yield int(tree.nodes[child])
        elif tree.types[child] != SCOPE:
            yield from _operators_in(tree, child)


def _by_type(columns: NodeColumns, nodes: Iterable[int]) -> dict[int, list[int]]:
    by_type: dict[int, list[int]] = {}
    for node in sorted(nodes):
        by_type.setdefault(int(columns.types[node]), []).append(node)
    return by_type


def _keys(columns: NodeColumns, with_content: bool) -> Keys:
    """Alignment keys of operators: their inputs, and their output and attributes if ``with_content``."""

    def key(node: int) -> Hashable:
        content = (int(columns.attributes[node]), int(columns.outputs[node])) if with_content else None
        return tuple(
            (int(columns.names[source]), -1)
            if columns.kinds[source] == PARAMETER
            else (-1, int(columns.types[source]))
            for source in _sources(columns, node)
        ), content

    return key, key


def _sources(columns: NodeColumns, node: int) -> list[int]:
    begin, end = np.searchsorted(columns.targets, [node, node + 1])
    sources: list[int] = columns.sources[begin:end].tolist()
    return sources


def _parameters_agree(columns: NodeColumns, partners: Offsets, left_node: int, right_node: int) -> bool:
    """Whether two operators share a parameter, or neither uses any."""
    left, right = (
        {source for source in _sources(columns, node) if columns.kinds[source] == PARAMETER}
        for node in (left_node, right_node)
    )
    if not left and not right:
        return True
    return bool({int(partners[source]) for source in left} & right)
