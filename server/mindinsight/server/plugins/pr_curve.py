"""Routes for precision-recall curves: of several runs at one step, and the area under them by step."""

from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Query, Response

from mindinsight.server.claims import Claim
from mindinsight.server.formats.payloads.chart_payloads import ROWS, PrCurve, pr_curve
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
    """Return the steps and times of the curves of a tag, ascending by step. The last curve of a step
    counts."""
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
    """Return the curves of several runs as `runs`, each at its step nearest to the given one. Unknown runs,
    and runs without the tag, are omitted.

    Columns by threshold: counts, precision and recall as recorded. Precision is undefined from `drawn` on.
    `problem` is a key of the texts that says why a curve cannot be read, else null. The rates of the ROC
    curve are empty and `roc_area` is null where the counts do not determine them, which the claim `no_roc`
    says.
    """
    snapshot = service.store.snapshot()
    rows = [_nearest(snapshot.runs[run_id], tag, step) for run_id in run if run_id in snapshot.runs]
    return answer({"tag": tag, "step": step, "runs": [row for row in rows if row is not None]}, accept)


@router.get("/area")
def area(run: str, series: Curves, accept: Accept = "") -> Response:
    """Return the average precision, the area under the curve, of the newest 2000 steps, NaN for unreadable
    curves. `roc` is the area under the ROC curve, NaN where it is unknown as well.
    """
    line = series.line_rows[-_MOST_ROWS:]
    values = np.array([_areas(series.read(row)) for row in line.tolist()])
    columns = {"step": series.steps[line], "wall": series.walls[line]}
    columns |= {"value": values[:, 0], "roc": values[:, 1]}
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
    columns = {"threshold": curve.thresholds, **dict(zip(ROWS, curve.rows, strict=True))}
    rates = np.zeros((2, 0)) if curve.roc is None else curve.roc
    columns |= {"false_positive_rate": rates[0], "true_positive_rate": rates[1]}
    areas = {"average_precision": curve.average_precision, "roc_area": curve.roc_area}
    claim = roc_claim(curve)
    return {
        **facts,
        **{name: area if np.isfinite(area) else None for name, area in areas.items()},
        "no_roc": claim and claim.as_json(),
        "drawn": curve.drawn,
        **columns,
    }


def roc_claim(curve: PrCurve) -> Claim | None:
    """Return the claim that the counts of a curve do not determine its ROC curve, or None if they do."""
    return Claim("claim.pr_curve.no_roc", "unknown") if curve.roc is None else None


def _areas(payload: bytes) -> tuple[float, float]:
    """Return the average precision and the area under the ROC curve, NaN for what is unknown."""
    try:
        curve = pr_curve(payload)
    except UnreadableError:
        return float("nan"), float("nan")
    return curve.average_precision, curve.roc_area


PLUGIN = Plugin(name="pr_curve", router=router)
