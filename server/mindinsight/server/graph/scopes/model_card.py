"""Outline of the network of a graph: its parts in order, repeated layers once with their number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from mindinsight.server.graph.model.graph import Numbers
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.folding import REPEAT, REST, in_file_order
from mindinsight.server.graph.scopes.initial_scopes import forward_weights
from mindinsight.server.graph.scopes.tree import ROOT, Tree

_MOST: Final = 40  # parts of one scope
_DEPTH: Final = 3
_SHARE: Final = 0.8  # of the operators of a scope; a part that holds so many is looked into


@dataclass(slots=True)
class Part:
    """A scope, or an operator with parameters beside the scopes; of repeated layers the first is inside."""

    index: int
    inside: list[Part] = field(default_factory=list)


def model_parts(tree: Tree, costs: Costs) -> tuple[int, list[Part]]:
    """The scope that is the network, and its parts in order of execution."""
    weights = forward_weights(tree)
    network = _network(tree, weights)
    return network, _parts(tree, costs, weights, network, _DEPTH)


def _network(tree: Tree, weights: Numbers) -> int:
    """The innermost scope that holds most of the forward pass."""
    scope = ROOT
    while True:
        inner = [
            child
            for child in tree.children(scope)
            if tree.nodes[child] < 0
            and weights[child] >= _SHARE * weights[scope]
            and any(tree.nodes[part] < 0 for part in tree.children(child))
        ]
        if not inner or tree.types[inner[0]] == REPEAT or _only_repeats(tree, inner[0]) is not None:
            return scope
        scope = inner[0]


def _only_repeats(tree: Tree, index: int) -> int | None:
    """The repeated layers that a scope consists of."""
    children = tree.children(index)
    return children[0] if len(children) == 1 and tree.types[children[0]] == REPEAT else None


def _parts(tree: Tree, costs: Costs, weights: Numbers, scope: int, depth: int) -> list[Part]:
    parts: list[Part] = []
    for child in in_file_order(tree, tree.children(scope)):
        if tree.types[child] == REST or (
            tree.nodes[child] >= 0 and (depth < _DEPTH or not costs.parameters[child])
        ):
            continue
        if not weights[child] or len(parts) == _MOST:
            continue
        repeats = _only_repeats(tree, child)
        part = Part(child if repeats is None else repeats)
        inner = part.index
        if tree.types[inner] == REPEAT:
            inner = in_file_order(tree, tree.children(inner))[0]
        if depth > 1 and tree.nodes[inner] < 0:
            part.inside = _parts(tree, costs, weights, inner, depth - 1)
        parts.append(part)
    return parts
