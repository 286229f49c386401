"""Comparison of two graphs: which operators are the same, which differ, which are in one only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from mindinsight.proto.graph_pb2 import NamedValueProto, ParameterProto
from mindinsight.server.graph.comparison.matching import Matching, match
from mindinsight.server.graph.comparison.signatures import Signatures
from mindinsight.server.graph.model.graph import OPERATOR, PARAMETER, Codes, Flags, Graph, Numbers, Offsets
from mindinsight.server.graph.scopes.tree import Tree

Side: TypeAlias = Literal[0, 1]  # the left and the right graph
LEFT: Final = 0
RIGHT: Final = 1

SAME: Final = 0
CHANGED: Final = 1
ONLY: Final = 2


@dataclass(frozen=True, slots=True)
class Within:
    """Counts of the operators in a box, by how they differ."""

    operators: int
    changed: int  # from their partners
    only: int  # without a partner
    missing: int  # of the box's partner, without a partner here


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of a comparison; of each pair the first is of the left graph, the second of the right."""

    trees: tuple[Tree, Tree]
    partners: tuple[Numbers, Numbers]  # [places] place in the other tree, -1 for none
    states: tuple[Codes, Codes]  # [places] of operators SAME, CHANGED or ONLY; of boxes SAME
    feeding: tuple[Offsets, Offsets]  # [nodes] numbers that mean the same in both graphs, -1 for none
    totals: tuple[Offsets, Offsets]  # [3, places + 1] operators, changed, only: before each place

    def within(self, side: Side, place: int) -> Within:
        """Counts for a box, or for one operator."""
        operators, changed, only = self._sums(side, place)
        partner = int(self.partners[side][place])
        missing = self._sums(RIGHT if side == LEFT else LEFT, partner)[2] if partner >= 0 else 0
        return Within(operators, changed, only, missing)

    def state(self, side: Side, place: int) -> int:
        """SAME when nothing at or in the place differs, ONLY when nothing of it is in the other graph."""
        sums = self.within(side, place)
        if self.partners[side][place] < 0 and sums.only == sums.operators:
            return ONLY
        return CHANGED if sums.changed or sums.only or sums.missing else SAME

    def _sums(self, side: Side, place: int) -> list[int]:
        end = int(self.trees[side].ends[place])
        sums: list[int] = (self.totals[side][:, end] - self.totals[side][:, place]).tolist()
        return sums


def compare(left: Tree, right: Tree) -> Comparison:
    """Compare two graphs, node by node.

    Partners differ when their outputs (type and shape) or attributes do, or when they are not fed, in this
    order, by partners, parameters of one name and type, and constants of one value.
    """
    signatures = Signatures(left.graph), Signatures(right.graph)
    matching = match(left, right, signatures)
    feeding = _feeding(matching)
    leaves = np.flatnonzero((left.nodes >= 0) & (matching.to_right >= 0))
    here, there = left.nodes[leaves], right.nodes[matching.to_right[leaves]]
    differ = _fed_differently(left.graph, right.graph, feeding, here, there)
    for number in np.flatnonzero(~differ).tolist():
        differ[number] = _says_otherwise(signatures, int(here[number]), int(there[number]))
    states = np.zeros(len(left.paths), dtype=np.uint8), np.zeros(len(right.paths), dtype=np.uint8)
    for tree, partners, state in zip(
        (left, right), (matching.to_right, matching.to_left), states, strict=True
    ):
        state[(tree.nodes >= 0) & (partners < 0)] = ONLY
    states[LEFT][leaves[differ]] = CHANGED
    states[RIGHT][matching.to_right[leaves[differ]]] = CHANGED
    totals = _totals(left, states[LEFT]), _totals(right, states[RIGHT])
    return Comparison((left, right), (matching.to_right, matching.to_left), states, feeding, totals)


def _totals(tree: Tree, states: Codes) -> Offsets:
    marks = np.stack([tree.nodes >= 0, states == CHANGED, states == ONLY])
    return np.concatenate([np.zeros((3, 1), dtype=np.int64), np.cumsum(marks, axis=1)], axis=1)


def _says_otherwise(signatures: tuple[Signatures, Signatures], here: int, there: int) -> bool:
    left, right = signatures
    if left.graph.message(here) == right.graph.message(there):
        return False
    return left.of(here) != right.of(there)


def _feeding(matching: Matching) -> tuple[Offsets, Offsets]:
    """Input identity of every node of both graphs: equal numbers feed an operator with the same value."""
    left, right = matching.left, matching.right
    count = len(right.graph)
    known: dict[tuple[int, str, bytes], int] = {}
    numbers = []
    for graph in (left.graph, right.graph):
        own = np.full(len(graph), -1, dtype=np.int64)
        for node in np.flatnonzero(graph.kinds != OPERATOR).tolist():
            own[node] = count + known.setdefault(_outer(graph, node), len(known))
        numbers.append(own)
    leaves = np.flatnonzero(right.nodes >= 0)
    numbers[RIGHT][right.nodes[leaves]] = right.nodes[leaves]
    leaves = np.flatnonzero((left.nodes >= 0) & (matching.to_right >= 0))
    numbers[LEFT][left.nodes[leaves]] = right.nodes[matching.to_right[leaves]]
    return numbers[LEFT], numbers[RIGHT]


def _outer(graph: Graph, node: int) -> tuple[int, str, bytes]:
    """Identity key of a parameter (its name and type) or a constant (its value)."""
    message = graph.message(node)
    if graph.kinds[node] == PARAMETER:
        proto = ParameterProto.FromString(message)
        return PARAMETER, proto.name, proto.type.SerializeToString(deterministic=True)
    value = NamedValueProto.FromString(message).value
    return int(graph.kinds[node]), "", value.SerializeToString(deterministic=True)


def _fed_differently(
    left: Graph, right: Graph, feeding: tuple[Offsets, Offsets], here: Numbers, there: Numbers
) -> Flags:
    """Flag per pair of operators: whether their inputs differ, compared in order."""
    mine, its = inputs_of(left, here), inputs_of(right, there)
    differ = np.asarray(mine[1] - mine[0] != its[1] - its[0])
    equal = np.flatnonzero(~differ)
    counts = (mine[1] - mine[0])[equal]
    pairs = np.repeat(equal, counts)
    steps = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    first, second = mine[0][pairs] + steps, its[0][pairs] + steps
    sources = feeding[LEFT][left.edges.sources[first]], feeding[RIGHT][right.edges.sources[second]]
    other = (sources[0] != sources[1]) | (left.edges.controls[first] != right.edges.controls[second])
    differ[pairs[other]] = True
    return differ


def inputs_of(graph: Graph, nodes: Numbers) -> tuple[Offsets, Offsets]:
    """Where the edges into each node begin and end."""
    targets = graph.edges.targets
    return np.searchsorted(targets, nodes, "left"), np.searchsorted(targets, nodes, "right")


def list_topmost_differences(comparison: Comparison, side: Side) -> Iterator[int]:
    """The operators that differ; instead of operators that are here only, the largest scopes of such."""
    tree, states = comparison.trees[side], comparison.states[side].tolist()
    place = 1
    while place < len(tree.paths):
        leaf = tree.is_leaf(place)
        if leaf and states[place] != SAME:
            yield place
        elif not leaf and comparison.state(side, place) == ONLY:
            yield place
            place = int(tree.ends[place]) - 1
        place += 1
