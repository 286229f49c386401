"""Horizontal coordinates of a layered layout, and column breaks for long chains."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Final

_PASSES: Final = 6  # downwards and upwards in turn, the last two consider both directions
_LINE_WEIGHT: Final = 8.0  # weight of dummy nodes, so that long links stay straight


@dataclass(frozen=True, slots=True)
class Size:
    """Size of an item's box. Links arrive at ``inlet`` and leave at ``outlet``, measured from its left
    edge."""

    width: float
    height: float
    inlet: float
    outlet: float


def assign_coordinates(
    layers: list[list[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    sizes: Sequence[Size],
    gap: float,
) -> list[float]:
    """Return the x of each item's left edge in a layered drawing, given its links ``above`` and ``below``.
    The smallest is 0. ``layers`` are the items of each layer from left to right, ``above`` and ``below``
    the linked items in the adjacent layers, and ``gap`` lies between neighbours."""
    left = [0.0] * len(sizes)
    for layer in layers:
        edge = 0.0
        for item in layer:
            left[item] = edge
            edge += sizes[item].width + gap
    for sweep in range(_PASSES):
        downwards = sweep % 2 == 0
        both = sweep >= _PASSES - 2
        for layer in layers if downwards else reversed(layers):
            targets = [_target(item, above, below, sizes, left, downwards, both) for item in layer]
            weights = [_LINE_WEIGHT if not sizes[item].width else 1.0 for item in layer]
            _fit_layer(layer, targets, weights, sizes, gap, left)
    smallest = min(left, default=0.0)
    return [edge - smallest for edge in left]


def _target(
    item: int,
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    sizes: Sequence[Size],
    left: list[float],
    downwards: bool,
    both: bool,
) -> float:
    """Return the left edge that makes an item's links straight: the median over its neighbours."""
    edges: list[float] = []
    if downwards or both:
        edges += [left[neighbour] + sizes[neighbour].outlet - sizes[item].inlet for neighbour in above[item]]
    if not downwards or both:
        edges += [left[neighbour] + sizes[neighbour].inlet - sizes[item].outlet for neighbour in below[item]]
    if not edges:
        return left[item]
    edges.sort()
    middle = len(edges) // 2
    return edges[middle] if len(edges) % 2 else (edges[middle - 1] + edges[middle]) / 2


def _fit_layer(
    layer: list[int],
    targets: list[float],
    weights: list[float],
    sizes: Sequence[Size],
    gap: float,
    left: list[float],
) -> None:
    """Move a layer's items to the positions nearest to their targets (isotonic regression)."""
    offsets = []
    edge = 0.0
    for item in layer:
        offsets.append(edge)
        edge += sizes[item].width + gap
    blocks: list[tuple[float, float, int]] = []  # mean, weight, items
    for target, weight, offset in zip(targets, weights, offsets, strict=True):
        mean, weight_sum, count = target - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            block_mean, block_weight, block_count = blocks.pop()
            mean = (mean * weight_sum + block_mean * block_weight) / (weight_sum + block_weight)
            weight_sum, count = weight_sum + block_weight, count + block_count
        blocks.append((mean, weight_sum, count))
    begin = 0
    for mean, _, count in blocks:
        for item, offset in zip(layer[begin : begin + count], offsets[begin : begin + count], strict=True):
            left[item] = mean + offset
        begin += count


_TALL: Final = 900.0  # height from which columns are tried
_TALLEST: Final = 2 / 3  # share of the height above which the highest column makes columns pointless
_GUTTER: Final = 64.0  # between two columns, with the links from one to the next
_MOST_LINKS: Final = 3  # limit of links from the end of a column to the next

Band = tuple[float, float]  # top and bottom of a layer


@dataclass(frozen=True, slots=True)
class Columns:
    """Layers of a layout broken into columns: shift and column of each layer."""

    shifts: list[tuple[float, float]]  # x and y by which each layer moves
    column_of: list[int]  # column of each layer
    gutters: list[float]  # x to the right of each column


def break_columns(
    layers: Sequence[Sequence[int]],
    bands: Sequence[Band],
    left: Sequence[float],
    sizes: Sequence[Size],
    below: Sequence[Sequence[int]],
) -> Columns:
    """Return the layers broken into columns where few links pass, so that the drawing is about square.

    ``left`` are the x of the items' left edges, and ``below`` the items to which each has a link in the next
    layer.

    There is one column if a box fills most of the height: what follows it would stand above its end.
    """
    height = bands[-1][1]
    width = max(left[item] + sizes[item].width for layer in layers for item in layer)
    column_count = int(sqrt(height / (width + _GUTTER))) if height > _TALL else 1
    starts = _starts(layers, bands, below, height / max(1, column_count)) if column_count > 1 else [0]
    if max(bands[end - 1][1] - bands[begin][0] for begin, end in pairwise([*starts, len(layers)])) > (
        _TALLEST * height
    ):
        starts = [0]
    shifts: list[tuple[float, float]] = []
    gutters = []
    x = 0.0
    for begin, end in pairwise([*starts, len(layers)]):
        items = [item for layer in layers[begin:end] for item in layer]
        left_edge = min(left[item] for item in items)
        column_width = max(left[item] + sizes[item].width for item in items) - left_edge
        shifts += [(x - left_edge, -bands[begin][0])] * (end - begin)
        x += column_width + _GUTTER
        gutters.append(x - _GUTTER / 2)
    numbers = [number for number, pair in enumerate(pairwise([*starts, len(layers)])) for _ in range(*pair)]
    return Columns(shifts, numbers, gutters)


def _starts(
    layers: Sequence[Sequence[int]], bands: Sequence[Band], below: Sequence[Sequence[int]], tall: float
) -> list[int]:
    """Return the first layer of each column."""
    starts = [0]
    for layer in range(1, len(layers)):
        passing = sum(len(below[item]) for item in layers[layer - 1])
        if bands[layer - 1][1] - bands[starts[-1]][0] >= tall and passing <= _MOST_LINKS:
            starts.append(layer)
    return starts
