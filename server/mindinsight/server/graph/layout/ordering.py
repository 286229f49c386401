"""The order of items within their layers: few crossings by sweeps of barycentres (Sugiyama et al. 1981)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

_SWEEPS: Final = 8

Neighbours = Sequence[Sequence[int]]


def order_layers(layers: list[list[int]], above: Neighbours, below: Neighbours) -> list[list[int]]:
    """The layers with their items in order from left to right.

    ``above`` and ``below`` give each item's neighbours in the next layer up and down. The best of the
    orders met is kept; equal input gives equal output.
    """
    position = _positions(layers)
    best, fewest = [list(layer) for layer in layers], crossings(layers, below, position)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        for layer in layers if downwards else reversed(layers):
            _sort(layer, neighbours, position)
        now = crossings(layers, below, position)
        if now < fewest:
            best, fewest = [list(layer) for layer in layers], now
    return best


def _positions(layers: list[list[int]]) -> dict[int, int]:
    return {item: at for layer in layers for at, item in enumerate(layer)}


def _sort(layer: list[int], neighbours: Neighbours, position: dict[int, int]) -> None:
    """Sort by the mean position of the neighbours; an item without neighbours keeps its place."""
    means = {item: _mean(neighbours[item], position, at) for at, item in enumerate(layer)}
    layer.sort(key=means.__getitem__)
    for at, item in enumerate(layer):
        position[item] = at


def _mean(neighbours: Sequence[int], position: dict[int, int], otherwise: float) -> float:
    if not neighbours:
        return otherwise
    return sum(position[neighbour] for neighbour in neighbours) / len(neighbours)


def crossings(layers: list[list[int]], below: Neighbours, position: dict[int, int]) -> int:
    """How many pairs of links cross; counted by inversions (Barth, Jünger and Mutzel 2002)."""
    total = 0
    for layer, following in pairwise(layers):
        ends = [at for item in layer for at in sorted(position[neighbour] for neighbour in below[item])]
        total += _inversions(ends, len(following))
    return total


def _inversions(ends: list[int], size: int) -> int:
    """Pairs out of order, with a Fenwick tree over the ``size`` possible ends."""
    counts = [0] * (size + 1)
    total = 0
    for seen, end in enumerate(ends):
        at, smaller = end + 1, 0
        while at:
            smaller += counts[at]
            at &= at - 1
        total += seen - smaller
        at = end + 1
        while at <= size:
            counts[at] += 1
            at += at & -at
    return total
