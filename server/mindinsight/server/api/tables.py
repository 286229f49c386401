"""Routes for the columns of the run table: last, lowest and highest scalar per run, and sparklines."""

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
    for name in tag:
        series = {run.id: run.scalars[name] for run in snapshot.runs.values() if name in run.scalars}
        values = [curve.line().values for curve in series.values()]
        tables[name] = {
            "runs": list(series),
            "last": encode(np.array([curve.last_value for curve in series.values()], dtype=np.float64)),
            "min": encode(np.array([lowest(row) for row in values], dtype=np.float64)),
            "max": encode(np.array([-lowest(-row) for row in values], dtype=np.float64)),
        }
    return {"version": snapshot.version, "tables": tables}


@router.get("/v2/runs/sparklines")
def sparklines(
    service: OneService, tag: str, run: Annotated[list[str], Query(max_length=200)]
) -> dict[str, Any]:
    """Sparklines of one tag for some runs: up to 48 values each, evenly spread over the points."""
    runs = service.store.snapshot().runs
    service.loader.want(run)
    chosen = {run_id: runs[run_id].scalars for run_id in run if run_id in runs}
    series = {run_id: scalars[tag] for run_id, scalars in chosen.items() if tag in scalars}
    return {
        "tag": tag,
        "curves": {run_id: encode(thinned(curve.line().values)) for run_id, curve in series.items()},
    }


def lowest(values: Floats) -> float:
    """The lowest finite value; NaN when there is none."""
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else float("nan")


def thinned(values: Floats, points: int = POINTS) -> Doubles:
    """Downsample to at most ``points`` evenly spaced values; the first and the last are among them."""
    rows = np.linspace(0, len(values) - 1, min(points, len(values))).round().astype(np.int64)
    return values[rows].astype(np.float64)
