"""Comparison of two graphs: operators that are equal, differ or moved, and the edits between them."""

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from mindinsight.server.graph.comparison.input_pairing import is_lost, paired_inputs
from mindinsight.server.graph.comparison.tree_matching import Matching, match
from mindinsight.server.graph.model.graph import (
    BACKWARD,
    CONSTANT,
    OPERATOR,
    PARAMETER,
    Codes,
    Flags,
    Graph,
    Numbers,
    Offsets,
)
from mindinsight.server.graph.model.node_details import different_attributes, different_constants, output_of
from mindinsight.server.graph.scopes.folding import merged
from mindinsight.server.graph.scopes.scope_tree import PLUMBING, Tree

Side: TypeAlias = Literal[0, 1]  # the left and the right graph
LEFT: Final = 0
RIGHT: Final = 1

SAME: Final = 0
CHANGED: Final = 1
ONLY: Final = 2
FOLLOWS: Final = 3  # equal, but its inputs differ


@dataclass(frozen=True, slots=True)
class BoxCounts:
    """Counts of the operators in a box by state."""

    operators: int
    changed: int  # different from their partners
    only: int  # without a partner
    follows: int  # equal, with different inputs
    missing: int  # operators of the box's partner without a partner


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of a comparison of two graphs: partner and state of each index of both trees.

    Each tuple has one element for LEFT and one for RIGHT. [t]: one element per index of that side's tree.
    """

    trees: tuple[Tree, Tree]
    partners: tuple[Numbers, Numbers]  # [t] index in the other tree, -1 for none
    states: tuple[Codes, Codes]  # [t] of operators SAME, CHANGED, ONLY or FOLLOWS; of boxes SAME
    matching: Matching
    input_ids: tuple[Offsets, Offsets]  # [nodes] numbers that are equal for equal inputs in both graphs
    totals: tuple[Offsets, Offsets]  # [4, t + 1] operators, changed, only, follows: sums before each index
    rewired: Offsets  # [r] nodes of the left graph that receive another value, if both have partners

    def box_counts(self, side: Side, index: int) -> BoxCounts:
        """Return the counts of a box, or of one operator."""
        operators, changed, only, follows = self._sums(side, index)
        partner = int(self.partners[side][index])
        missing = self._sums(RIGHT if side == LEFT else LEFT, partner)[2] if partner >= 0 else 0
        return BoxCounts(operators, changed, only, follows, missing)

    def state(self, side: Side, index: int) -> int:
        """Return the state of a subtree: SAME, CHANGED, ONLY or FOLLOWS. ONLY: the other graph has no part
        of the subtree. FOLLOWS: only inputs of its operators differ."""
        sums = self.box_counts(side, index)
        if self.partners[side][index] < 0 and sums.only == sums.operators:
            return ONLY
        if sums.changed or sums.only or sums.missing:
            return CHANGED
        return FOLLOWS if sums.follows else SAME

    def sources_of(self, left_node: int, right_node: int) -> tuple[int, int] | None:
        """Return the first two corresponding inputs of a pair that differ, as nodes of their graphs, or
        None."""
        left, right = (tree.graph for tree in self.trees)
        for before, after in zip(left.inputs_of(left_node), right.inputs_of(right_node), strict=False):
            if self.input_ids[LEFT][before] != self.input_ids[RIGHT][after]:
                return before, after
        return None

    def operands_of(self, left_node: int, right_node: int) -> tuple[list[str], list[str]] | None:
        """Return the names of a pair's inputs on each side if both have the same inputs in another order,
        else None."""
        names: list[list[str]] = []
        ids: list[list[int]] = []
        for tree, own, node in zip(self.trees, self.input_ids, (left_node, right_node), strict=True):
            sources = tree.graph.inputs_of(node)
            ids.append([int(own[source]) for source in sources])
            names.append([input_name(tree.graph, source, node) for source in sources])
        swapped = ids[LEFT] != ids[RIGHT] and sorted(ids[LEFT]) == sorted(ids[RIGHT])
        return (names[LEFT], names[RIGHT]) if swapped else None

    def returned(self) -> tuple[list[str], list[str]] | None:
        """Return the names of both graphs' outputs if these differ, or None. Return None also if a graph
        records no outputs, or an output has no partner in the other graph."""
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
    """Return the comparison of two graphs, operator by operator.

    Partners are CHANGED if they differ in type, attributes, a parameter or constant that they use, in the
    number of inputs that both graphs have, or in their output although all inputs have equal types. They
    FOLLOW if only their inputs from operators differ: other operators, or other types and shapes.
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
    """Return [4, t + 1] the sums of operators, changed, only and follows before each index."""
    marks = np.stack([tree.nodes >= 0, states == CHANGED, states == ONLY, states == FOLLOWS])
    return np.concatenate([np.zeros((len(marks), 1), dtype=np.int64), np.cumsum(marks, axis=1)], axis=1)


