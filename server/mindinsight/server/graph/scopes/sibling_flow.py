"""Flow of values between siblings of a scope tree, through operators that only pass values on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mindinsight.server.graph.model.graph import Numbers, Offsets
from mindinsight.server.graph.scopes.tree import PLUMBING, Tree


class SiblingFlow(NamedTuple):
    """Edges between working operators, each with the two siblings that hold its ends; [e] all."""

    sources: Offsets  # leaves
    targets: Offsets
    slots: Offsets  # position among the inputs of the target
    scopes: Offsets  # innermost scope around both ends
    givers: Offsets  # child of that scope that holds the source
    takers: Offsets  # child that holds the target


def sibling_flow(tree: Tree) -> SiblingFlow:
    """Return the flow of values in a tree; what operators pass on comes from the operator before them.

    Of several values that are packed, the first counts. Order without values (UpdateState) is no flow.
    """
    edges = tree.edges
    sources, targets = edges.sources.astype(np.int64), edges.targets.astype(np.int64)
    numbers = np.arange(len(targets))  # inputs of one target are neighbours
    slots = numbers - np.maximum.accumulate(np.where(np.diff(targets, prepend=-1) != 0, numbers, 0))
    passing = np.array([kind in PLUMBING for kind in tree.types], dtype=np.bool_)
    states = np.array([kind == "UpdateState" for kind in tree.types], dtype=np.bool_)
    behind = np.arange(len(tree.paths))
    into = np.flatnonzero(passing[targets] & ~edges.controls)[::-1]
    behind[targets[into]] = sources[into]  # the first input is written last
    for _ in range(8):  # a value passes few operators; what is left then is dropped
        behind = behind[behind]
    through = behind[sources]
    working = ~(edges.controls | passing[targets] | passing[through] | states[sources])
    sources, targets, slots = through[working], targets[working], slots[working]
    givers, takers = sources.copy(), targets.copy()
    scopes = tree.parents[sources].astype(np.int64)
    ends = tree.ends
    while len(apart := np.flatnonzero((targets < scopes) | (targets >= ends[scopes]))):
        givers[apart] = scopes[apart]
        scopes[apart] = tree.parents[scopes[apart]]
    while len(deep := np.flatnonzero(tree.parents[takers] != scopes)):
        takers[deep] = tree.parents[takers[deep]]
    return SiblingFlow(sources, targets, slots, scopes, givers, takers)


def connected(members: Sequence[int], links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Group members that values flow between directly (``links``); all in the order of ``members``."""
    leader = {member: member for member in members}

    def find(member: int) -> int:
        while leader[member] != member:
            leader[member] = member = leader[leader[member]]
        return member

    for giver, taker in links:
        leader[find(giver)] = find(taker)
    groups: dict[int, list[int]] = {}
    for member in members:
        groups.setdefault(find(member), []).append(member)
    return list(groups.values())


def parallel(tree: Tree, groups: Sequence[Sequence[int]]) -> list[list[list[int]]]:
    """Split each group of boxes into parallel ones, which depend on the same others of their group."""
    bits = np.full(len(tree.paths), -1, dtype=np.int64)
    masks = []
    number = 0
    for group in groups:
        masks.append(((1 << len(group)) - 1) << number)
        for member in group:
            bits[member : tree.ends[member]] = number
            number += 1
    upstream = _upstream(tree, bits)
    split = []
    for group, mask in zip(groups, masks, strict=True):
        alike: dict[int, list[int]] = {}
        for member in group:
            own = 1 << int(bits[member])
            alike.setdefault(upstream.get(int(bits[member]), 0) & mask & ~own, []).append(member)
        split.append(list(alike.values()))
    return split


def _upstream(tree: Tree, bits: Numbers | Offsets) -> dict[int, int]:
    """Return the set of members that each member depends on, both as bits."""
    inputs: dict[int, list[int]] = {}
    states = np.array([kind == "UpdateState" for kind in tree.types], dtype=np.bool_)
    edges = tree.edges.select(~tree.edges.controls & ~states[tree.edges.sources])
    for source, target in zip(edges.sources.tolist(), edges.targets.tolist(), strict=True):
        inputs.setdefault(target, []).append(source)
    own = bits.tolist()
    reached: dict[int, int] = {}  # members upstream of each leaf, itself included
    upstream: dict[int, int] = {}
    for leaf in sorted(np.flatnonzero(tree.nodes >= 0).tolist(), key=tree.nodes.tolist().__getitem__):
        if leaf in reached:
            continue
        waiting = [leaf]
        while waiting:
            node = waiting[-1]
            missing = [source for source in inputs.get(node, ()) if source not in reached]
            if missing and node not in reached:
                reached[node] = 0  # a cycle, which a file may hold, ends here
                waiting += missing
                continue
            waiting.pop()
            before = 0
            for source in inputs.get(node, ()):
                before |= reached[source]
            if own[node] >= 0:
                upstream[own[node]] = upstream.get(own[node], 0) | before
                before |= 1 << own[node]
            reached[node] = reached.get(node, 0) | before
    return upstream
