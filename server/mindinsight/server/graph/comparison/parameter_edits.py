"""Edits of parameters: weights of other names, in only one graph, or shared by operators in one of them."""

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from mindinsight.server.claims import Claim, few
from mindinsight.server.graph.comparison.graph_comparison import LEFT, ONLY, RIGHT, Comparison, Side
from mindinsight.server.graph.comparison.low_rank_adapters import Adapter
from mindinsight.server.graph.comparison.module_edits import in_lonely_layer
from mindinsight.server.graph.comparison.node_labels import spelling
from mindinsight.server.graph.model.graph import PARAMETER, Flags, Graph
from mindinsight.server.graph.scopes.costs import is_input

_NAMED: Final = 3  # parameters that one sentence names
_NUMBER: Final = re.compile(r"\d+")
_NUMBERED: Final = re.compile(r"[A-Za-z_]*\d+\Z")  # a word and a running number is no name


def shared_claims(comparison: Comparison, forward: list[Flags]) -> Iterator[Claim]:
    """Yield claims about weights that several forward operators share in one graph, but not in the other.

    There is one claim for each direction. Names are those of the left graph.
    """
    columns, partners = comparison.matching.columns, comparison.matching.node_partners
    users = [users_of(graph, flags) for graph, flags in zip(columns.graphs, forward, strict=True)]
    names: tuple[list[str], list[str]] = ([], [])
    for node in np.flatnonzero((columns.kinds == PARAMETER) & (partners >= 0) & columns.is_left()).tolist():
        nodes = node, int(partners[node]) - columns.left_count
        counts = [len(own.get(its, ())) for own, its in zip(users, nodes, strict=True)]
        name = columns.graphs[LEFT].names[node]
        if min(counts) == 1 and max(counts) > 1 and not is_input(columns.graphs[LEFT], node):
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
    comparison: Comparison, forward: list[Flags], adapters: list[list[Adapter]]
) -> Iterator[Claim]:
    """Yield claims about weights of the forward pass that only one graph has, if no other claim implies them.

    Other claims are those about added or removed layers and LoRA, and about inputs of operators of one type.
    Names that both graphs have, or that are a word and a number, are ignored.
    """
    graphs = comparison.matching.columns.graphs
    side: Side
    for side, key in ((LEFT, "claim.graph.parameters_removed"), (RIGHT, "claim.graph.parameters_added")):
        graph, known = graphs[side], set(graphs[1 - side].names)
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
            shown = [members[0] if len(members) == 1 else key for key, members in patterns.items()]
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
    """Yield a claim if most of the matched parameters have other names, with the operators that are matched.

    Names that agree but for a prefix, or for a module around them, are not counted.
    """
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