def _input_identities(matching: Matching) -> tuple[Offsets, Offsets]:
    """Return [n] a number for every node of both graphs, equal for nodes that are the same input. Partners
    are the same input, but parameters only if their types are equal, too. Constants are compared by value."""
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
    """Return [p] the state of each pair of operators, and [p] True for pairs with other inputs (rewired)."""
    columns = matching.columns
    left, right = left_nodes.astype(np.int64), right_nodes + np.int64(columns.left_count)
    types = [[tree.graph.types[node] for node in nodes.tolist()]
             for tree, nodes in ((matching.left, left_nodes), (matching.right, right_nodes))]  # fmt: skip
    respelled = np.array([before != after for before, after in zip(*types, strict=True)], dtype=np.bool_)
    itself = respelled | (columns.attributes[left] != columns.attributes[right])
    inputs = _input_differences(matching, input_ids, left_nodes, right_nodes)
    output = columns.outputs[left] != columns.outputs[right]
    passing = np.array([kind in PLUMBING for kind in matching.left.graph.types], dtype=np.bool_)
    rewired = inputs.rewired & ~passing[left_nodes] & (columns.types[left] == columns.types[right])
    changed = itself | inputs.outer | rewired | (output & ~inputs.types)
    for position in np.flatnonzero(inputs.uneven & ~passing[left_nodes] & ~changed).tolist():
        nodes = int(left_nodes[position]), int(right_nodes[position])
        changed[position] = any(_other_input(matching, input_ids, nodes))
    turned = _turned(matching, input_ids, left_nodes, right_nodes, inputs.outer | rewired)
    rewired &= ~turned
    changed &= ~turned | itself
    states = np.full(len(left), SAME, dtype=np.uint8)
    states[output | inputs.operators | turned] = FOLLOWS
    states[changed] = CHANGED
    return states, rewired


COMMUTATIVE: Final = frozenset({"Add", "TensorAdd", "Mul", "Maximum", "Minimum"})  # of two inputs


def _turned(
    matching: Matching,
    input_ids: tuple[Offsets, Offsets],
    left_nodes: Numbers,
    right_nodes: Numbers,
    differing: Flags,
) -> Flags:
    """Return [p] True for pairs of commutative operators with the same two inputs in another order."""
    turned = np.zeros(len(left_nodes), dtype=np.bool_)
    for position in np.flatnonzero(differing).tolist():
        nodes = int(left_nodes[position]), int(right_nodes[position])
        if matching.left.graph.types[nodes[LEFT]] not in COMMUTATIVE:
            continue
        ids = [
            own[sources].tolist()
            for own, sources in zip(input_ids, sources_of_pair(matching, nodes), strict=True)
        ]
        turned[position] = len(ids[LEFT]) == 2 and ids[LEFT] == ids[RIGHT][::-1]
    return turned


