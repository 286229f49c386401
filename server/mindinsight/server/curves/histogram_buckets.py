"""Rebinning of histograms over steps: on common edges for a heat map, and as percentiles.

A recorded bucket is assumed to be filled evenly between the smallest and the largest value, and nothing lies
between buckets. The values of a bucket
that reaches to infinity are assumed to lie at its finite edge.
"""

from typing import Final

import numpy as np

from mindinsight.server.curves.overflow_safe import LARGEST, interpolate, limited, subtract
from mindinsight.server.types import Doubles, Ints

PERCENTILES: Final = (0.0, 6.68, 15.87, 30.85, 50.0, 69.15, 84.13, 93.32, 100.0)
"""Extremes, median, and 0.5, 1 and 1.5 standard deviations of a normal distribution on both sides."""

_QUARTER: Final = 4.0  # divisor of edges, so that their differences are finite


class Bucketed:
    """Series of histograms with concatenated buckets. Histogram i holds [bounds[i], bounds[i + 1])."""

    def __init__(
        self,
        bounds: Ints,
        left: Doubles,
        width: Doubles,
        counts: Ints,
        extremes: tuple[Doubles, Doubles] | None = None,
    ) -> None:
        """Store the buckets, with infinite edges replaced as in ``finite_edges``. The outer filled buckets
        end at the ``extremes``, the smallest and largest value of each histogram [n], where these lie
        inside them."""
        self.bounds, self.counts = bounds, counts
        self.left, self.width = finite_edges(left, width)
        if extremes is not None:
            self._clip(*extremes)

    def _clip(self, low: Doubles, high: Doubles) -> None:
        filled = np.flatnonzero(self.counts > 0)
        if not len(filled):
            return
        owner = np.searchsorted(self.bounds, filled, side="right") - 1
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        group = np.cumsum(np.diff(owner, prepend=-1) != 0) - 1
        low, high = low[owner], high[owner]
        left, right = self.left[filled], _right(self.left, self.width)[filled]
        first = left == np.minimum.reduceat(left, starts)[group]
        last = right == np.maximum.reduceat(right, starts)[group]
        begin = np.where(first & (left <= low) & (low <= right), low, left)
        end = np.where(last & (left <= high) & (high <= right), high, right)
        changed = (begin != left) | (end != right)
        chosen = filled[changed]
        self.left, self.width = self.left.copy(), self.width.copy()
        self.left[chosen] = begin[changed]
        self.width[chosen] = np.maximum(subtract(end[changed], begin[changed]), 0.0)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def cumulative(self, number: int) -> tuple[Doubles, Doubles]:
        """Return left and right edges of all buckets of one histogram [2n], and the number of values below
        each. Both are empty if the histogram counts no values."""
        inside = slice(int(self.bounds[number]), int(self.bounds[number + 1]))
        counts = self.counts[inside].astype(np.float64)
        if not counts.sum() > 0:
            return np.zeros(0), np.zeros(0)
        order = np.argsort(self.left[inside], kind="stable")
        left, counts = self.left[inside][order], counts[order]
        right = _right(left, self.width[inside][order])
        right[:-1] = np.minimum(right[:-1], left[1:])  # rounding makes buckets overlap slightly
        below = np.cumsum(counts)
        return np.stack((left, right), axis=1).ravel(), np.stack((below - counts, below), axis=1).ravel()

    def range(self) -> tuple[float, float]:
        """Return the smallest left and largest right edge of all non-empty buckets, or (-0.5, 0.5) without
        one."""
        filled = self.counts > 0
        if not filled.any():
            return -0.5, 0.5
        low = float(self.left[filled].min())
        high = float(_right(self.left, self.width)[filled].max())
        if low < high:
            return low, high
        room = max(0.5, abs(low) * 2.0**-40)  # adding 0.5 does not change a huge value
        return max(low - room, -LARGEST), min(high + room, LARGEST)


def _right(left: Doubles, width: Doubles) -> Doubles:
    """Return the right edges of buckets with finite left edges and widths."""
    with np.errstate(over="ignore"):
        return limited(left + width)


def finite_edges(left: Doubles, width: Doubles) -> tuple[Doubles, Doubles]:
    """Return left edges and widths [n] of buckets, with an infinite edge replaced by the other one of its
    bucket. If the left edge is infinite and the width does not determine the right one, the next bucket's
    left edge is used. A bucket without a finite edge is put at 0."""
    size = np.abs(width)
    if np.isfinite(left).all() and np.isfinite(size).all():
        return left, size
    with np.errstate(invalid="ignore"):
        right = left + size
    right = np.where(np.isnan(right), np.append(left[1:], np.nan), right)
    edge = np.where(np.isfinite(left), left, np.where(np.isfinite(right), right, 0.0))
    known = np.isfinite(left) & np.isfinite(right)
    return edge, np.where(known, size, 0.0)


def on_edges(histograms: Bucketed, edges: Doubles) -> Doubles:
    """Return the counts [n, b] of every histogram between common ``edges`` [b + 1]. Counts beyond the edges
    are left out."""
    counts = np.zeros((len(histograms), len(edges) - 1))
    for number in range(len(histograms)):
        own, below = histograms.cumulative(number)
        if len(own):
            counts[number] = np.diff(_below(own, below, edges))
    return counts


def _below(own: Doubles, below: Doubles, edges: Doubles) -> Doubles:
    """Return the number of values below each of the common ``edges``, interpolated from ``below`` at the
    histogram's ``own`` edges."""
    at = interpolate(edges / _QUARTER, own / _QUARTER, below)
    at[edges >= own[-1]] = below[-1]
    at[edges <= own[0]] = 0.0
    first = int(np.searchsorted(own, edges[0]))
    if first < len(own) and own[first] == edges[0]:  # values at the lowest edge are not below it
        at[0] = below[first]
    if edges[-1] >= own[-1]:  # values at the highest edge count as below it
        at[-1] = below[-1]
    return at


def in_columns(counts: Doubles, starts: Ints) -> Doubles:
    """Return sums of neighbouring rows of ``counts`` [n, b]: row i from ``starts[i]`` to the next start."""
    return np.add.reduceat(counts, starts, axis=0) if len(starts) else counts


def percentiles(histograms: Bucketed, shares: tuple[float, ...] = PERCENTILES) -> Doubles:
    """Return [n, shares] the values below which these percentages of each histogram lie, NaN if empty."""
    values = np.full((len(histograms), len(shares)), np.nan)
    for number in range(len(histograms)):
        own, below = histograms.cumulative(number)
        if len(own):
            filled = slice(np.flatnonzero(below == 0)[-1], np.flatnonzero(below == below[-1])[0] + 1)
            at = np.asarray(shares) / 100 * below[-1]
            values[number] = np.interp(at, below[filled], own[filled] / _QUARTER) * _QUARTER
    return values
