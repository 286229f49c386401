"""Downsampling of a long curve: the rows to draw in a number of pixels.

Each bucket of the x axis contributes the rows of its minimum, maximum and first non-finite value. The first
and last row of the curve are added. This is M4 (Jugel et al., VLDB 2014) with buckets in x instead of row
numbers, so that gaps and a logarithmic axis keep their shape. If x decreases, as another scalar may, buckets
hold equally many rows, and the rows of the extremes of x are added. Equal requests return equal rows.
"""

from typing import Final

import numpy as np

from mindinsight.server.curves.overflow_safe import even_edges
from mindinsight.server.types import Doubles, Floats, Ints

_GAP: Final = 20  # times the usual interval of steps before and after a gap, whichever is wider
_AROUND: Final = 20  # intervals on either side that tell what is usual
_FEWEST: Final = 5  # of these
_MOST: Final = 100  # wide intervals; with more, wide ones are usual


def sample_rows(x: Doubles, values: Floats, buckets: int, log_x: bool = False) -> Ints:
    """Return the rows to draw of a curve of [n] points in ``buckets`` columns of pixels, ascending and
    unique.

    All rows are returned if there are at most two per bucket. With ``log_x`` the buckets are equally wide in
    log x, and rows at x <= 0 share the first. If x decreases, buckets hold equally many rows.
    """
    count = len(x)
    if count <= 2 * buckets:
        return np.arange(count, dtype=np.int64)
    if not bool((x[1:] >= x[:-1]).all()):
        starts = np.unique(np.linspace(0, count, max(buckets // 2, 1), endpoint=False).astype(np.int64))
        rows = (section_extremes(values, starts), section_extremes(x, starts), [0, count - 1])
        return np.unique(np.concatenate(rows)).astype(np.int64)
    starts = _bucket_starts(x, buckets, log_x)
    return np.unique(np.concatenate((section_extremes(values, starts), [0, count - 1]))).astype(np.int64)


def _bucket_starts(x: Doubles, buckets: int, log_x: bool) -> Ints:
    """Return the first row of each bucket that is not empty. ``x`` is not empty."""
    return np.unique(np.concatenate(([0], np.searchsorted(x, _edges(x, buckets, log_x)))))[:-1]


def _edges(x: Doubles, buckets: int, log_x: bool) -> Doubles:
    """Return the inner bucket edges and infinity. A row on an edge belongs to the bucket to the right."""
    finite = x[np.isfinite(x)]
    positive = finite[finite > 0]
    if log_x and len(positive):
        with np.errstate(over="ignore"):  # rounding near the largest number
            inner = np.geomspace(positive[0], positive[-1], buckets + 1)[1:-1]
    elif len(finite):
        inner = even_edges(float(finite[0]), float(finite[-1]), buckets + 1)[1:-1]
    else:
        inner = finite
    return np.concatenate((inner, [np.inf]))


def section_extremes(values: Floats, starts: Ints) -> Ints:
    """Return the rows of minimum, maximum and first non-finite value of each section, unsorted, with
    repeats. ``starts`` are the sections' first rows."""
    bad = ~np.isfinite(values)
    any_bad = bool(bad.any())
    low = np.where(bad, np.inf, values) if any_bad else values
    high = np.where(bad, -np.inf, values) if any_bad else values
    rows = [_first_equal(low, np.minimum.reduceat(low, starts), starts)]
    rows.append(_first_equal(high, np.maximum.reduceat(high, starts), starts))
    if any_bad:
        worst = np.flatnonzero(bad)
        rows.append(worst[_first_of_each(np.searchsorted(starts, worst, side="right"))])
    return np.concatenate(rows)


def _first_equal(values: Floats, wanted: Floats, starts: Ints) -> Ints:
    """Return in each bucket the first row that equals the bucket's wanted value."""
    lengths = np.diff(np.append(starts, len(values)))
    hits = np.flatnonzero(values == np.repeat(wanted, lengths))
    return hits[_first_of_each(np.searchsorted(starts, hits, side="right"))]


def _first_of_each(buckets: Ints) -> Ints:
    """Return the positions at which a new number begins in an ascending column."""
    return np.flatnonzero(np.diff(buckets, prepend=-1))


def non_finite_ranges(steps: Ints, values: Floats) -> list[tuple[str, int, int, int]]:
    """Return ("nan", "inf" or "-inf", first step, last step, number of rows) for each interval of
    neighbouring non-finite rows of one kind, [] if all are finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if not len(bad):
        return []
    signs = np.nan_to_num(values[bad], nan=0.0, posinf=1.0, neginf=-1.0)
    breaks = np.flatnonzero((np.diff(bad) != 1) | (np.diff(signs) != 0)) + 1
    starts = np.concatenate(([0], breaks))
    stops = np.concatenate((breaks, [len(bad)]))
    names = {0.0: "nan", 1.0: "inf", -1.0: "-inf"}
    return [
        (names[float(signs[start])], int(steps[bad[start]]), int(steps[bad[stop - 1]]), int(stop - start))
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]


def step_gaps(steps: Ints) -> list[tuple[int, int]]:
    """Return (step before, step after) for each gap, an interval that is far wider than those before and
    after it, [] for few steps or many wide intervals. Where the interval of a recording changes, or
    becomes wider little by little, there is no gap."""
    passed = np.diff(steps)
    if len(passed) <= 2 * _FEWEST:
        return []
    wide = np.flatnonzero(passed >= _GAP * np.median(passed))
    wide = wide[(wide >= _FEWEST) & (wide < len(passed) - _FEWEST)]
    if len(wide) > _MOST:
        return []
    gaps = []
    for row in wide.tolist():
        sides = passed[max(row - _AROUND, 0) : row], passed[row + 1 : row + 1 + _AROUND]
        if passed[row] >= _GAP * max(float(np.median(side)) for side in sides):
            gaps.append((int(steps[row]), int(steps[row + 1])))
    return gaps