def sources_of_pair(matching: Matching, nodes: tuple[int, int]) -> list[list[int]]:
    """Return the inputs of the two nodes of a pair in order, one list for each graph."""
    trees = matching.left, matching.right
    return [tree.graph.inputs_of(node) for tree, node in zip(trees, nodes, strict=True)]


class _InputDifferences(NamedTuple):
    """Flags [p] of how the inputs of two matched operators differ, compared in order."""

    outer: Flags  # a parameter or constant differs, of as many
    uneven: Flags  # the number of inputs differs
    operators: Flags  # an input from an operator differs, or the number of inputs
    types: Flags  # such an input has another type or shape
    rewired: Flags  # an input is not the partner: both have one, or one of two parameters has


def _input_differences(
    matching: Matching, input_ids: tuple[Offsets, Offsets], left_nodes: Numbers, right_nodes: Numbers
) -> _InputDifferences:
    """Return flags [pairs] of the ways in which the inputs of matched operators differ."""
    left, right = matching.left.graph, matching.right.graph
    spans = _input_spans(left, left_nodes), _input_spans(right, right_nodes)
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
    given = partners[sources[LEFT]] >= 0, partners[taken] >= 0
    parameters = _are_parameters(left, sources[LEFT]) & _are_parameters(right, sources[RIGHT])
    both = ((given[LEFT] & given[RIGHT]) | (parameters & (given[LEFT] | given[RIGHT]))) & (
        partners[sources[LEFT]] != taken
    )
    even = (counts[LEFT] == counts[RIGHT])[pairs] & ~left.edges.controls[edges[LEFT]]
    states = np.array([kind == "UpdateState" for kind in left.types], dtype=np.bool_)[sources[LEFT]]
    uneven = counts[LEFT] != counts[RIGHT]
    flags = _InputDifferences(
        np.zeros_like(uneven), uneven, uneven.copy(), uneven.copy(), np.zeros_like(uneven)
    )
    for flag, chosen in (
        (flags.outer, different & outer & ~uneven[pairs]),
        (flags.operators, different & ~outer),
        (flags.types, retyped & ~outer),
        (flags.rewired, different & both & even & ~states),
    ):
        flag[pairs[chosen]] = True
    return flags


def _other_input(
    matching: Matching, input_ids: tuple[Offsets, Offsets], nodes: tuple[int, int]
) -> Iterator[bool]:
    """Yield for each input whether it differs from its counterpart, for operators with unequal input
    counts. It differs if it is another parameter or constant, or lost (`is_lost`)."""
    graphs = matching.left.graph, matching.right.graph
    for pair in paired_inputs(matching, input_ids, nodes):
        yield is_lost(matching, pair) or (
            min(pair) >= 0
            and any(graph.kinds[node] != OPERATOR for graph, node in zip(graphs, pair, strict=True))
            and bool(input_ids[LEFT][pair[LEFT]] != input_ids[RIGHT][pair[RIGHT]])
        )


def _are_parameters(graph: Graph, nodes: Numbers) -> Flags:
    """Return [n] True for nodes that are parameters or read a parameter."""
    loads = np.array([kind == "Load" for kind in graph.types], dtype=np.bool_)
    flags: Flags = (graph.kinds[nodes] == PARAMETER) | loads[nodes]
    return flags


def input_name(graph: Graph, node: int, user: int = -1) -> str:
    """Return the name to show for an input node. For a Load it is the name of the parameter that it reads.
    The innermost scope precedes it if the operator ``user`` lies in another scope."""
    if graph.types[node] == "Load":
        node = next(iter(graph.inputs_of(node)), node)
    scope, _, name = graph.names[node].rpartition("/")
    shown = scope.rpartition("/")[2]
    elsewhere = user >= 0 and scope != graph.names[user].rpartition("/")[0]
    return f"{shown}/{name}" if elsewhere and shown else name


def _input_spans(graph: Graph, nodes: Numbers) -> tuple[Offsets, Offsets]:
    """Return [n] the first and [n] one past the last edge into each node."""
    targets = graph.edges.targets
    return np.searchsorted(targets, nodes, "left"), np.searchsorted(targets, nodes, "right")


