"""Choice of the scopes that are open when a graph is first shown: the structure of the network.

Embedding, one of the repeated layers with what it consists of, head. The backward pass and the optimizer stay
closed, and so do layers that consist of operators only, as long as there is enough to look at.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.graph.model.graph import OPERATOR, Numbers
from mindinsight.server.graph.model.training import training_operators
from mindinsight.server.graph.scopes.folding import REPEAT, REST
from mindinsight.server.graph.scopes.tree import ROOT, Tree

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
