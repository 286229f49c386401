"""Comparison of two graphs: operators that are equal, differ, follow others, or lack a partner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from mindinsight.server.graph.comparison.matching import Matching, match
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, Codes, Flags, Graph, Numbers, Offsets
from mindinsight.server.graph.scopes.tree import PLUMBING, Tree

Side: TypeAlias = Literal[0, 1]  # the left and the right graph
LEFT: Final = 0
RIGHT: Final = 1

SAME: Final = 0
CHANGED: Final = 1
ONLY: Final = 2
FOLLOWS: Final = 3  # itself the same, but what it takes in differs


@dataclass(frozen=True, slots=True)
class BoxCounts:
    """Counts of the operators in a box by state."""

    operators: int
    changed: int  # that differ from their partners
    only: int  # without a partner
    follows: int  # that are the same, but take in something else
    missing: int  # operators of the box's partner that have no partner here


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of a comparison; the pairs are indexed by side, LEFT and RIGHT. [t]: indices of a tree."""

    trees: tuple[Tree, Tree]
    partners: tuple[Numbers, Numbers]  # [t] index in the other tree, -1 for none
    states: tuple[Codes, Codes]  # [t] of operators SAME, CHANGED, ONLY or FOLLOWS; of boxes SAME
    matching: Matching
    input_ids: tuple[Offsets, Offsets]  # [nodes] numbers that mean the same in both graphs
    totals: tuple[Offsets, Offsets]  # [4, t + 1] operators, changed, only, follows: sums before each index
    rewired: Offsets  # [r] nodes of the left graph that take another value, both having partners

    def box_counts(self, side: Side, index: int) -> BoxCounts:
        """Counts for a box, or for one operator."""
        operators, changed, only, follows = self._sums(side, index)
        partner = int(self.partners[side][index])
        missing = self._sums(RIGHT if side == LEFT else LEFT, partner)[2] if partner >= 0 else 0
        return BoxCounts(operators, changed, only, follows, missing)

    def state(self, side: Side, index: int) -> int:
        """State of a subtree: ONLY if the other graph has none of it, FOLLOWS if that is all that differs."""
        sums = self.box_counts(side, index)
        if self.partners[side][index] < 0 and sums.only == sums.operators:
            return ONLY
        if sums.changed or sums.only or sums.missing:
            return CHANGED
        return FOLLOWS if sums.follows else SAME

    def sources_of(self, left_node: int, right_node: int) -> tuple[int, int] | None:
        """Return the first inputs of a rewired pair that differ, as nodes of their graphs, or None."""
        nodes = np.array([left_node], np.int32), np.array([right_node], np.int32)
        graphs = self.trees[LEFT].graph, self.trees[RIGHT].graph
        spans = [inputs_of(graph, node) for graph, node in zip(graphs, nodes, strict=True)]
        rows = [
            graph.edges.sources[int(begin[0]) : int(end[0])].tolist()
            for graph, (begin, end) in zip(graphs, spans, strict=True)
        ]
        for before, after in zip(*rows, strict=False):
            if self.input_ids[LEFT][before] != self.input_ids[RIGHT][after]:
                return before, after
        return None

    def operands_of(self, left_node: int, right_node: int) -> tuple[list[str], list[str]] | None:
        """Return the names of the inputs of a pair that takes the same in another order, or None."""
        names: list[list[str]] = []
        ids: list[list[int]] = []
        for tree, own, node in zip(self.trees, self.input_ids, (left_node, right_node), strict=True):
            begin, end = inputs_of(tree.graph, np.array([node], np.int32))
            sources = tree.graph.edges.sources[int(begin[0]) : int(end[0])].tolist()
            ids.append([int(own[source]) for source in sources])
            names.append([input_name(tree.graph, source) for source in sources])
        swapped = ids[LEFT] != ids[RIGHT] and sorted(ids[LEFT]) == sorted(ids[RIGHT])
        return (names[LEFT], names[RIGHT]) if swapped else None

    def returned(self) -> tuple[list[str], list[str]] | None:
        """Return the names of what the graphs return if that differs, and all of it is in both; else None."""
        columns, partners = self.matching.columns, self.matching.node_partners
        left, right = (graph.outputs for graph in columns.graphs)
        expected = partners[left] - columns.left_count
        if not len(left) or not len(right) or expected.tolist() == right.tolist():
            return None
        if (expected < 0).any() or (partners[right + np.int64(columns.left_count)] < 0).any():
            return None
        names = [[input_name(graph, node) for node in graph.outputs.tolist()] for graph in columns.graphs]
        return names[LEFT], names[RIGHT]

    def _sums(self, side: Side, index: int) -> list[int]:
        end = int(self.trees[side].ends[index])
        sums: list[int] = (self.totals[side][:, end] - self.totals[side][:, index]).tolist()
        return sums