def list_topmost_differences(comparison: Comparison, side: Side) -> Iterator[int]:
    """Yield the tree indices of operators that are CHANGED or ONLY, and of scopes that are ONLY,
    ascending. Such a scope is yielded instead of its contents. Operators in state FOLLOWS, equal ones with
    different inputs, are omitted."""
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


Kind: TypeAlias = Literal[
    "rewired", "swapped", "returned", "scope_removed", "scope_added", "replaced", "input_removed",
    "input_added", "resized", "retyped", "attribute", "constant", "output", "removed", "added", "renamed",
]  # fmt: skip
_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)  # in the order of a list
_NUMBER: Final = re.compile(r"\d+")
_MOST_DETAILS: Final = 5000  # limit of changed operators to decode attributes and inputs of


@dataclass(frozen=True, slots=True)
class Edit:
    """Edit between two graphs: the common properties of equal changes, and the number of these changes."""

    kind: Kind
    subject: str  # changed type of operators, parameter or attribute, "" if left and right say it
    left: str  # value in the left graph, "" without one
    right: str
    count: int
    position: tuple[int, int]  # tree indices of the first occurrence, -1 for none
    consequence: bool  # bookkeeping, backward pass or optimizer, next to an edit of the network


class Change(NamedTuple):
    """One change between two graphs: its kind and subject, and the values on both sides.

    Changes with equal kind and key become one `Edit`.
    """

    kind: Kind
    key: Hashable
    subject: str
    left: str
    right: str
    position: tuple[int, int]  # tree indices, left and right, -1 for none


def list_edits(comparison: Comparison) -> list[Edit]:
    """Return the grouped changes of a comparison, those that only follow from others last. Whole scopes
    come first, then the edits by kind, in the order of the graph."""
    groups: dict[Hashable, list[Change]] = {}
    for change in (
        *_one_sided(comparison),
        *_operators(comparison),
        *_parameters(comparison),
        *_returned(comparison),
    ):
        groups.setdefault((change.kind, change.key), []).append(change)
    edits = [_edit(comparison, changes) for changes in groups.values()]
    if all(edit.consequence for edit in edits):
        edits = [replace(edit, consequence=False) for edit in edits]
    return sorted(edits, key=lambda edit: (edit.consequence, _KINDS.index(edit.kind), max(edit.position)))


def _edit(comparison: Comparison, changes: list[Change]) -> Edit:
    """Return one edit for changes with the same kind and key."""
    first = changes[0]
    subject, left, right = (
        merged(texts)
        for texts in zip(*((change.subject, change.left, change.right) for change in changes), strict=True)
    )
    follows = all(_follows(comparison, change.position) for change in changes)
    return Edit(first.kind, subject, left, right, len(changes), first.position, follows)


def _follows(comparison: Comparison, position: tuple[int, int]) -> bool:
    """Return True if a position belongs to bookkeeping, the backward pass or the optimizer."""
    return any(
        index >= 0
        and (
            tree.types[index] in PLUMBING
            or tree.paths[index].startswith(BACKWARD)
            or "optimizer" in tree.paths[index]
        )
        for tree, index in zip(comparison.trees, position, strict=True)
    )


def _one_sided(comparison: Comparison) -> Iterator[Change]:
    """Yield the scopes and operators that only one graph has."""
    side: Side
    for side in (LEFT, RIGHT):
        tree = comparison.trees[side]
        for index in list_topmost_differences(comparison, side):
            if comparison.state(side, index) != ONLY:
                continue
            position = (index, -1) if side == LEFT else (-1, index)
            leaf = tree.is_leaf(index)
            name = tree.types[index] if leaf else "/".join(tree.paths[index].split("/")[-2:])
            texts = (name, "") if side == LEFT else ("", name)
            kind: Kind = ("removed", "added")[side] if leaf else ("scope_removed", "scope_added")[side]
            yield Change(kind, _NUMBER.sub("*", name), "", *texts, position)


