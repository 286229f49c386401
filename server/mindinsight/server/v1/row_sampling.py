"""Deterministic sampling of long series, to the numbers of rows that MindInsight returns.

MindInsight's sample was random. This sample is the same at every call and contains the first row, the last,
and the extremes and the first non-finite value of each section.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.types import Ints

SCALARS: Final = 1000  # rows of a series that MindInsight keeps by default, here and below
HISTOGRAMS: Final = 50
IMAGES: Final = 10
TENSORS: Final = 20


def even_rows(count: int, limit: int) -> Ints:
    """Return at most `limit` of `count` rows, evenly spaced, including the first and the last."""
    if count <= limit:
        return np.arange(count, dtype=np.int64)
    return np.unique(np.linspace(0, count - 1, limit).round().astype(np.int64))


def line_rows(series: ReferenceSeries, limit: int, full: bool) -> Ints:
    """Return the rows of a series' line: all of them with `full`, else at most `limit`."""
    rows = series.line_rows
    return rows if full else rows[even_rows(len(rows), limit)]


def extreme_rows(values: npt.NDArray[np.floating], limit: int) -> Ints:
    """Return at most `limit` rows of `values` [n], ascending, including the first and the last.

    Each section contributes its minimum, its maximum, and its first non-finite value, if any.
    """
    count = len(values)
    if count <= limit:
        return np.arange(count, dtype=np.int64)
    non_finite = np.flatnonzero(~np.isfinite(values))
    sections = max((limit - 2) // (3 if len(non_finite) else 2), 1)
    edges = np.linspace(0, count, sections + 1).astype(np.int64)
    lows, highs = _extremes(values, edges)
    _, firsts = np.unique(np.searchsorted(edges, non_finite, side="right"), return_index=True)
    return np.unique(np.concatenate((lows, highs, non_finite[firsts], [0, count - 1]))).astype(np.int64)


def _extremes(values: npt.NDArray[np.floating], edges: Ints) -> tuple[Ints, Ints]:
    """Return the rows of the smallest and of the largest finite value between two consecutive edges."""
    finite = np.isfinite(values)
    low = np.where(finite, values, np.inf)
    high = np.where(finite, values, -np.inf)
    pairs = [(start, stop) for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    lows = [start + int(np.argmin(low[start:stop])) for start, stop in pairs]
    highs = [start + int(np.argmax(high[start:stop])) for start, stop in pairs]
    return np.asarray(lows, np.int64), np.asarray(highs, np.int64)
