"""Routes for statistics of a selected range of curves."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from mindinsight.server.curves.statistics import range_statistics
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.scalar.lines import View, line_between

router = APIRouter()


@router.get("/statistics")
async def statistics(
    service: Annotated[Service, Depends(service_of)],
    tag: Annotated[str, Query(description="the tag as recorded")],
    run: Annotated[list[str], Query(description="run ids, in the order of the answer", max_length=1000)],
    low: Annotated[float | None, Query(description="lower end of x")] = None,
    high: Annotated[float | None, Query(description="upper end of x")] = None,
    x: Annotated[str, Query(description="step, relative, wall or tag:<another scalar>")] = "step",
) -> dict[str, Any]:
    """Count, ends, extremes, mean, deviation and slope of each run's line between two places on x.

    A run that has no such tag is left out.
    """
    snapshot = service.store.snapshot()
    view = View(0, x, low, high)
    known = [snapshot.runs[run_id] for run_id in run if run_id in snapshot.runs]
    lines = [(member.id, line_between(member, tag, view)) for member in known]
    rows = [
        {"run": run_id, **range_statistics(line.steps, line.values)}
        for run_id, line in lines
        if line is not None
    ]
    return {"tag": tag, "rows": rows}
