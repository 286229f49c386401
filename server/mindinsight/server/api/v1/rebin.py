"""Rebinning of histograms to common edges, so that a client can stack them.

MindInsight's rule: one range for all steps, at most 30 buckets, each recorded count spread evenly over its
bucket and the sums rounded up; totals may therefore exceed the recorded count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.curves.overflow import differences, even_edges
from mindinsight.server.types import Doubles

_MOST: Final = 30
_GROWS_UP_TO: Final = 280


@dataclass(frozen=True, slots=True)
class HistogramColumns:
    """A recorded histogram: columns of its buckets, all [n], and the range of its finite values."""

    left: Doubles
    width: Doubles
    count: Doubles
    minimum: float
    maximum: float

    @property
    def total(self) -> int:
        """Sum of the counts."""
        return int(self.count.sum())


def bucket_number(total: int) -> int:
    """Number of common buckets for the largest recorded ``total``."""
    if total <= 0:
        return 1
    if total <= 5:
        return 2
    if total <= 10:
        return 3
    return math.ceil(total / 10) + 1 if total <= _GROWS_UP_TO else _MOST


def common_edges(histograms: Sequence[HistogramColumns]) -> Doubles:
    """[b + 1] edges of buckets that cover all ``histograms``."""
    filled = [histogram for histogram in histograms if histogram.total > 0]
    low = min((histogram.minimum for histogram in filled), default=0.0)
    high = max((histogram.maximum for histogram in filled), default=0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    number = bucket_number(max((histogram.total for histogram in filled), default=0))
    return even_edges(low, high, number + 1)


def rebin(histogram: HistogramColumns, edges: Doubles) -> list[list[float]]:
    """Rebin a histogram to ``edges``: rows of [left, width, count]."""
    quarters = edges / 4  # distances between them are finite
    left, right = quarters[:-1, None], quarters[1:, None]
    start, width = histogram.left[None, :] / 4, np.abs(histogram.width)[None, :] / 4
    overlap = np.clip(np.minimum(right, start + width) - np.maximum(left, start), 0.0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(width > 0, overlap / width, (left <= start) & (start <= right))
    counts = np.ceil(np.round((share * histogram.count[None, :]).sum(axis=1), 9)).astype(np.int64)
    widths = differences(edges)
    rows = zip(edges[:-1].tolist(), widths.tolist(), counts.tolist(), strict=True)
    return [[left, width, count] for left, width, count in rows]
