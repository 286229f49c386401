"""Crossing reduction: barycentre sweeps over the layers (Sugiyama et al. 1981)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_SWEEPS: Final = 8

Neighbours = Sequence[Sequence[int]]


def order_layers(layers: list[list[int]], above: Neighbours, below: Neighbours) -> list[list[int]]:
    """Order the items of each layer from left to right so that few links cross; deterministic.

    ``above`` and ``below`` are each item's neighbours in the next layer up and down. Returns the order with
    the fewest crossings of all sweeps.
    """
    position = _positions(layers)
    best, fewest = [list(layer) for layer in layers], crossings(layers, below, position)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        for layer in layers if downwards else reversed(layers):
            _sort_layer(layer, neighbours, position)
        now = crossings(layers, below, position)
        if now < fewest:
            best, fewest = [list(layer) for layer in layers], now
    return best


def _positions(layers: list[list[int]]) -> dict[int, int]:
    return {item: index for layer in layers for index, item in enumerate(layer)}


def _sort_layer(layer: list[int], neighbours: Neighbours, position: dict[int, int]) -> None:
    """Sort by the mean position of the neighbours; an item without neighbours keeps its position."""
    means = {item: _mean(neighbours[item], position, index) for index, item in enumerate(layer)}
    layer.sort(key=means.__getitem__)
    for index, item in enumerate(layer):
        position[item] = index


def _mean(neighbours: Sequence[int], position: dict[int, int], otherwise: float) -> float:
    if not neighbours:
        return otherwise
    return sum(position[neighbour] for neighbour in neighbours) / len(neighbours)


def crossings(layers: list[list[int]], below: Neighbours, position: dict[int, int]) -> int:
    """Count pairs of links that cross, as inversions (Barth, Jünger and Mutzel 2002)."""
    total = 0
    for layer, next_layer in pairwise(layers):
        ends = [end for item in layer for end in sorted(position[neighbour] for neighbour in below[item])]
        total += _inversions(ends, len(next_layer))
    return total


def _inversions(ends: list[int], size: int) -> int:
    """Count pairs out of order, with a Fenwick tree over the ``size`` possible ends."""
    counts = [0] * (size + 1)
    total = 0
    for seen, end in enumerate(ends):
        node, smaller = end + 1, 0
        while node:
            smaller += counts[node]
            node &= node - 1
        total += seen - smaller
        node = end + 1
        while node <= size:
            counts[node] += 1
            node += node & -node
    return total
