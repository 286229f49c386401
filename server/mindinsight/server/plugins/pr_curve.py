"""Routes for precision-recall curves: of several runs at one step, and the area under them by step."""

from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Query, Response

from mindinsight.server.formats.payloads.chart_payloads import ROWS, pr_curve
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import Accept, CurrentService, PayloadRoute, payload_series
from mindinsight.server.http.responses import answer
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ReferenceSeries

router = APIRouter(route_class=PayloadRoute)
Runs = Annotated[list[str], Query(max_length=100)]

Curves = Annotated[ReferenceSeries, payload_series("pr_curve")]

_MOST_ROWS: Final = 2000  # newest curves read for one response


@router.get("/steps")
def steps(run: str, series: Curves, accept: Accept = "") -> Response:
    """Return the steps and times of the curves of a tag, ascending by step.

    The last curve of a step counts.
    """
    line = series.line_rows
    return answer(
        {"run": run, "tag": series.tag, "step": series.steps[line], "wall": series.walls[line]}, accept
    )


@router.get("/at")
def at_step(
    service: CurrentService,
    run: Runs,
    tag: str,
    step: int,
    accept: Accept = "",
) -> Response:
    """Return the curves of several runs, each at its step nearest to the given one.

    Columns by threshold: counts, precision and recall as recorded. Precision is undefined from `drawn` on.
    `problem` is a key of the texts that says why a curve cannot be read.
    """
    snapshot = service.store.snapshot()
    rows = [_nearest(snapshot.runs[run_id], tag, step) for run_id in run if run_id in snapshot.runs]
    return answer({"tag": tag, "step": step, "runs": [row for row in rows if row is not None]}, accept)


@router.get("/area")
def area(run: str, series: Curves, accept: Accept = "") -> Response:
    """Return the average precision, the area under the curve, of the newest 2000 steps, NaN for unreadable
    curves.
    """
    line = series.line_rows[-_MOST_ROWS:]
    values = np.array([_area(series.read(row)) for row in line.tolist()])
    columns = {"step": series.steps[line], "wall": series.walls[line], "value": values}
    return answer({"run": run, "tag": series.tag, "count": len(series.line_rows), **columns}, accept)


def _nearest(run: Run, tag: str, step: int) -> dict[str, Any] | None:
    series = run.references.get("pr_curve", {}).get(tag)
    if series is None:
        return None
    row = series.nearest_row(step)
    facts = {"run": run.id, "step": int(series.steps[row]), "wall": float(series.walls[row]), "problem": None}
    try:
        curve = pr_curve(series.read(row))
    except UnreadableError as error:
        return {**facts, "problem": error.reason}
    average = curve.average_precision
    known = average if np.isfinite(average) else None
    columns = {"threshold": curve.thresholds, **dict(zip(ROWS, curve.rows, strict=True))}
    return {**facts, "average_precision": known, "drawn": curve.drawn, **columns}


def _area(payload: bytes) -> float:
    try:
        return pr_curve(payload).average_precision
    except UnreadableError:
        return float("nan")


PLUGIN = Plugin(name="pr_curve", router=router)
