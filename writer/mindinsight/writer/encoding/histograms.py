"""Histograms of arrays: MindSpore's number of buckets, even edges, counts (FORMAT.md)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_DOUBT: Final = 1e-9  # of a bucket, from its edge: what arithmetic may be wrong by
_TINY: Final = 1e-300
_BLOCK: Final = 65536  # elements counted at once: stays in the cache and lets the loop's thread in between


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts of n buckets over the finite elements; bucket i holds edges[i] <= x < edges[i + 1], the last
    one its right edge too. Without a finite element there is no bucket and low, high, total are None."""

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
    """MindSpore's number of buckets for ``finite`` elements: 2, 3, one for each ten, at most 90."""
    if finite <= 5:
        return 2
    if finite <= 10:
        return 3
    return 90 if finite > 880 else finite // 10 + 1


def histogram(values: npt.NDArray[Any]) -> Histogram:
    """Histogram of ``values``: bool, integer or float elements, any shape.

    Edges are float64 whatever the elements are, so integer buckets are even and never overflow. Elements are
    compared as float64; integers beyond 2**53 are rounded to it, as the file keeps minimum and maximum.
    """
    flat = values.reshape(-1)
    nan, up, down = _not_finite(flat)
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
    """``buckets + 1`` increasing edges from ``low`` to ``high``.

    Equal ones are moved apart by half a unit each. Where float64 has no room for that many edges the range
    grows until it has.
    """
    if low == high:
        low, high = low - 0.5, high + 0.5
    room = 2 * buckets * math.ulp(max(abs(low), abs(high)))
    if high / 2 - low / 2 < room / 2:
        low, high = max(low - room, -sys.float_info.max), min(high + room, sys.float_info.max)
    scale = _scale(low, high)
    inner = np.linspace(low / scale, high / scale, buckets + 1)[1:-1] * scale
    return np.concatenate(([low], inner, [high]))


def _scale(low: float, high: float) -> float:
    """Divisor with which the distance of the largest doubles is a double; small ones lose bits."""
    return 4.0 if max(abs(low), abs(high)) > 1e300 else 1.0


def _not_finite(flat: npt.NDArray[Any]) -> tuple[int, int, int]:
    """Counts of NaN, +inf and -inf; one pass when there are none."""
    if flat.dtype.kind != "f" or not flat.size or (np.isfinite(flat.min()) and np.isfinite(flat.max())):
        return 0, 0, 0
    return (int(np.isnan(flat).sum()), int(np.isposinf(flat).sum()), int(np.isneginf(flat).sum()))


def _count(block: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Elements of ``block`` in each bucket: by arithmetic, and by the edges where that may be rounded."""
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