def compare(left: Tree, right: Tree) -> Comparison:
    """Compare two graphs operator by operator.

    Partners are CHANGED when they differ themselves: in type, attributes, a parameter or constant that they
    use, or in their output although all inputs have equal types. They FOLLOW when only what operators feed
    them differs: other operators, or other types and shapes.
    """
    matching = match(left, right)
    input_ids = _input_identities(matching)
    leaves = np.flatnonzero((left.nodes >= 0) & (matching.to_right >= 0))
    right_leaves = matching.to_right[leaves]
    pair_states, rewired_pairs = _pair_states(
        matching, input_ids, left.nodes[leaves], right.nodes[right_leaves]
    )
    states = np.zeros(len(left.paths), dtype=np.uint8), np.zeros(len(right.paths), dtype=np.uint8)
    for tree, partners, state in zip(
        (left, right), (matching.to_right, matching.to_left), states, strict=True
    ):
        state[(tree.nodes >= 0) & (partners < 0)] = ONLY
    states[LEFT][leaves] = pair_states
    states[RIGHT][right_leaves] = pair_states
    totals = _totals(left, states[LEFT]), _totals(right, states[RIGHT])
    partners_of = matching.to_right, matching.to_left
    rewired = left.nodes[leaves[rewired_pairs]].astype(np.int64)
    return Comparison((left, right), partners_of, states, matching, input_ids, totals, rewired)


def _totals(tree: Tree, states: Codes) -> Offsets:
    marks = np.stack([tree.nodes >= 0, states == CHANGED, states == ONLY, states == FOLLOWS])
    return np.concatenate([np.zeros((len(marks), 1), dtype=np.int64), np.cumsum(marks, axis=1)], axis=1)


def _input_identities(matching: Matching) -> tuple[Offsets, Offsets]:
    """[n] input identity of every node of both graphs: equal numbers stand for the same input.

    Partners are the same input, parameters only if their types are equal too; constants by their value.
    """
    columns, partners = matching.columns, matching.node_partners
    count = len(columns.kinds)
    identity = np.arange(count)
    matched = np.flatnonzero((partners >= 0) & columns.is_left())
    alike = (columns.kinds[matched] == OPERATOR) | (
        columns.outputs[matched] == columns.outputs[partners[matched]]
    )
    identity[matched[alike]] = partners[matched[alike]]
    constants = columns.kinds == CONSTANT
    identity[constants] = count + columns.attributes[constants]
    return identity[: columns.left_count], identity[columns.left_count :]


def _pair_states(
    matching: Matching, input_ids: tuple[Offsets, Offsets], left_nodes: Numbers, right_nodes: Numbers
) -> tuple[Codes, Flags]:
    """[p] state of each pair of operators, and flag of the pairs that are wired otherwise."""
    columns = matching.columns
    left, right = left_nodes.astype(np.int64), right_nodes + np.int64(columns.left_count)
    itself = (columns.types[left] != columns.types[right]) | (
        columns.attributes[left] != columns.attributes[right]
    )
    inputs = _input_differences(matching, input_ids, left_nodes, right_nodes)
    output = columns.outputs[left] != columns.outputs[right]
    passing = np.array([kind in PLUMBING for kind in matching.left.graph.types], dtype=np.bool_)
    rewired = inputs.rewired & ~passing[left_nodes] & (columns.types[left] == columns.types[right])
    changed = itself | inputs.outer | rewired | (output & ~inputs.types)
    states = np.full(len(left), SAME, dtype=np.uint8)
    states[output | inputs.operators] = FOLLOWS
    states[changed] = CHANGED
    return states, rewired


