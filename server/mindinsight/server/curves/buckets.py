"""Histograms over steps: on common edges for a heat map, and as percentiles.

A recorded bucket is taken as filled evenly, as everywhere in the field.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.types import Doubles, Ints

PERCENTILES: Final = (0.0, 6.68, 15.87, 30.85, 50.0, 69.15, 84.13, 93.32, 100.0)
"""The extremes, the median, and half, one and one and a half deviations of a normal distribution."""


class Bucketed:
    """Many histograms, their buckets one behind the other: histogram i holds [bounds[i], bounds[i + 1])."""

    def __init__(self, bounds: Ints, left: Doubles, width: Doubles, counts: Ints) -> None:
        self.bounds, self.left, self.width, self.counts = bounds, left, np.abs(width), counts

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def cumulative(self, number: int) -> tuple[Doubles, Doubles]:
        """Edges and the count below each of them, of one histogram; both empty when it counts nothing."""
        inside = slice(int(self.bounds[number]), int(self.bounds[number + 1]))
        counts = self.counts[inside].astype(np.float64)
        if not counts.sum() > 0:
            return np.zeros(0), np.zeros(0)
        order = np.argsort(self.left[inside], kind="stable")
        left, counts = self.left[inside][order], counts[order]
        edges = np.append(left, left[-1] + self.width[inside][order][-1])
        return edges, np.concatenate(([0.0], np.cumsum(counts)))

    def range(self) -> tuple[float, float]:
        """Smallest left and largest right edge of all buckets that count something."""
        filled = self.counts > 0
        if not filled.any():
            return -0.5, 0.5
        low = float(self.left[filled].min())
        high = float((self.left + self.width)[filled].max())
        return (low, high) if low < high else (low - 0.5, high + 0.5)


def on_edges(histograms: Bucketed, edges: Doubles) -> Doubles:
    """Counts [n, b] of every histogram in the buckets between ``edges`` [b + 1]; sums stay what they were."""
    counts = np.zeros((len(histograms), len(edges) - 1))
    for number in range(len(histograms)):
        own, below = histograms.cumulative(number)
        if len(own):
            counts[number] = np.diff(_below(own, below, edges))
    return counts


def _below(own: Doubles, below: Doubles, edges: Doubles) -> Doubles:
    """How much of one histogram lies below each of the common edges."""
    at = np.interp(edges, own, below, left=0.0, right=float(below[-1]))
    if own[0] == own[-1]:
        at = np.where(edges > own[0], below[-1], 0.0)
    at[-1] = below[-1] if edges[-1] >= own[-1] else at[-1]
    return at


def in_columns(counts: Doubles, starts: Ints) -> Doubles:
    """Neighbouring rows of ``counts`` [n, b] added up: row i from ``starts[i]`` to the next start."""
    return np.add.reduceat(counts, starts, axis=0) if len(starts) else counts


def percentiles(histograms: Bucketed, shares: tuple[float, ...] = PERCENTILES) -> Doubles:
    """The values [n, shares] below which so many percent of each histogram lie; NaN where it is empty."""
    found = np.full((len(histograms), len(shares)), np.nan)
    for number in range(len(histograms)):
        own, below = histograms.cumulative(number)
        if len(own):
            filled = slice(np.flatnonzero(below == 0)[-1], np.flatnonzero(below == below[-1])[0] + 1)
            found[number] = np.interp(np.asarray(shares) / 100 * below[-1], below[filled], own[filled])
    return found
