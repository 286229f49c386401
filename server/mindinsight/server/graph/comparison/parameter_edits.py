"""Edits of parameters: weights of other names, in only one graph, or shared by operators in one of them."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.graph.comparison.graph_comparison import (
    LEFT,
    ONLY,
    RIGHT,
    Comparison,
    Side,
    sources_of_pair,
)
from mindinsight.server.graph.comparison.low_rank_adapters import Adapter
from mindinsight.server.graph.comparison.module_edits import in_lonely_layer
from mindinsight.server.graph.comparison.node_labels import spelling
from mindinsight.server.graph.comparison.shared_layers import LAYER
from mindinsight.server.graph.model.graph import PARAMETER, Flags, Graph
from mindinsight.server.graph.scopes.costs import is_input
from mindinsight.server.graph.scopes.folding import merged

_NAMED: Final = 3  # parameters that one sentence names
_LAYERS: Final = 6  # layers that one sentence names
_NUMBER: Final = re.compile(r"\d+")
_NUMBERED: Final = re.compile(r"[A-Za-z_]*\d+\Z")  # a word and a running number is no name


class Borrowed(NamedTuple):
    """Weights of layers that one graph does not use, because the layers use those of other layers there."""

    side: Side  # graph in which the layers use other weights
    names: dict[str, str]  # of the weights and of those used instead, in the opposite graph
    operators: set[int]  # that use them, nodes of the left graph


def find_borrowed(comparison: Comparison) -> list[Borrowed]:
    """Return for each graph the other graph's weights that it replaces by one of another layer. All
    operators that such a weight has in the other graph use the same other weight instead."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    instead: tuple[dict[int, set[tuple[int, int]]], ...] = ({}, {})  # by side and weight of the other one
    for node in comparison.rewired.tolist():
        index = int(comparison.partners[LEFT][comparison.trees[LEFT].leaf_indices[node]])
        nodes = node, int(comparison.trees[RIGHT].nodes[index])
        sources = zip(*sources_of_pair(comparison.matching, nodes), strict=False)
        for pair in ((left, right + columns.left_count) for left, right in sources):
            if partners[pair[LEFT]] != pair[RIGHT] and (columns.kinds[[*pair]] == PARAMETER).all():
                for side in (LEFT, RIGHT):
                    instead[side].setdefault(pair[1 - side], set()).add((int(partners[pair[side]]), node))
    names = [name for graph in columns.graphs for name in graph.names]
    used = set(columns.sources.tolist())
    by_side = []
    sides: tuple[Side, ...] = (LEFT, RIGHT)
    for side in sides:
        borrowed = Borrowed(side, {}, set())
        for weight, uses in instead[side].items():
            others = {other for other, _ in uses}
            other = others.pop()
            if others or other < 0 or (partners[weight] >= 0 and int(partners[weight]) in used):
                continue
            before, after = names[weight], names[other]
            if LAYER.search(before) and LAYER.sub("*", before) == LAYER.sub("*", after):
                borrowed.names[before] = after
                borrowed.operators.update(node for _, node in uses)
        by_side.append(borrowed)
    return by_side


def borrowed_claims(comparison: Comparison, borrowed: list[Borrowed]) -> Iterator[Claim]:
    """Yield a claim for each layer, or module or weight of a layer, that is used instead of others."""
    for side, names, _ in borrowed:
        graph = comparison.matching.columns.graphs[1 - side]
        parameters = [graph.names[node] for node in np.flatnonzero(graph.kinds == PARAMETER).tolist()]
        sizes = Counter(prefix for name in parameters for prefix in _prefixes(name))
        pairs = {
            name: list(zip(_prefixes(name), _prefixes(other), strict=True)) for name, other in names.items()
        }
        shares = Counter(pair for prefixes in pairs.values() for pair in prefixes)
        users: dict[str, dict[str, None]] = {}
        for prefixes in pairs.values():
            module, owner = next(
                (pair for pair in prefixes if pair[0] != pair[1] and shares[pair] == sizes[pair[0]]),
                prefixes[-1],
            )
            users.setdefault(owner, {})[module] = None
        key = ("claim.graph.own_weights", "claim.graph.borrowed_weights")[side]
        for owner, modules in users.items():
            yield Claim(key, "found", {"n": len(modules), "names": few([*modules], _LAYERS), "owner": owner})


