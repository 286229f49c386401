"""Comparison of two graphs: operators that are equal, that differ, and that only one graph has."""

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
class BoxCounts:
    """Counts of the operators in a box by state."""

    operators: int
    changed: int  # that differ from their partners
    only: int  # without a partner
    missing: int  # operators of the box's partner that have no partner here


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of a comparison; the pairs are indexed by side, LEFT and RIGHT. [t]: indices of a tree."""

    trees: tuple[Tree, Tree]
    partners: tuple[Numbers, Numbers]  # [t] index in the other tree, -1 for none
    states: tuple[Codes, Codes]  # [t] of operators SAME, CHANGED or ONLY; of boxes SAME
    input_ids: tuple[Offsets, Offsets]  # [nodes] numbers that mean the same in both graphs, -1 for none
    totals: tuple[Offsets, Offsets]  # [3, t + 1] operators, changed, only: sums before each index

    def box_counts(self, side: Side, index: int) -> BoxCounts:
        """Counts for a box, or for one operator."""
        operators, changed, only = self._sums(side, index)
        partner = int(self.partners[side][index])
        missing = self._sums(RIGHT if side == LEFT else LEFT, partner)[2] if partner >= 0 else 0
        return BoxCounts(operators, changed, only, missing)

    def state(self, side: Side, index: int) -> int:
        """SAME if nothing in the subtree differs, ONLY if the other graph has none of it, else CHANGED."""
        sums = self.box_counts(side, index)
        if self.partners[side][index] < 0 and sums.only == sums.operators:
            return ONLY
        return CHANGED if sums.changed or sums.only or sums.missing else SAME

    def _sums(self, side: Side, index: int) -> list[int]:
        end = int(self.trees[side].ends[index])
        sums: list[int] = (self.totals[side][:, end] - self.totals[side][:, index]).tolist()
        return sums


def compare(left: Tree, right: Tree) -> Comparison:
    """Compare two graphs operator by operator.

    Partners differ when their outputs (type and shape) or attributes do, or an input does: equal inputs are
    partners, parameters of equal name and type, or constants of equal value.
    """
    signatures = Signatures(left.graph), Signatures(right.graph)
    matching = match(left, right, signatures)
    input_ids = _input_identities(matching)
    leaves = np.flatnonzero((left.nodes >= 0) & (matching.to_right >= 0))
    left_nodes, right_nodes = left.nodes[leaves], right.nodes[matching.to_right[leaves]]
    differ = _inputs_differ(left.graph, right.graph, input_ids, left_nodes, right_nodes)
    for pair in np.flatnonzero(~differ).tolist():
        differ[pair] = _content_differs(signatures, int(left_nodes[pair]), int(right_nodes[pair]))
    states = np.zeros(len(left.paths), dtype=np.uint8), np.zeros(len(right.paths), dtype=np.uint8)
    for tree, partners, state in zip(
        (left, right), (matching.to_right, matching.to_left), states, strict=True
    ):
        state[(tree.nodes >= 0) & (partners < 0)] = ONLY
    states[LEFT][leaves[differ]] = CHANGED
    states[RIGHT][matching.to_right[leaves[differ]]] = CHANGED
    totals = _totals(left, states[LEFT]), _totals(right, states[RIGHT])
    return Comparison((left, right), (matching.to_right, matching.to_left), states, input_ids, totals)


def _totals(tree: Tree, states: Codes) -> Offsets:
    marks = np.stack([tree.nodes >= 0, states == CHANGED, states == ONLY])
    return np.concatenate([np.zeros((3, 1), dtype=np.int64), np.cumsum(marks, axis=1)], axis=1)


def _content_differs(signatures: tuple[Signatures, Signatures], left_node: int, right_node: int) -> bool:
    left, right = signatures
    if left.graph.message(left_node) == right.graph.message(right_node):
        return False
    return left.content(left_node) != right.content(right_node)


def _input_identities(matching: Matching) -> tuple[Offsets, Offsets]:
    """[n] input identity of every node of both graphs: equal numbers stand for the same input."""
    left, right = matching.left, matching.right
    count = len(right.graph)
    known: dict[tuple[int, str, bytes], int] = {}
    identities = []
    for graph in (left.graph, right.graph):
        identity = np.full(len(graph), -1, dtype=np.int64)
        for node in np.flatnonzero(graph.kinds != OPERATOR).tolist():
            identity[node] = count + known.setdefault(_outer_key(graph, node), len(known))
        identities.append(identity)
    leaves = np.flatnonzero(right.nodes >= 0)
    identities[RIGHT][right.nodes[leaves]] = right.nodes[leaves]
    leaves = np.flatnonzero((left.nodes >= 0) & (matching.to_right >= 0))
    identities[LEFT][left.nodes[leaves]] = right.nodes[matching.to_right[leaves]]
    return identities[LEFT], identities[RIGHT]


def _outer_key(graph: Graph, node: int) -> tuple[int, str, bytes]:
    """Identity key of a parameter (its name and type) or a constant (its value)."""
    message = graph.message(node)
    if graph.kinds[node] == PARAMETER:
        proto = ParameterProto.FromString(message)
        return PARAMETER, proto.name, proto.type.SerializeToString(deterministic=True)
    value = NamedValueProto.FromString(message).value
    return int(graph.kinds[node]), "", value.SerializeToString(deterministic=True)


def _inputs_differ(
    left: Graph, right: Graph, input_ids: tuple[Offsets, Offsets], left_nodes: Numbers, right_nodes: Numbers
) -> Flags:
    """[p] flag per pair of operators: whether their inputs, compared in order, differ."""
    left_spans, right_spans = inputs_of(left, left_nodes), inputs_of(right, right_nodes)
    differ = np.asarray(left_spans[1] - left_spans[0] != right_spans[1] - right_spans[0])
    equal = np.flatnonzero(~differ)
    counts = (left_spans[1] - left_spans[0])[equal]
    pairs = np.repeat(equal, counts)
    ranks = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    left_edges, right_edges = left_spans[0][pairs] + ranks, right_spans[0][pairs] + ranks
    sources = (
        input_ids[LEFT][left.edges.sources[left_edges]],
        input_ids[RIGHT][right.edges.sources[right_edges]],
    )
    different = (sources[0] != sources[1]) | (
        left.edges.controls[left_edges] != right.edges.controls[right_edges]
    )
    differ[pairs[different]] = True
    return differ


def inputs_of(graph: Graph, nodes: Numbers) -> tuple[Offsets, Offsets]:
    """[n] begin and [n] end of the edges into each node."""
    targets = graph.edges.targets
    return np.searchsorted(targets, nodes, "left"), np.searchsorted(targets, nodes, "right")


def list_topmost_differences(comparison: Comparison, side: Side) -> Iterator[int]:
    """Yield the operators that differ; operators of this side alone as the outermost scopes of only such."""
    tree, states = comparison.trees[side], comparison.states[side].tolist()
    index = 1
    while index < len(tree.paths):
        leaf = tree.is_leaf(index)
        if leaf and states[index] != SAME:
            yield index
        elif not leaf and comparison.state(side, index) == ONLY:
            yield index
            index = int(tree.ends[index]) - 1
        index += 1
