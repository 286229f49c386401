"""Outline of a network: its parts in order, repeated layers once, and the scopes first shown open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import OPERATOR, Numbers, training_operators
from mindinsight.server.graph.scopes.costs import Costs
from mindinsight.server.graph.scopes.folding import REPEAT, REST, in_file_order
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree

_COMFORTABLE: Final = 26  # boxes that are legible on one screen
_FEW: Final = 8  # closed boxes below which there is nothing to look at
_MOST: Final = 100  # boxes; with their lines about 300 elements


def choose_initial_scopes(tree: Tree) -> list[int]:
    """Choose the scopes to open at first; ascending indices.

    The scope of the most operators first, while the picture stays comfortable: scopes that hold scopes, not
    deeper than into one of the repeated layers. Where that leaves next to nothing to look at (a chain of
    scopes, or one wide scope that holds everything) any scope is opened, until there is.
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
    tree: Tree, opened: set[int], weights: Numbers, most: int, structural: bool = False
) -> int | None:
    """The visible closed scope of the greatest weight with at most ``most`` children; None if there is none.

    Of equal ones the first. ``structural`` ones hold scopes, and lie not deeper than a repeated layer.
    """
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


def forward_weights(tree: Tree) -> Numbers:
    """[t] operators of the forward pass in each subtree; all operators where there is no forward pass."""
    forward = np.zeros(len(tree.graph), dtype=np.bool_)
    forward[tree.graph.kinds == OPERATOR] = True
    training = training_operators(tree.graph)
    if np.any(forward & ~training):
        forward &= ~training
    leaves = tree.nodes >= 0
    counted = np.zeros(len(tree.paths) + 1, dtype=np.int32)
    counted[1:][leaves] = forward[tree.nodes[leaves]]
    sums = np.cumsum(counted, dtype=np.int32)
    return np.asarray(sums[tree.ends] - sums[np.arange(len(tree.paths))], dtype=np.int32)


_MOST_PARTS: Final = 40  # parts of one scope
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