def _operators(comparison: Comparison) -> Iterator[Change]:
    """Yield the changes of operators that differ themselves."""
    left, right = comparison.trees
    changed = np.flatnonzero((comparison.states[LEFT] == CHANGED) & (left.nodes >= 0))
    rewired = set(comparison.rewired.tolist())
    for index in changed[:_MOST_DETAILS].tolist():
        other = int(comparison.partners[LEFT][index])
        position = index, other
        nodes = int(left.nodes[index]), int(right.nodes[other])
        kinds = left.types[index], right.types[other]
        if kinds[LEFT] != kinds[RIGHT]:
            yield Change("replaced", kinds, "", *kinds, position)
            continue
        subject = "/".join(left.paths[index].split("/")[-2:])
        if nodes[LEFT] in rewired and (operands := comparison.operands_of(*nodes)):
            yield Change(
                "swapped", subject, subject, ", ".join(operands[LEFT]), ", ".join(operands[RIGHT]), position
            )
            continue
        if nodes[LEFT] in rewired and (sources := comparison.sources_of(*nodes)):
            before, after = (
                input_name(tree.graph, source, node)
                for tree, source, node in zip(comparison.trees, sources, nodes, strict=True)
            )
            yield Change("rewired", subject, subject, before, after, position)
            continue
        yield from pair_changes(comparison, nodes, position)


def pair_changes(comparison: Comparison, nodes: tuple[int, int], position: tuple[int, int]) -> list[Change]:
    """Return the changed attributes, constants and inputs of a pair of nodes of one type. If none changed,
    return the change of its output, or [] if that is equal or the pair has other parameters or constants as
    inputs."""
    changes = [
        *attribute_changes(comparison, nodes, position),
        *constant_changes(comparison, nodes, position),
        *input_changes(comparison, nodes, position),
    ]
    if changes or _uses_other_parameters(comparison, nodes):
        return changes
    outputs = [output_of(tree.graph, node) for tree, node in zip(comparison.trees, nodes, strict=True)]
    texts = [output.compact for output in outputs]
    if texts[LEFT] == texts[RIGHT]:  # tuples of one length
        texts = [output.text for output in outputs]
    if texts[LEFT] == texts[RIGHT]:
        return []
    kind = comparison.trees[LEFT].types[position[LEFT]]
    before, after = paired_types(*texts)
    return [Change("output", (kind, before, after), kind, before, after, position)]


def attribute_changes(
    comparison: Comparison, nodes: tuple[int, int], position: tuple[int, int]
) -> Iterator[Change]:
    """Yield the changes of attributes that differ between the operators of a pair."""
    columns = comparison.matching.columns
    if columns.attributes[nodes[LEFT]] == columns.attributes[nodes[RIGHT] + columns.left_count]:
        return
    left, right = ((tree.graph, node) for tree, node in zip(comparison.trees, nodes, strict=True))
    kind = comparison.trees[LEFT].types[position[LEFT]]
    for name, texts in different_attributes(left, right):
        yield Change("attribute", (kind, name, texts), f"{kind} {name}", *texts, position)


def constant_changes(
    comparison: Comparison, nodes: tuple[int, int], position: tuple[int, int]
) -> Iterator[Change]:
    """Yield the changes of inputs of a pair that are constants in both graphs and differ."""
    kind = comparison.trees[LEFT].types[position[LEFT]]
    for slot, sources in enumerate(paired_inputs(comparison.matching, comparison.input_ids, nodes)):
        if min(sources) < 0:
            continue
        left, right = ((tree.graph, source) for tree, source in zip(comparison.trees, sources, strict=True))
        same = comparison.input_ids[LEFT][sources[LEFT]] == comparison.input_ids[RIGHT][sources[RIGHT]]
        if _is(left, CONSTANT) and _is(right, CONSTANT) and not same:
            texts = different_constants(left, right)
            yield Change("constant", (kind, slot, texts), f"{kind}[{slot}]", *texts, position)


