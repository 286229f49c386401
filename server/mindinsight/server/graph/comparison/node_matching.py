"""Matching of the nodes of two graphs: parameters by name, then whatever the structure around them decides.

1. Parameters of equal name are partners; if most have other names, those of equal name below another prefix
   (``blocks.0.weight``, ``model.blocks.0.weight``). A word and a running number are no name.
2. Nodes are partners whose Weisfeiler-Lehman label is unique in both graphs (node_labels.py), deepest rounds
   first. Matched nodes give new labels to their neighbours, and so on until nothing new is found; first with
   the attributes, outputs and scopes of nodes, then with less of them.
3. Nodes that no label tells apart are partners in file order, if both graphs have as many of them.

The numbers of operators (``Conv2D-op12``) are ignored: they count over the whole graph, so one more operator
anywhere changes all that follow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.graph.comparison.node_columns import NodeColumns
from mindinsight.server.graph.comparison.node_labels import Labels, neighbour_flags, refine, seed_labels
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, Flags, Graph, Offsets

_ROUNDS: Final = 4
_MOST_ROUNDS: Final = 40  # of labelling in a pass: chains of equal operators would take one for a few of them
_MOST_USERS: Final = 16  # without partners at one position, from which they say nothing about each other
_NUMBERED: Final = re.compile(r"[A-Za-z_]*\d+\Z")


class _Pass(NamedTuple):
    """What the seed labels of one pass are made of."""

    attributes: bool
    outputs: bool
    scopes: bool


_PASSES: Final = (
    _Pass(attributes=True, outputs=True, scopes=True),
    _Pass(attributes=True, outputs=False, scopes=True),
    _Pass(attributes=False, outputs=False, scopes=True),
    _Pass(attributes=True, outputs=False, scopes=False),
    _Pass(attributes=False, outputs=False, scopes=False),
)


def match_nodes(columns: NodeColumns) -> Offsets:
    """[n] partner of each node in the other graph, -1 for none; constants have none."""
    partners = np.full(len(columns.kinds), -1, dtype=np.int64)
    unique_names = _match_parameters(columns, partners)
    for step in _PASSES:
        _match_by_structure(columns, partners, step, unique_names)
    return partners


def _match_parameters(columns: NodeColumns, partners: Offsets) -> Offsets:
    """Match parameters of equal name (names are unique in a graph), or of equal name below another prefix.

    [n] codes of the names that only one graph has, if most are in both; 0 for all other nodes.
    """
    left, right = (_parameters(graph) for graph in columns.graphs)
    renamings = [{name: name for name in left if name in right}]
    if 2 * len(renamings[0]) < min(len(left), len(right)):
        renamings += [{name: prefix + name for name in left} for prefix in _common_prefixes(right)]
        renamings += [{prefix + name: name for name in right} for prefix in _common_prefixes(left)]
    best = max(renamings, key=lambda names: sum(old in left and new in right for old, new in names.items()))
    for name, other_name in best.items():
        if name in left and other_name in right:
            pair(partners, left[name], columns.left_count + right[other_name])
    named = np.array(
        [*left.values(), *(columns.left_count + node for node in right.values())], dtype=np.int64
    )
    unique_names = np.zeros_like(partners)
    if 2 * np.count_nonzero(partners[named] >= 0) >= len(named):
        alone = named[partners[named] < 0]
        unique_names[alone] = columns.names[alone] + 1
    return unique_names


def _parameters(graph: Graph) -> dict[str, int]:
    """Nodes of the parameters by name, without names that are only a word and a running number."""
    nodes = np.flatnonzero(graph.kinds == PARAMETER).tolist()
    return {graph.names[node]: node for node in nodes if not _NUMBERED.match(graph.names[node])}


def _common_prefixes(names: Collection[str]) -> list[str]:
    """First components of dotted names, up to three with their dots, that at least half of the names have."""
    parts = (name.split(".")[:-1] for name in names)
    counts = Counter(
        ".".join(some[:count]) + "." for some in parts for count in range(1, min(len(some), 3) + 1)
    )
    return [prefix for prefix, count in counts.items() if 2 * count >= len(names)]


def pair(partners: Offsets, left: int | Offsets, right: int | Offsets) -> None:
    """Make nodes partners of each other."""
    partners[left] = right
    partners[right] = left


def _match_by_structure(columns: NodeColumns, partners: Offsets, step: _Pass, unique_names: Offsets) -> None:
    """Match by labels until nothing new is found. Parameters with unique names are no one's partners."""
    keys = [columns.types, unique_names]
    keys += [columns.attributes] if step.attributes else []
    keys += [columns.outputs] if step.outputs else []
    keys += [columns.scopes] if step.scopes else []
    for _ in range(_MOST_ROUNDS):
        if not _match_labels(columns, partners, keys, step.scopes, unique_names):
            break


