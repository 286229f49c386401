"""Routes of TensorBoard's HTTP interface for scripts: runs, tags and points of scalars, over the same store.

Names of runs are TensorBoard's: the path below the base directory, `.` for itself. Responses have the form of
TensorBoard 2.21, without sampling. Non-finite numbers are the texts `NaN`, `Infinity` and `-Infinity` in
JSON.
"""

import csv
import io
import math
from collections.abc import Iterator
from typing import Literal

from fastapi import APIRouter, Response
from starlette.responses import JSONResponse, PlainTextResponse

from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.service import Service
from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line

router = APIRouter(prefix="/data", tags=["tensorboard"])


@router.get("/runs")
def runs(service: CurrentService) -> list[str]:
    """Return the names of the runs, the earliest first."""
    return [_name(run) for run in _in_order(service)]


@router.get("/environment")
def environment(service: CurrentService) -> dict[str, str]:
    """Return the base directory. All other fields are empty."""
    base = service.store.snapshot().base
    return {"version": "", "data_location": base, "window_title": "", "experiment_name": ""}


@router.get("/plugin/scalars/tags")
def tags(service: CurrentService) -> dict[str, dict[str, dict[str, str]]]:
    """Return tags of scalars by run, without runs that have no scalars."""
    runs = [run for run in _in_order(service) if run.scalars]
    nothing = {"displayName": "", "description": ""}
    return {_name(run): dict.fromkeys(run.scalars, nothing) for run in runs}


@router.get("/plugin/scalars/scalars")
def scalars(service: CurrentService, run: str, tag: str, format: Literal["json", "csv"] = "json") -> Response:
    """Return the points of a series as `[wall time, step, value]`, ascending by step. Returns 404 if the
    run has no such scalar. If a step was written more than once, the last value counts. In JSON,
    non-finite values are the texts NaN, Infinity and -Infinity."""
    line = _line(service, run, tag)
    if line is None:
        return PlainTextResponse(f"Not found: No scalar data for run={run!r}, tag={tag!r}", 404)
    if format == "csv":
        sink = io.StringIO()
        writer = csv.writer(sink)
        writer.writerow(("Wall time", "Step", "Value"))
        writer.writerows(_rows(line))
        return Response(sink.getvalue(), media_type="text/csv; charset=utf-8")
    return JSONResponse([[wall, step, _json_number(value)] for wall, step, value in _rows(line)])


def _in_order(service: Service) -> list[Run]:
    return sorted(service.store.snapshot().runs.values(), key=lambda run: (run.first_event, _name(run)))


def _name(run: Run) -> str:
    return run.id.removeprefix(BASE) or "."


def _line(service: Service, name: str, tag: str) -> Line | None:
    run = service.store.snapshot().runs.get(BASE if name == "." else f"{BASE}{name}")
    series = None if run is None else run.scalars.get(tag)
    return None if series is None else series.line()


def _rows(line: Line) -> Iterator[tuple[float, int, float]]:
    return zip(line.walls.tolist(), line.steps.tolist(), line.values.tolist(), strict=True)


def _json_number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