def input_changes(
    comparison: Comparison, nodes: tuple[int, int], position: tuple[int, int]
) -> Iterator[Change]:
    """Yield the changes that one operator of a pair lacks an input that both graphs have."""
    for pair in paired_inputs(comparison.matching, comparison.input_ids, nodes):
        if is_lost(comparison.matching, pair):
            side: Side = LEFT if pair[LEFT] >= 0 else RIGHT
            subject = "/".join(comparison.trees[side].paths[position[side]].split("/")[-2:])
            name = input_name(comparison.trees[side].graph, pair[side], nodes[side])
            texts = (name, "") if side == LEFT else ("", name)
            key = _NUMBER.sub("*", subject), _NUMBER.sub("*", name)
            yield Change(("input_removed", "input_added")[side], key, subject, *texts, position)


def _is(node: tuple[Graph, int], kind: int) -> bool:
    return bool(node[0].kinds[node[1]] == kind)


def _uses_other_parameters(comparison: Comparison, nodes: tuple[int, int]) -> bool:
    """Return True if a pair uses different parameters or constants."""
    ids = [
        {
            int(comparison.input_ids[side][source])
            for source in sources
            if comparison.trees[side].graph.kinds[source] != OPERATOR
        }
        for side, sources in enumerate(sources_of_pair(comparison.matching, nodes))
    ]
    return ids[LEFT] != ids[RIGHT]


def _parameters(comparison: Comparison) -> Iterator[Change]:
    """Yield the parameters whose shape, type or name changed."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    left, right = comparison.trees
    matched = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left())
    for node in matched.tolist():
        other = int(partners[node]) - columns.left_count
        names = left.graph.names[node], right.graph.names[other]
        if columns.outputs[node] != columns.outputs[partners[node]]:
            texts = output_of(left.graph, node).compact, output_of(right.graph, other).compact
            key = _NUMBER.sub("*", names[LEFT]), texts
            position = first_users(comparison, node, other)
            kind: Kind = "retyped" if is_retyped(left.graph, node, right.graph, other) else "resized"
            yield Change(kind, key, names[LEFT], *paired_types(*texts), position)
        if names[LEFT] != names[RIGHT]:
            yield Change("renamed", None, "", *names, first_users(comparison, node, other))


def is_retyped(left: Graph, node: int, right: Graph, other: int) -> bool:
    """Return True if the outputs of two nodes have different element types and equal shapes."""
    before, after = output_of(left, node), output_of(right, other)
    return before.type != after.type and before.shapes == after.shapes


def _returned(comparison: Comparison) -> Iterator[Change]:
    """Yield the outputs of the graphs if they differ and both graphs have them."""
    if returned := comparison.returned():
        nodes = [int(graph.outputs[0]) for graph in comparison.matching.columns.graphs]
        places = [int(tree.leaf_indices[node]) for tree, node in zip(comparison.trees, nodes, strict=True)]
        texts = ", ".join(returned[LEFT]), ", ".join(returned[RIGHT])
        yield Change("returned", None, "", *texts, (places[LEFT], places[RIGHT]))


def paired_types(left: str, right: str) -> tuple[str, str]:
    """Return both types. The second lacks its element type if that is equal: float32 2×3, 2×4."""
    element, _, shape = right.partition(" ")
    return left, shape if shape and element[0] != "(" and left.startswith(f"{element} ") else right


def first_users(comparison: Comparison, left_node: int, right_node: int) -> tuple[int, int]:
    """Return the tree indices of the first operator that uses a parameter in each graph, -1 for none."""
    users = []
    for tree, node in zip(comparison.trees, (left_node, right_node), strict=True):
        targets = tree.graph.edges.targets[tree.graph.edges.sources == node]
        users.append(int(tree.leaf_indices[targets[0]]) if len(targets) else -1)
    return users[LEFT], users[RIGHT]
