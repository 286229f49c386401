"""Deterministic sampling of long series, to the numbers of rows that MindInsight returns.

MindInsight's sample was random. This sample is the same at every call and contains the first row, the last,
and the extremes and the first non-finite value of each section.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.sampling import section_extremes
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
    """Return at most `limit` rows of `values` [n], ascending: extremes of equal sections, first and last
    row. Each section contributes its minimum, its maximum, and its first non-finite value, if any."""
    count = len(values)
    if count <= limit:
        return np.arange(count, dtype=np.int64)
    sections = max((limit - 2) // (2 if np.isfinite(values).all() else 3), 1)
    starts = np.linspace(0, count, sections, endpoint=False).astype(np.int64)
    return np.unique(np.concatenate((section_extremes(values, starts), [0, count - 1]))).astype(np.int64)
