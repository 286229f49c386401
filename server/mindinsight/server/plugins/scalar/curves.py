"""Curves for a chart of some width, and facts about a selected range."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Header, Query, Response
from starlette.concurrency import run_in_threadpool

from mindinsight.server.answers import answer
from mindinsight.server.curves.statistics import range_statistics
from mindinsight.server.plugins.scalar.lines import View, drawn_series, gone_rows, line_between, newest_rows
from mindinsight.server.service import Service, service_of

router = APIRouter()

_AT_ONCE: Final = 500_000  # points, a few milliseconds: while more are drawn, other requests do not wait
_SMOOTHING: Final = 10  # times as long

Runs = Annotated[list[str], Query(description="run ids, in the order of the answer", max_length=1000)]
Tag = Annotated[str, Query(description="the tag as recorded")]


@router.get("/series")
async def series(
    service: Annotated[Service, Depends(service_of)],
    tag: Tag,
    run: Runs,
    px: Annotated[int, Query(ge=0, le=4000, description="width of the chart; 0 for every point")] = 600,
    x: Annotated[str, Query(description="step, relative, wall or tag:<another scalar>")] = "step",
    low: Annotated[float | None, Query(description="lower end of x")] = None,
    high: Annotated[float | None, Query(description="upper end of x")] = None,
    log_x: bool = False,
    smooth: Annotated[float, Query(ge=0, lt=1, description="weight of the smoothing")] = 0.0,
    least: Annotated[int, Query(ge=0, description="points below which a line is not smoothed")] = 0,
    older: Annotated[bool, Query(description="segments from before a restart, too")] = False,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Every run's curve of one tag: per pixel its extremes, the two ends, and all that is not finite.

    ``count`` is the number of points recorded, ``points`` of the newest segment; the columns hold those to
    draw. A run that has no such tag is left out.
    """
    snapshot = service.store.snapshot()
    view = View(px, x, low, high, log_x, smooth, least)
    runs = [snapshot.runs[one] for one in run if one in snapshot.runs]
    service.loader.want(one.id for one in runs)
    having = [one for one in runs if tag in one.scalars]

    def made() -> Response:
        found = [drawn_series(one, tag, view, older) for one in having]
        return answer({"tag": tag, "x": x, "series": found}, accept)

    points = sum(one.scalars[tag].count for one in having)
    much = points * (_SMOOTHING if smooth else 1) > _AT_ONCE
    return await run_in_threadpool(made) if much else made()


@router.get("/tail")
async def tail(
    service: Annotated[Service, Depends(service_of)],
    tag: Tag,
    run: Annotated[str, Query(description="run id")],
    since: Annotated[int, Query(ge=0, description="``count`` of the last answer")],
    generation: Annotated[int, Query(description="``generation`` of the last answer")],
    smooth: Annotated[float, Query(ge=0, lt=1)] = 0.0,
    least: Annotated[int, Query(ge=0)] = 0,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """The points that came after ``since``; ``whole`` says that a page has to fetch the series anew.

    That is so when rows that it has were replaced, when a new segment began, when very many came, or when
    the run is gone.
    """
    one = service.store.snapshot().runs.get(run)
    view = View(0, weight=smooth, least=least)
    found = gone_rows(run) if one is None else newest_rows(one, tag, since, generation, view)
    return answer(found, accept)


@router.get("/statistics")
async def statistics(
    service: Annotated[Service, Depends(service_of)],
    tag: Tag,
    run: Runs,
    low: Annotated[float | None, Query(description="lower end of x")] = None,
    high: Annotated[float | None, Query(description="upper end of x")] = None,
    x: Annotated[str, Query(description="step, relative, wall or tag:<another scalar>")] = "step",
) -> dict[str, Any]:
    """Count, ends, extremes, mean, deviation and slope of each run's newest segment between two places on x.

    A run that has no such tag is left out.
    """
    snapshot = service.store.snapshot()
    view = View(0, x, low, high)
    known = [snapshot.runs[one] for one in run if one in snapshot.runs]
    parts = [(one.id, line_between(one, tag, view)) for one in known]
    rows = [
        {"run": one, **range_statistics(part.steps, part.values)} for one, part in parts if part is not None
    ]
    return {"tag": tag, "rows": rows}
