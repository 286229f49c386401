"""Route for the histograms of one tag, rebinned to common edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.histogram_buckets import finite_edges
from mindinsight.server.curves.overflow_safe import differences, even_edges
from mindinsight.server.formats.payloads.histogram_payloads import Histograms
from mindinsight.server.formats.payloads.histogram_payloads import histograms as read_histograms
from mindinsight.server.http.bulkhead_routes import PayloadRoute
from mindinsight.server.types import Doubles
from mindinsight.server.v1.jobs import CurrentService, payloads_of, time_and_step
from mindinsight.server.v1.row_sampling import HISTOGRAMS, line_rows
from mindinsight.server.v1.v1_parameters import FullFlag, RequiredText, loaded_run, required
from mindinsight.server.v1.v1_responses import Fault, JsonRouter

_MOST: Final = 30  # buckets, as in MindInsight
_GROWS_UP_TO: Final = 280  # values: 280 / 10 + 1 buckets is the last number below _MOST


@dataclass(frozen=True, slots=True)
class HistogramColumns:
    """Recorded histogram: columns of its buckets, all [n], and the range of its finite values."""

    left: Doubles
    width: Doubles
    count: Doubles
    minimum: float
    maximum: float

    @property
    def total(self) -> int:
        """Return the sum of the counts."""
        return int(self.count.sum())


def bucket_number(total: int) -> int:
    """Return the number of common buckets for the largest recorded `total`."""
    if total <= 0:
        return 1
    if total <= 5:
        return 2
    if total <= 10:
        return 3
    return math.ceil(total / 10) + 1 if total <= _GROWS_UP_TO else _MOST


def common_edges(histograms: Sequence[HistogramColumns]) -> Doubles:
    """Return the edges [b + 1] of buckets that cover all `histograms`."""
    filled = [histogram for histogram in histograms if histogram.total > 0]
    low = min((histogram.minimum for histogram in filled), default=0.0)
    high = max((histogram.maximum for histogram in filled), default=0.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    number = bucket_number(max((histogram.total for histogram in filled), default=0))
    return even_edges(low, high, number + 1)


def rebin(histogram: HistogramColumns, edges: Doubles) -> list[list[float]]:
    """Rebin a histogram to `edges`. Return rows of [left, width, count]."""
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


router = JsonRouter(route_class=PayloadRoute, prefix="/datavisual", tags=["histograms"])


@router.get("/histograms")
def histograms(
    service: CurrentService, train_id: RequiredText = None, tag: RequiredText = None, full: FullFlag = False
) -> dict[str, Any]:
    """Return the histogram of each step as rows of [left, width, count], with the same buckets for all
    steps.
    """
    run_id, name = required(train_id, "train_id"), required(tag, "tag")
    series = payloads_of(loaded_run(service.store.snapshot(), run_id), name, "histogram", Fault.HISTOGRAM)
    rows = line_rows(series, HISTOGRAMS, full)
    recorded = read_histograms([series.read(row) for row in rows.tolist()])
    counted = [_counted(recorded, number) for number in range(len(rows))]
    edges = common_edges(counted)
    steps = [
        {**time_and_step(series, row), "buckets": rebin(histogram, edges)}
        for row, histogram in zip(rows.tolist(), counted, strict=True)
    ]
    return {"train_id": run_id, "tag": name, "histograms": steps}


def _counted(recorded: Histograms, number: int) -> HistogramColumns:
    inside = slice(int(recorded.bounds[number]), int(recorded.bounds[number + 1]))
    counts = recorded.counts[inside].astype(np.float64)
    left, width = finite_edges(recorded.left[inside], recorded.width[inside])
    return HistogramColumns(left, width, counts, float(recorded.low[number]), float(recorded.high[number]))
