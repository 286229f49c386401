"""Histograms of arrays in MindSpore's buckets, and in given buckets."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_DOUBT: Final = 1e-9  # of a bucket, around its edge: error of the arithmetic
_TINY: Final = 1e-300  # width below which the number of buckets divided by it may overflow
_BLOCK: Final = 65536  # elements counted at once: stays in the cache and lets the loop's thread in between


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of n buckets over the finite elements. Bucket i holds edges[i] <= x < edges[i + 1].

    The last bucket includes its right edge. Without a finite element there is no bucket, and low, high and
    total are None.
    """

    count: int  # all elements
    nan: int
    positive_infinity: int
    negative_infinity: int
    low: float | None
    high: float | None
    total: float | None
    edges: npt.NDArray[np.float64]  # [n + 1], or [0]
    counts: npt.NDArray[np.int64]  # [n]


def bucket_count(finite: int) -> int:
    """Return MindSpore's number of buckets for ``finite`` elements: 2 for up to 5 elements, 3 for up to 10,
    then one more than the tens, at most 90."""
    if finite <= 5:
        return 2
    if finite <= 10:
        return 3
    return 90 if finite > 880 else finite // 10 + 1


def histogram(values: npt.NDArray[Any]) -> Histogram:
    """Return the histogram of ``values``: bool, integer or float elements, any shape. Without finite elements
    there are no buckets, and minimum, maximum and sum are None.

    Edges are float64 for all types, so integer buckets are even and never overflow. Elements are compared as
    float64. Integers beyond 2**53 are rounded, like the file's minimum and maximum.
    """
    flat = values.reshape(-1)
    nan, up, down = _non_finite_counts(flat)
    finite = flat if nan + up + down == 0 else flat[np.isfinite(flat)]
    if not finite.size:
        empty = np.empty(0)
        return Histogram(flat.size, nan, up, down, None, None, None, empty, empty.astype(np.int64))
    low, high = float(finite.min()), float(finite.max())
    edges = bucket_edges(low, high, bucket_count(finite.size))
    counts = np.zeros(len(edges) - 1, np.int64)
    total = 0.0
    with np.errstate(over="ignore", invalid="ignore"):  # a sum of the largest doubles is no double
        for start in range(0, finite.size, _BLOCK):
            block = finite[start : start + _BLOCK].astype(np.float64)
            total += float(block.sum())
            counts += _count(block, edges)
    return Histogram(flat.size, nan, up, down, low, high, total, edges, counts)


def bucket_edges(low: float, high: float, buckets: int) -> npt.NDArray[np.float64]:
    """Return ``buckets + 1`` increasing edges from ``low`` to ``high``. Equal ends are moved apart by half
    a unit each. The range grows if float64 cannot represent that many edges."""
    if low == high:
        low, high = low - 0.5, high + 0.5
    room = 2 * buckets * math.ulp(max(abs(low), abs(high)))
    if high / 2 - low / 2 < room / 2:
        low, high = max(low - room, -sys.float_info.max), min(high + room, sys.float_info.max)
    scale = _scale(low, high)
    inner = np.linspace(low / scale, high / scale, buckets + 1)[1:-1] * scale
    return np.concatenate(([low], inner, [high]))


def _scale(low: float, high: float) -> float:
    """Return a divisor that keeps the distance of the largest doubles finite. Small values lose bits."""
    return 4.0 if max(abs(low), abs(high)) > 1e300 else 1.0


def _non_finite_counts(flat: npt.NDArray[Any]) -> tuple[int, int, int]:
    """Return the counts of NaN, +Inf and -Inf."""
    if flat.dtype.kind != "f" or not flat.size or (np.isfinite(flat.min()) and np.isfinite(flat.max())):
        return 0, 0, 0
    return (int(np.isnan(flat).sum()), int(np.isposinf(flat).sum()), int(np.isneginf(flat).sum()))


def _count(block: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the number of elements of ``block`` in each bucket. Buckets are computed, and compared with
    ``edges`` for elements near an edge."""
    buckets = len(edges) - 1
    scale = _scale(edges[0], edges[-1])
    low, high = edges[0] / scale, edges[-1] / scale
    position = np.subtract(block if scale == 1 else block / scale, low)
    width = high - low
    if width > _TINY:
        position *= buckets / width
    else:  # the factor would be infinite
        position = position / width * buckets
    bucket = position.astype(np.intp)
    doubt = _DOUBT + 4 * math.ulp(max(abs(low), abs(high))) / width * buckets
    position -= np.rint(position)
    close = np.flatnonzero(np.abs(position, out=position) < doubt)
    if close.size:
        values = block[close]
        guess = np.clip(bucket[close], 0, buckets - 1)
        guess -= values < edges[guess]
        guess += (values >= edges[guess + 1]) & (guess < buckets - 1)
        bucket[close] = guess
    return np.bincount(bucket, minlength=buckets).astype(np.int64, copy=False)


# Edges of TensorFlow's histograms.
_GROWTH: Final = 1.1
_FIRST, _LAST = 1e-12, 1e20


@dataclass(frozen=True, slots=True)
class CountedHistogram:
    """Histogram in TensorBoard's form: bucket i ends at ``limits[i]`` and begins at the limit before."""

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
    """Return the histogram of non-empty ``values`` of any shape.

    ``bins`` is the argument of ``numpy.histogram``. None means edges that grow by a tenth from 1e-12 to 1e20
    on both sides of zero. Buckets are merged to about ``most``. Empty buckets at the ends are omitted. Values
    beyond 1e20 are counted in a bucket at either end. Values beyond given ``bins`` and NaN are not counted.
    """
    flat = values.reshape(-1).astype(np.float64)
    finite = flat if np.isfinite(flat).all() else flat[np.isfinite(flat)]
    counts, edges = np.histogram(finite, default_edges() if bins is None else bins)
    if most is not None and len(counts) > most:
        starts = np.arange(0, len(counts), len(counts) // max(most, 1))
        counts, edges = np.add.reduceat(counts, starts), np.append(edges[starts], edges[-1])
    below, above = (0, 0) if bins is not None else ((flat < edges[0]).sum(), (flat > edges[-1]).sum())
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


def default_edges() -> npt.NDArray[np.float64]:
    """Return the edges of TensorFlow's default buckets, computed by repeated multiplication as in
    TensorFlow."""
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
    """Return a histogram that the caller has counted. Raises ValueError unless there are as many limits as
    counts and the limits increase. ``extremes`` are minimum and maximum, ``sums`` number, sum and sum of
    squares of the elements, ``limits`` and ``counts`` the right ends and counts of the buckets."""
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
    """Return ``counted`` in MindSpore's form. Infinite ends become those of the buckets. Raises ValueError
    for fractional or negative counts, which MindSpore's form does not support. Empty buckets at the ends
    are omitted."""
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
