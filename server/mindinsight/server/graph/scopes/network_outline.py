"""Outline of a network: its parts in order, repeated layers once, and the scopes that are open at first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import OPERATOR, Offsets, training_operators
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.folding import REPEAT, REST, in_file_order
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree

_COMFORTABLE: Final = 26  # boxes that are legible on one screen
_FEW: Final = 8  # closed boxes below which a drawing shows too little
_MOST: Final = 100  # limit of boxes: with their lines about 300 elements


def choose_initial_scopes(tree: Tree) -> list[int]:
    """Return the scopes to open at first, ascending.

    The scope with the most operators is opened first, while the drawing stays legible. Only scopes that hold
    scopes count, down to the first level of repeated layers. If that leaves too little to see (a chain of
    scopes, or one wide scope that holds everything), any scope is opened.
    """
    weights = forward_weights(tree)
    opened: set[int] = set()
    box_count = int(tree.counts[ROOT])
    while (scope := _heaviest(tree, opened, weights, _COMFORTABLE - box_count, structural=True)) is not None:
        opened.add(scope)
        box_count += int(tree.counts[scope])
    while box_count - len(opened) < _FEW:
        scope = _heaviest(tree, opened, weights, _MOST - box_count)
        if scope is None:
            break
        opened.add(scope)
        box_count += int(tree.counts[scope])
    return sorted(opened)


def _heaviest(
    tree: Tree, opened: set[int], weights: Offsets, most: int, structural: bool = False
) -> int | None:
    """Return the visible closed scope of the greatest weight with at most ``most`` children, or None. Of
    equal ones the first. ``structural`` admits only scopes that hold scopes, not below a repeated layer."""
    closed = [
        child
        for index in (ROOT, *opened)
        if not (structural and index and tree.types[tree.parents[index]] == REPEAT)
        for child in tree.children(index)
        if tree.nodes[child] < 0 and child not in opened and weights[child] and tree.types[child] != REST
    ]
    fitting = [
        child
        for child in closed
        if tree.counts[child] <= most
        and not (structural and all(tree.nodes[inner] >= 0 for inner in tree.children(child)))
    ]
    return max(fitting, key=lambda index: (int(weights[index]), -index), default=None)


def forward_weights(tree: Tree) -> Offsets:
    """Return [t] the number of forward operators in each subtree, or of all operators if none is forward."""
    forward = tree.graph.kinds == OPERATOR
    training = training_operators(tree.graph)
    if np.any(forward & ~training):
        forward &= ~training
    leaves = np.flatnonzero(tree.nodes >= 0)
    counted = np.zeros(len(tree.paths), dtype=np.int64)
    counted[leaves] = forward[tree.nodes[leaves]]
    return tree.sums(counted)


_MOST_PARTS: Final = 40  # limit of the parts of one scope
_DEPTH: Final = 3  # levels of nested parts
_SHARE: Final = 0.8  # share of a scope's operators from which a scope inside it is taken for the network


@dataclass(slots=True)
class Part:
    """Entry of the model card: a scope, or an operator with parameters, with its nested entries.

    Of repeated layers only the first is nested.
    """

    index: int
    inside: list[Part] = field(default_factory=list)


def model_parts(tree: Tree, costs: Costs) -> tuple[int, list[Part]]:
    """Return the scope that is the network, and its parts in order of execution."""
    weights = forward_weights(tree)
    network = _network(tree, weights, costs)
    return network, _parts(tree, costs, weights, network, _DEPTH)


def _network(tree: Tree, weights: Offsets, costs: Costs) -> int:
    """Return the innermost scope that holds most of the forward pass, and all of its parameters."""
    scope = ROOT
    while True:
        beside = [child for child in tree.children(scope) if weights[child] and costs.parameters[child]]
        if len(beside) > 1:
            return scope
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
    """Return the box of the repeated layers that a scope consists of, or None."""
    children = tree.children(index)
    return children[0] if len(children) == 1 and tree.types[children[0]] == REPEAT else None


def _parts(tree: Tree, costs: Costs, weights: Offsets, scope: int, depth: int) -> list[Part]:
    """Return the parts of a scope with ``depth`` levels of nested parts."""
    parts: list[Part] = []
    for child in in_file_order(tree, tree.children(scope)):
        if tree.types[child] == REST or (
            tree.nodes[child] >= 0 and (depth < _DEPTH or not costs.parameters[child])
        ):
            continue
        if not weights[child] or len(parts) == _MOST_PARTS:
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