class _InputDifferences(NamedTuple):
    """[p] flags per pair of operators whose inputs are compared in order."""

    outer: Flags  # whether a parameter or constant differs
    operators: Flags  # whether an input from an operator, or their number, differs
    types: Flags  # whether such an input has another type or shape
    rewired: Flags  # whether an input is another operator or parameter than the partner, and both have one


def _input_differences(
    matching: Matching, input_ids: tuple[Offsets, Offsets], left_nodes: Numbers, right_nodes: Numbers
) -> _InputDifferences:
    left, right = matching.left.graph, matching.right.graph
    spans = inputs_of(left, left_nodes), inputs_of(right, right_nodes)
    counts = spans[LEFT][1] - spans[LEFT][0], spans[RIGHT][1] - spans[RIGHT][0]
    common = np.minimum(*counts)
    pairs = np.repeat(np.arange(len(common)), common)
    ranks = np.arange(len(pairs)) - np.repeat(np.cumsum(common) - common, common)
    edges = spans[LEFT][0][pairs] + ranks, spans[RIGHT][0][pairs] + ranks
    sources = left.edges.sources[edges[LEFT]], right.edges.sources[edges[RIGHT]]
    different = (input_ids[LEFT][sources[LEFT]] != input_ids[RIGHT][sources[RIGHT]]) | (
        left.edges.controls[edges[LEFT]] != right.edges.controls[edges[RIGHT]]
    )
    outer = (left.kinds[sources[LEFT]] != OPERATOR) | (right.kinds[sources[RIGHT]] != OPERATOR)
    outputs = matching.columns.outputs
    retyped = outputs[sources[LEFT]] != outputs[sources[RIGHT] + np.int64(matching.columns.left_count)]
    partners = matching.node_partners
    taken = sources[RIGHT] + np.int64(matching.columns.left_count)
    both = (partners[sources[LEFT]] >= 0) & (partners[taken] >= 0) & (partners[sources[LEFT]] != taken)
    even = (counts[LEFT] == counts[RIGHT])[pairs] & ~left.edges.controls[edges[LEFT]]
    states = np.array([kind == "UpdateState" for kind in left.types], dtype=np.bool_)[sources[LEFT]]
    flags = [
        np.zeros(len(common), dtype=bool),
        counts[LEFT] != counts[RIGHT],
        counts[LEFT] != counts[RIGHT],
        np.zeros(len(common), dtype=bool),
    ]
    chosen_edges = (
        different & outer,
        different & ~outer,
        retyped & ~outer,
        different & both & even & ~states,
    )
    for flag, chosen in zip(flags, chosen_edges, strict=True):
        flag[pairs[chosen]] = True
    return _InputDifferences(*flags)


def input_name(graph: Graph, node: int) -> str:
    """Name of a value that an operator takes: of an operator, or of the parameter that a Load reads."""
    if graph.types[node] == "Load":
        begin, end = inputs_of(graph, np.array([node], np.int32))
        if begin[0] < end[0]:
            node = int(graph.edges.sources[begin[0]])
    return graph.names[node].rpartition("/")[2]


def inputs_of(graph: Graph, nodes: Numbers) -> tuple[Offsets, Offsets]:
    """[n] begin and [n] end of the edges into each node."""
    targets = graph.edges.targets
    return np.searchsorted(targets, nodes, "left"), np.searchsorted(targets, nodes, "right")


def list_topmost_differences(comparison: Comparison, side: Side) -> Iterator[int]:
    """Yield the operators that differ; operators of this side alone as the outermost scopes of only such.

    Operators that only follow from others come with their causes, and are not listed.
    """
    tree, states = comparison.trees[side], comparison.states[side].tolist()
    index = 1
    while index < len(tree.paths):
        leaf = tree.is_leaf(index)
        if leaf and states[index] in (CHANGED, ONLY):
            yield index
        elif not leaf and comparison.state(side, index) == ONLY:
            yield index
            index = int(tree.ends[index]) - 1
        index += 1
