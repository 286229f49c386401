"""Histograms in buckets of any kind; by default in TensorFlow's, as ``torch.utils.tensorboard`` counts."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.encoding.histograms import Histogram

_GROWTH: Final = 1.1
_FIRST, _LAST = 1e-12, 1e20


@dataclass(frozen=True, slots=True)
class CountedHistogram:
    """Counts of buckets: bucket i ends at ``limits[i]`` and begins where the one before it ends."""

    low: float
    high: float
    count: float
    total: float
    squares: float  # sum of the squares
    limits: npt.NDArray[np.float64]  # [n] increasing
    counts: npt.NDArray[np.float64]  # [n]
    nan: int  # elements that are NaN
    finite: tuple[float, float, float] | None  # minimum, maximum and sum of the finite elements


def count(values: npt.NDArray[Any], bins: Any = None, most: int | None = None) -> CountedHistogram:
    """Histogram of ``values`` of any shape, not empty.

    ``bins`` is what ``numpy.histogram`` takes; None for edges that grow by a tenth from 1e-12 to 1e20 on both
    sides of zero. Buckets are put together until there are about ``most``; empty ones at the ends are left
    out. What lies beyond 1e20 is counted in a bucket at either end; beyond ``bins`` it is left out.
    NaN is in no bucket.
    """
    flat = values.reshape(-1).astype(np.float64)
    finite = flat if np.isfinite(flat).all() else flat[np.isfinite(flat)]
    counts, edges = np.histogram(finite, default_edges() if bins is None else bins)
    if most is not None and len(counts) > most:
        counts, edges = _merged(counts, edges, most)
    below, above = (0, 0) if bins is not None else _beyond(flat, edges)
    limits = np.concatenate((edges, [sys.float_info.max]))
    counts = np.concatenate(([below], counts, [above]))
    filled = np.flatnonzero(counts)
    first, last = (max(int(filled[0]) - 1, 0), int(filled[-1])) if filled.size else (0, 0)
    with np.errstate(over="ignore", invalid="ignore"):  # infinities, and squares of the largest doubles
        low, high, total, squares = map(float, (flat.min(), flat.max(), flat.sum(), flat.dot(flat)))
        extent = (float(finite.min()), float(finite.max()), float(finite.sum())) if finite.size else None
    ends, filling = limits[first : last + 1], counts[first : last + 1].astype(np.float64)
    nan = int(np.isnan(flat).sum())
    return CountedHistogram(low, high, float(flat.size), total, squares, ends, filling, nan, extent)


def _beyond(values: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> tuple[int, int]:
    return int((values < edges[0]).sum()), int((values > edges[-1]).sum())


def default_edges() -> npt.NDArray[np.float64]:
    """TensorFlow's edges, by repeated multiplication as it makes them."""
    positive = []
    edge = _FIRST
    while edge < _LAST:
        positive.append(edge)
        edge *= _GROWTH
    return np.array([*(-edge for edge in reversed(positive)), 0.0, *positive])


def given_histogram(
    extremes: tuple[float, float],
    sums: tuple[float, float, float],
    limits: Sequence[float] | npt.NDArray[Any],
    counts: Sequence[float] | npt.NDArray[Any],
) -> CountedHistogram:
    """A histogram that was counted elsewhere: (minimum, maximum), (count, sum, sum of squares), buckets.

    Raises ValueError unless there are as many limits as counts and the limits increase.
    """
    edges, numbers = np.asarray(limits, np.float64).reshape(-1), np.asarray(counts, np.float64).reshape(-1)
    if len(edges) != len(numbers):
        raise ValueError(
            f"bucket_limits and bucket_counts must be equally long, got {len(edges)} and {len(numbers)}"
        )
    if not (np.diff(edges) > 0).all():
        raise ValueError("bucket_limits must increase")
    (low, high), (size, total, squares) = map(float, extremes), map(float, sums)
    extent = (low, high, total) if all(map(math.isfinite, (low, high, total))) else None
    return CountedHistogram(low, high, size, total, squares, edges, numbers, 0, extent)


def mindspore_histogram(counted: CountedHistogram) -> Histogram:
    """``counted`` in MindSpore's form; infinite ends are those of the buckets.

    Raises ValueError for counts that are no whole numbers, which that form does not have.
    """
    counts = np.rint(counted.counts).astype(np.int64)
    if (counts != counted.counts).any() or not float(counted.count).is_integer() or (counts < 0).any():
        raise ValueError(
            "our format counts in whole numbers; SummaryWriter(format='tensorboard') keeps fractions"
        )
    low, high, total = counted.finite or (None, None, None)
    filled = np.flatnonzero(counts)
    if not filled.size:
        empty = np.empty(0)
        return Histogram(int(counted.count), counted.nan, 0, 0, low, high, total, empty, counts[:0])
    first, last = int(filled[0]), int(filled[-1])
    limits = counted.limits[first : last + 1]
    minimum = counted.low if low is None else low
    beneath = min(limits[0] - 1.0, float(np.nextafter(limits[0], -np.inf)))
    lowest = minimum if minimum < limits[0] else beneath
    left = counted.limits[first - 1] if first else lowest
    edges = np.concatenate(([max(left, -sys.float_info.max)], limits))
    sizes = int(counted.count), counted.nan, 0, 0
    return Histogram(*sizes, low, high, total, edges, counts[first : last + 1])


def _merged(
    counts: npt.NDArray[Any], edges: npt.NDArray[Any], most: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    together = len(counts) // most
    starts = np.arange(0, len(counts), together)
    return np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])
