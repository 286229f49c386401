"""Route for the histograms of one tag, rebinned to common edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindinsight.server.api.v1.errors import Fault
from mindinsight.server.api.v1.jobs import CurrentService
from mindinsight.server.api.v1.json_router import JsonRouter
from mindinsight.server.api.v1.parameters import FullFlag, RequiredText, loaded_run, required
from mindinsight.server.api.v1.rebin import HistogramColumns, common_edges, rebin
from mindinsight.server.api.v1.sampling import HISTOGRAMS, line_rows
from mindinsight.server.api.v1.tags import payloads_of, time_and_step
from mindinsight.server.curves.buckets import finite_edges
from mindinsight.server.formats.payloads import Histograms
from mindinsight.server.formats.payloads import histograms as read_histograms
from mindinsight.server.http.bulkhead_routes import PayloadRoute

router = JsonRouter(route_class=PayloadRoute, prefix="/datavisual", tags=["histograms"])


@router.get("/histograms")
def histograms(
    service: CurrentService, train_id: RequiredText = None, tag: RequiredText = None, full: FullFlag = False
) -> dict[str, Any]:
    """Histogram of each step as rows of [left, width, count], in the same buckets for all steps."""
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
