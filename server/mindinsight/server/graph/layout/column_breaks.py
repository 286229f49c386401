"""Column breaks for tall, narrow layouts: a long chain would be too thin to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Final

from mindinsight.server.graph.layout.coordinates import Size

_TALL: Final = 900.0  # height from which columns are tried
_GUTTER: Final = 64.0
_MOST_LINKS: Final = 3  # that may turn from the foot of a column to the head of the next

Band = tuple[float, float]  # top and bottom of a layer


@dataclass(frozen=True, slots=True)
class Columns:
    """Layers broken into columns."""

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
    """Break the layers into columns where few links pass, so that the drawing is about as wide as high."""
    height = bands[-1][1]
    width = max(left[item] + sizes[item].width for layer in layers for item in layer)
    column_count = int(sqrt(height / (width + _GUTTER))) if height > _TALL else 1
    starts = _starts(layers, bands, below, height / max(1, column_count)) if column_count > 1 else [0]
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
    """The first layer of each column."""
    starts = [0]
    for layer in range(1, len(layers)):
        passing = sum(len(below[item]) for item in layers[layer - 1])
        if bands[layer - 1][1] - bands[starts[-1]][0] >= tall and passing <= _MOST_LINKS:
            starts.append(layer)
    return starts
