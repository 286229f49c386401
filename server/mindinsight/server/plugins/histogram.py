"""Routes for histograms: over the steps of a run, and of several runs at one step."""

from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Query, Response

from mindinsight.server.curves import histogram_buckets
from mindinsight.server.curves.overflow_safe import even_edges
from mindinsight.server.formats.payloads.histogram_payloads import Histograms, histograms
from mindinsight.server.http.bulkhead_routes import Accept, CurrentService, PayloadRoute, payload_series
from mindinsight.server.http.responses import answer
from mindinsight.server.plugins import Plugin
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ReferenceSeries
from mindinsight.server.types import Ints

router = APIRouter(route_class=PayloadRoute)
Runs = Annotated[list[str], Query(max_length=100)]


_NON_FINITE: Final = ("nan", "positive_infinity", "negative_infinity")
_MOST_ROWS: Final = 20_000  # newest histograms read for one response


@router.get("/series")
def over_steps(
    run: str,
    series: Annotated[ReferenceSeries, payload_series("histogram")],
    columns: Annotated[
        int, Query(ge=1, le=2000, description="maximum number of columns, into which steps are summed")
    ] = 300,
    bins: Annotated[int, Query(ge=2, le=400)] = 80,
    single_steps: Annotated[
        bool, Query(alias="each", description="single steps, evenly chosen, instead of sums of neighbours")
    ] = False,
    low: Annotated[float | None, Query(description="lower end of the values; default: all values")] = None,
    high: float | None = None,
    accept: Accept = "",
) -> Response:
    """Return one tag of one run over its steps: counts on common edges, percentiles, and counts of
    non-finite values. `counts` holds [columns, bins] numbers, `percentile` [columns, 9]."""
    line = series.line_rows
    rows = line[_even(len(line), min(columns, _MOST_ROWS))] if single_steps else line[-_MOST_ROWS:]
    decoded = histograms([series.read(row) for row in rows.tolist()])
    bucketed = histogram_buckets.Bucketed(
        decoded.bounds, decoded.left, decoded.width, decoded.counts, (decoded.low, decoded.high)
    )
    starts = _even(len(rows), columns)
    least, most = bucketed.range()
    edges = even_edges(least if low is None else low, most if high is None else high, bins + 1)
    return answer(
        {
            "run": run,
            "tag": series.tag,
            "count": len(line),
            "shown": len(starts),
            "shares": histogram_buckets.PERCENTILES,
            "step": series.steps[rows][starts],
            "wall": series.walls[rows][starts],
            "edges": edges,
            "counts": histogram_buckets.in_columns(histogram_buckets.on_edges(bucketed, edges), starts)
            .astype(np.float32)
            .ravel(),
            "percentile": histogram_buckets.percentiles(bucketed)[starts].ravel(),
            **_non_finite(decoded, starts),
        },
        accept,
    )


@router.get("/at")
def at_step(
    service: CurrentService,
    run: Runs,
    tag: str,
    step: int,
    accept: Accept = "",
) -> Response:
    """Return the recorded buckets of several runs as `runs`, each at its step nearest to the given one.
    Unknown runs, and runs without the tag, are omitted."""
    snapshot = service.store.snapshot()
    rows = [_nearest(snapshot.runs[run_id], tag, step) for run_id in run if run_id in snapshot.runs]
    return answer({"tag": tag, "step": step, "runs": [row for row in rows if row is not None]}, accept)


def _nearest(run: Run, tag: str, step: int) -> dict[str, Any] | None:
    series = run.references.get("histogram", {}).get(tag)
    if series is None:
        return None
    row = series.nearest_row(step)
    decoded = histograms([series.read(row)])
    return {
        "run": run.id,
        "step": int(series.steps[row]),
        "wall": float(series.walls[row]),
        **{name: getattr(decoded, name) for name in ("left", "width", "counts")},
        **{name: int(getattr(decoded, name)[0]) for name in ("count", *_NON_FINITE)},
        **_extremes(decoded),
    }


def _extremes(decoded: Histograms) -> dict[str, float | None]:
    """Return the smallest and largest finite value and their sum, each None if no value is finite."""
    finite = decoded.count[0] - sum(getattr(decoded, name)[0] for name in _NON_FINITE)
    known = {"min": decoded.low[0], "max": decoded.high[0], "sum": decoded.total[0]}
    shown = finite > 0
    return {name: float(x) if shown and np.isfinite(x) else None for name, x in known.items()}


def _non_finite(decoded: Histograms, starts: Ints) -> dict[str, Any]:
    """Return the numbers of non-finite values of each column, and their sums."""
    columns = {name: getattr(decoded, name) for name in _NON_FINITE}
    totals = {name: int(column.sum()) for name, column in columns.items()}
    if len(starts):
        columns = {name: np.add.reduceat(column, starts) for name, column in columns.items()}
    return {**columns, "non_finite": totals}


def _even(count: int, most: int) -> Ints:
    """Return at most `most` of `count` row indices, evenly spaced, including the first."""
    return np.unique(np.arange(min(count, most), dtype=np.int64) * count // max(min(count, most), 1))


PLUGIN = Plugin(name="histogram", router=router)