def _match_labels(
    columns: NodeColumns, partners: Offsets, keys: list[Offsets], scopes: bool, unique_names: Offsets
) -> int:
    """Match what the most telling labels decide; the number of new pairs."""
    labels = refine(columns, seed_labels(columns, keys, partners), partners, _ROUNDS)
    fed, used = neighbour_flags(columns, partners)
    candidates = (partners < 0) & (columns.kinds != CONSTANT)
    connected = np.zeros(len(partners), dtype=bool)
    connected[columns.sources] = connected[columns.targets] = True
    lonely = candidates & (connected | scopes)
    count = 0
    for refined in labels.refined[::-1]:
        count += _match_unique(columns, partners, refined, lonely & (partners < 0))
    for by_neighbours, near in ((labels.by_inputs, fed), (labels.by_outputs, used)):
        count += _match_unique(columns, partners, by_neighbours, near & candidates & (partners < 0))
    if count:
        return count
    unlike = np.bincount(columns.targets, weights=unique_names[columns.sources] > 0, minlength=len(partners))
    if scopes and (count := _match_unique(columns, partners, labels.seeds, candidates & (unlike == 0))):
        return count
    return _match_alike(columns, partners, labels.refined[-1], lonely)


def _match_unique(columns: NodeColumns, partners: Offsets, labels: Labels, candidates: Flags) -> int:
    """Match candidates whose label exactly one candidate has in each graph."""
    nodes, begins, ends, left_counts = _groups(columns, labels, candidates)
    chosen = begins[(ends - begins == 2) & (left_counts == 1)]
    pair(partners, nodes[chosen], nodes[chosen + 1])
    return len(chosen)


def _match_alike(columns: NodeColumns, partners: Offsets, labels: Labels, candidates: Flags) -> int:
    """Match candidates of one label in file order, where both graphs have as many."""
    nodes, begins, ends, left_counts = _groups(columns, labels, candidates)
    even = (left_counts > 0) & (ends - begins == 2 * left_counts)
    begins, halves = begins[even], left_counts[even]
    firsts = np.repeat(begins - np.cumsum(halves) + halves, halves) + np.arange(halves.sum())
    pair(partners, nodes[firsts], nodes[firsts + np.repeat(halves, halves)])
    return len(firsts)


def _groups(
    columns: NodeColumns, labels: Labels, candidates: Flags
) -> tuple[Offsets, Offsets, Offsets, Offsets]:
    """Candidates by label and file order, left graph first; begin, end and left count of each label."""
    nodes = np.flatnonzero(candidates)
    nodes = nodes[np.argsort(labels[nodes], kind="stable")]
    ordered = labels[nodes]
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), ordered[1:] != ordered[:-1]])[: len(nodes)])
    ends = np.append(begins[1:], len(nodes))
    lefts = np.concatenate([np.zeros(1, np.int64), np.cumsum(nodes < columns.left_count)])
    return nodes, begins, ends[: len(begins)], lefts[ends[: len(begins)]] - lefts[begins]


def match_replaced(columns: NodeColumns, partners: Offsets) -> None:
    """Match operators of different type that stand in one place: their neighbours are partners.

    A pair has a vote for each input that comes from partners, and for each user at the same position; pairs
    of most votes first.
    """
    open_nodes = (partners < 0) & (columns.kinds == OPERATOR)
    votes: dict[tuple[int, int], int] = {}
    for ends, others in ((columns.sources, columns.targets), (columns.targets, columns.sources)):
        _count_votes(columns, partners, open_nodes, ends, others, votes)
    for (left, right), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if partners[left] < 0 and partners[right] < 0:
            pair(partners, left, right)


def match_renamed(columns: NodeColumns, partners: Offsets) -> None:
    """Match parameters of different names that partners use at the same position."""
    labels = refine(columns, seed_labels(columns, [columns.types], partners), partners, 1)
    used = neighbour_flags(columns, partners)[1]
    _match_unique(columns, partners, labels.by_outputs, (columns.kinds == PARAMETER) & (partners < 0) & used)


def _count_votes(
    columns: NodeColumns,
    partners: Offsets,
    open_nodes: Flags,
    ends: Offsets,
    others: Offsets,
    votes: dict[tuple[int, int], int],
) -> None:
    """Count a vote for each pair of open nodes at ``others`` whose edges end at partners in one slot."""
    edges = np.flatnonzero(open_nodes[others] & (partners[ends] >= 0))
    by_place: dict[tuple[int, int], list[int]] = {}
    for edge in edges.tolist():
        if others[edge] >= columns.left_count:
            by_place.setdefault((int(ends[edge]), int(columns.slots[edge])), []).append(int(others[edge]))
    for edge in edges.tolist():
        if others[edge] < columns.left_count:
            position = int(partners[ends[edge]]), int(columns.slots[edge])
            rights = by_place.get(position, [])
            for right in rights if len(rights) <= _MOST_USERS else ():
                key = int(others[edge]), right
                votes[key] = votes.get(key, 0) + 1