def _prefixes(name: str) -> list[str]:
    """Return the beginnings of a dotted name: its first part, its first two, and so on."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def shared_claims(comparison: Comparison, forward: list[Flags], borrowed: list[Borrowed]) -> Iterator[Claim]:
    """Yield claims about weights that several forward operators share in one graph, but not in the other.
    ``forward`` flags these operators in each graph. There is one claim for each direction, without the
    weights that are borrowed. Names are those of the left graph."""
    owners = {other for some in borrowed for other in some.names.values()}
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    users = [users_of(graph, flags) for graph, flags in zip(columns.graphs, forward, strict=True)]
    names: tuple[list[str], list[str]] = ([], [])
    for node in np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left()).tolist():
        nodes = node, int(partners[node]) - columns.left_count
        counts = [len(own.get(its, ())) for own, its in zip(users, nodes, strict=True)]
        name = columns.graphs[LEFT].names[node]
        weight = name not in owners and not is_input(columns.graphs[LEFT], node)
        if min(counts) == 1 and max(counts) > 1 and weight:
            names[counts[RIGHT] > 1].append(name)
    for key, shared in zip(("claim.graph.unshared", "claim.graph.shared"), names, strict=True):
        if shared:
            yield Claim(key, "found", {"n": len(shared), "names": few(shared, _NAMED)})


def users_of(graph: Graph, forward: Flags) -> dict[int, set[int]]:
    """Return the operators of the forward pass that use each parameter, directly or by a Load."""
    users: dict[int, set[int]] = {}
    for source, target in zip(graph.edges.sources.tolist(), graph.edges.targets.tolist(), strict=True):
        loaded = graph.inputs_of(source) if graph.types[source] == "Load" else []
        origin = loaded[0] if loaded else source
        if graph.kinds[origin] == PARAMETER and forward[target]:
            users.setdefault(origin, set()).add(target)
    return users


def parameter_claims(
    comparison: Comparison,
    forward: list[Flags],
    adapters: list[list[Adapter]],
    borrowed: list[Borrowed],
) -> Iterator[Claim]:
    """Yield claims about weights of the forward pass that only one graph has, if no other claim implies them.

    Other claims are those about added or removed layers and LoRA, about inputs of operators of one type, and
    about borrowed weights.
    Names that both graphs have, or that are a word and a number, are ignored.
    """
    graphs = comparison.matching.columns.graphs
    side: Side
    for side, key in ((LEFT, "claim.graph.parameters_removed"), (RIGHT, "claim.graph.parameters_added")):
        graph, known = graphs[side], {*graphs[1 - side].names, *borrowed[1 - side].names}
        implied = {node for adapter in adapters[side] for node in adapter.nodes}
        names = []
        for node, users in sorted(users_of(graph, forward[side]).items()):
            name = graph.names[node]
            if _is_alone(comparison, side, node) and name not in known and not is_input(graph, node):
                is_edit = not _NUMBERED.match(name) and not all(
                    user in implied or _is_implied(comparison, side, user) for user in users
                )
                names += [name] if is_edit else []
        if names:
            patterns: dict[str, list[str]] = {}
            for name in names:
                patterns.setdefault(_NUMBER.sub("*", name), []).append(name)
            shown = [merged(members) for members in patterns.values()]
            yield Claim(key, "found", {"n": len(names), "names": few(shown, _NAMED)})


def _is_alone(comparison: Comparison, side: Side, node: int) -> bool:
    matching = comparison.matching
    return bool(matching.node_partners[node + matching.columns.left_count * side] < 0)


def _is_implied(comparison: Comparison, side: Side, user: int) -> bool:
    """Return True if another claim, about layers or inputs, already implies that an operator's parameters
    differ."""
    tree, opposite = comparison.trees[side], comparison.trees[1 - side]
    leaf = int(tree.leaf_indices[user])
    partner = int(comparison.partners[side][leaf])
    if partner < 0:
        return in_lonely_layer(comparison, side, leaf)
    return spelling(tree.types[leaf]) == spelling(opposite.types[partner])


def naming_claims(comparison: Comparison) -> Iterator[Claim]:
    """Yield a claim if most of the matched parameters have other names, with the operators that are
    matched. Names that agree but for a prefix, or for a module around them, are not counted."""
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    left, right = columns.graphs
    parameters = np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left()).tolist()
    weights = [node for node in parameters if not is_input(left, node)]
    names = [(left.names[node], right.names[int(partners[node]) - columns.left_count]) for node in weights]
    if 2 * sum(_agree(*own) for own in names) < len(names):
        operators = [int(np.count_nonzero(tree.nodes >= 0)) for tree in comparison.trees]
        matched = operators[LEFT] - int(np.count_nonzero(comparison.states[LEFT] == ONLY))
        values = {"n": matched, "left": operators[LEFT], "right": operators[RIGHT]}
        yield Claim("claim.graph.names_differ", "note", values)


def _agree(before: str, after: str) -> bool:
    """Return True if two names end in the same two parts, or one has all parts of the other in order."""
    short, long = sorted((before.split("."), after.split(".")), key=len)
    rest = iter(long)
    return short[-2:] == long[-2:] or all(part in rest for part in short)
