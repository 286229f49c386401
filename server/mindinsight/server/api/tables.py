"""What the table of runs shows of scalars: one number per run, and small curves."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query

from mindinsight.server.http.column_encoding import encode
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.types import Doubles, Floats

POINTS = 48  # of a small curve

router = APIRouter(tags=["runs"])
OneService = Annotated[Service, Depends(service_of)]


@router.get("/v2/runs/columns")
def columns(service: OneService, tag: Annotated[list[str], Query(max_length=50)]) -> dict[str, Any]:
    """For each tag the runs that have it with last, lowest and highest value; NaN where there is none."""
    snapshot = service.store.snapshot()
    tables = {}
    for one in tag:
        series = {run.id: run.scalars[one] for run in snapshot.runs.values() if one in run.scalars}
        values = [found.line().values for found in series.values()]
        tables[one] = {
            "runs": list(series),
            "last": encode(np.array([found.last_value for found in series.values()], dtype=np.float64)),
            "min": encode(np.array([lowest(row) for row in values], dtype=np.float64)),
            "max": encode(np.array([-lowest(-row) for row in values], dtype=np.float64)),
        }
    return {"version": snapshot.version, "tables": tables}


@router.get("/v2/runs/sparklines")
def sparklines(
    service: OneService, tag: str, run: Annotated[list[str], Query(max_length=200)]
) -> dict[str, Any]:
    """A small curve of one tag for each of some runs: up to 48 values, evenly spread over its points."""
    runs = service.store.snapshot().runs
    service.loader.want(run)
    found = {one: runs[one].scalars[tag] for one in run if one in runs and tag in runs[one].scalars}
    return {"tag": tag, "curves": {one: encode(thinned(found[one].line().values)) for one in found}}


def lowest(values: Floats) -> float:
    """The lowest finite value; NaN when there is none."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else float("nan")


def thinned(values: Floats, points: int = POINTS) -> Doubles:
    """At most ``points`` of the values, the first and the last among them."""
    rows = np.linspace(0, len(values) - 1, min(points, len(values))).round().astype(np.int64)
    return values[rows].astype(np.float64)
