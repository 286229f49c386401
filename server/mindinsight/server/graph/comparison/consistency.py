"""Consistency of a matching: pairs that edges contradict, and operators that only pass values on.

Labels pair what is left over, so that an operator that one graph lacks may be paired with a stranger. Such a
pair shares no edge with the pairs around it. An operator that passes a value on is identified by that value
instead of its place: a ``Load`` by its parameter, a ``TupleGetItem`` by its tuple, an ``UpdateState`` by the
operator that changed the state.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.graph.comparison.node_columns import NodeColumns, of_types
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Flags, Offsets
from mindinsight.server.graph.scopes.tree import PLUMBING

_BROAD: Final = 16  # users; an edge from a node with more says nothing about the node that uses it
_FEW: Final = 8  # working operators below which a share says nothing
_CARRYING: Final = ("Load", "TupleGetItem", "UpdateState", "Depend")


def agreement(columns: NodeColumns, partners: Offsets) -> tuple[Offsets, Offsets]:
    """Return the number of each node's edges that the other graph has, and that it lacks; both [n].

    Only edges between two matched nodes count, and none from a node with many users.
    """
    count = len(partners)
    sources, targets = columns.sources, columns.targets
    both = (partners[sources] >= 0) & (partners[targets] >= 0)
    both &= np.bincount(sources, minlength=count)[sources] <= _BROAD
    sources, targets = sources[both], targets[both]
    codes = np.sort(sources * count + targets)
    images = partners[sources] * count + partners[targets]
    is_known = codes[np.minimum(np.searchsorted(codes, images), max(len(codes) - 1, 0))] == images
    ends = np.concatenate([sources, targets])
    agreed = np.concatenate([is_known, is_known])
    return np.bincount(ends[agreed], minlength=count), np.bincount(ends[~agreed], minlength=count)


def kinship(columns: NodeColumns, partners: Offsets) -> float:
    """Return the share of the working operators of the smaller graph that have a partner.

    Working operators do more than pass values on. 1 if a graph has fewer than ``_FEW`` of them.
    """
    working = (columns.kinds == OPERATOR) & ~of_types(columns, {"", *PLUMBING})
    left = columns.is_left()
    matched = working & (partners >= 0)
    totals = [int(np.count_nonzero(working & side)) for side in (left, ~left)]
    shared = min(int(np.count_nonzero(matched & side)) for side in (left, ~left))
    return shared / min(totals) if min(totals) >= _FEW else 1.0


def drop_contradicted(columns: NodeColumns, partners: Offsets) -> int:
    """Separate the operators of pairs that share no edge with any other pair; return their number."""
    agreed, contradicted = agreement(columns, partners)
    lost = (partners >= 0) & (columns.kinds == OPERATOR) & (agreed == 0) & (contradicted > 0)
    lost &= contradicted[partners] > 0
    return _separate(partners, lost)


def _separate(partners: Offsets, chosen: Flags) -> int:
    nodes = np.flatnonzero(chosen)
    partners[partners[nodes]] = -1
    partners[nodes] = -1
    return len(nodes)


def match_carriers(
    columns: NodeColumns, partners: Offsets, owners: Offsets, carriers: tuple[Offsets, Offsets]
) -> None:
    """Match operators that pass a value on by that value; those of one value by their users."""
    carried, codes = carriers
    nodes = np.flatnonzero(carried >= 0)
    wrong = np.zeros(len(partners), dtype=np.bool_)
    others = partners[nodes]
    known = others >= 0
    values, theirs = carried[nodes[known]], carried[others[known]]
    wrong[nodes[known]] = (
        (theirs >= 0) & (partners[values] != theirs) & ((partners[values] >= 0) | (partners[theirs] >= 0))
    )
    wrong[nodes[known]] |= (owners[nodes[known]] != owners[others[known]]) & (
        (owners[nodes[known]] > 0) & (owners[others[known]] > 0)
    )
    _separate(partners, wrong)
    for _ in range(2):  # a Load feeds an UpdateState, which feeds another
        _pair_by_value(columns, partners, carried, codes)


def carried_values(columns: NodeColumns) -> tuple[Offsets, Offsets]:
    """Return the node whose value each operator passes on, -1 for none; codes of type and index. Both [n]."""
    count = len(columns.kinds)
    carried = np.full(count, -1, dtype=np.int64)
    codes = columns.types.copy()
    named = {kind: code for graph, begin in zip(columns.graphs, (0, columns.left_count), strict=True)
             for kind, code in zip(graph.types, columns.types[begin:begin + len(graph)].tolist(), strict=True)
             if kind in _CARRYING}  # fmt: skip
    first = columns.slots == 0
    operator = columns.kinds == OPERATOR
    for kind, code in named.items():
        chosen = columns.types[columns.targets] == code
        if kind == "UpdateState":
            source = columns.sources[chosen]
            chosen[chosen] = operator[source] & ~of_types(columns, {"UpdateState", "Load"})[source]
        else:
            chosen &= first & (columns.kinds[columns.sources] != CONSTANT)
        carried[columns.targets[chosen]] = columns.sources[chosen]
        carried[
            np.bincount(columns.targets[chosen], minlength=count) > 1
        ] = -1  # the state after several operators
        if kind == "TupleGetItem":
            index = (columns.types[columns.targets] == code) & (columns.slots == 1)
            codes[columns.targets[index]] = (columns.attributes[columns.sources[index]] + 1) * count + code
    return carried, codes


def _pair_by_value(columns: NodeColumns, partners: Offsets, carried: Offsets, codes: Offsets) -> None:
    """Pair open operators of one code whose values are partners; those of one value by their users."""
    order = np.argsort(columns.sources, kind="stable")
    begins = np.searchsorted(columns.sources[order], np.arange(len(partners) + 1))
    users = columns.targets[order]
    candidates = np.flatnonzero((partners < 0) & (carried >= 0) & (partners[np.maximum(carried, 0)] >= 0))
    waiting: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for node in candidates.tolist():
        value = int(carried[node])
        side = int(node >= columns.left_count)
        key = min(value, int(partners[value])), int(codes[node])
        waiting.setdefault(key, ([], []))[side].append(node)
    for lefts, rights in waiting.values():
        if len(lefts) == len(rights) == 1:
            partners[lefts[0]], partners[rights[0]] = rights[0], lefts[0]
            continue
        by_user = {
            int(partners[user]): right
            for right in rights
            for user in users[begins[right] : begins[right + 1]].tolist()
        }
        for left in lefts:
            for user in users[begins[left] : begins[left + 1]].tolist():
                right = by_user.get(user, -1)
                if right >= 0 and partners[right] < 0:
                    partners[left], partners[right] = right, left
                    break
