"""Horizontal coordinates of the items in a layer: links as straight as the order and the gaps allow.

Each item wishes to stand below (or above) its neighbours. The places nearest to all wishes that keep the
order and the gaps are found exactly by pooling adjacent violators (Ayer et al. 1955).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_PASSES: Final = 6
_LINE_WEIGHT: Final = 8.0  # long links pass through points that should stand in a line


@dataclass(frozen=True, slots=True)
class Size:
    """A box of an item. Links arrive at ``inlet`` and leave at ``outlet``, from its left edge."""

    width: float
    height: float
    inlet: float
    outlet: float


def straighten(
    layers: list[list[int]],
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    sizes: Sequence[Size],
    gap: float,
) -> list[float]:
    """The left edge of each item; the smallest is 0."""
    left = [0.0] * len(sizes)
    for layer in layers:
        edge = 0.0
        for item in layer:
            left[item] = edge
            edge += sizes[item].width + gap
    for number in range(_PASSES):
        downwards = number % 2 == 0
        both = number >= _PASSES - 2
        for layer in layers if downwards else reversed(layers):
            wishes = [_wish(item, above, below, sizes, left, downwards, both) for item in layer]
            weights = [_LINE_WEIGHT if not sizes[item].width else 1.0 for item in layer]
            _settle(layer, wishes, weights, sizes, gap, left)
    smallest = min(left, default=0.0)
    return [edge - smallest for edge in left]


def _wish(
    item: int,
    above: Sequence[Sequence[int]],
    below: Sequence[Sequence[int]],
    sizes: Sequence[Size],
    left: list[float],
    downwards: bool,
    both: bool,
) -> float:
    """The left edge that would make an item's links straight."""
    wishes: list[float] = []
    if downwards or both:
        wishes += [left[neighbour] + sizes[neighbour].outlet - sizes[item].inlet for neighbour in above[item]]
    if not downwards or both:
        wishes += [left[neighbour] + sizes[neighbour].inlet - sizes[item].outlet for neighbour in below[item]]
    if not wishes:
        return left[item]
    wishes.sort()
    middle = len(wishes) // 2
    return wishes[middle] if len(wishes) % 2 else (wishes[middle - 1] + wishes[middle]) / 2


def _settle(
    layer: list[int],
    wishes: list[float],
    weights: list[float],
    sizes: Sequence[Size],
    gap: float,
    left: list[float],
) -> None:
    """Move a layer's items to the places nearest to their wishes."""
    offsets = []
    edge = 0.0
    for item in layer:
        offsets.append(edge)
        edge += sizes[item].width + gap
    blocks: list[tuple[float, float, int]] = []  # mean, weight, items
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        mean, total, count = wish - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, heavy, many = blocks.pop()
            mean = (mean * total + before * heavy) / (total + heavy)
            total, count = total + heavy, count + many
        blocks.append((mean, total, count))
    at = 0
    for mean, _, count in blocks:
        for item, offset in zip(layer[at : at + count], offsets[at : at + count], strict=True):
            left[item] = mean + offset
        at += count
