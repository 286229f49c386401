"""Column breaks for tall, narrow layouts: a chain of many layers would be too thin to read."""

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
    """Column breaks: how far each layer moves, its column, and where links run up between columns."""

    shifts: list[tuple[float, float]]
    column_of: list[int]
    gutters: list[float]  # x to the right of each column


def columns(
    layers: Sequence[Sequence[int]],
    bands: Sequence[Band],
    left: Sequence[float],
    sizes: Sequence[Size],
    below: Sequence[Sequence[int]],
) -> Columns:
    """Cut the layers where few links pass, so that the drawing is about as wide as high."""
    height = bands[-1][1]
    width = max(left[item] + sizes[item].width for layer in layers for item in layer)
    wanted = int(sqrt(height / (width + _GUTTER))) if height > _TALL else 1
    starts = _starts(layers, bands, below, height / max(1, wanted)) if wanted > 1 else [0]
    shifts: list[tuple[float, float]] = []
    gutters = []
    x = 0.0
    for first, end in pairwise([*starts, len(layers)]):
        items = [item for layer in layers[first:end] for item in layer]
        begins = min(left[item] for item in items)
        wide = max(left[item] + sizes[item].width for item in items) - begins
        shifts += [(x - begins, -bands[first][0])] * (end - first)
        x += wide + _GUTTER
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
