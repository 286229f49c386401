"""Responses with curves: for a width in pixels, and points recorded since the last response.

Does not import FastAPI.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import Response

from mindinsight.server.curves.smoothing import SmoothingKind
from mindinsight.server.http.responses import answer, encoded, encoded_answers, encoded_response
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar import chart_columns
from mindinsight.server.plugins.scalar.chart_columns import CurveQuery, View
from mindinsight.server.store.formula_series import PREFIX
from mindinsight.server.store.run import Snapshot

T = TypeVar("T")

MOST_TAILS = 1000  # series of one request, about 20 microseconds each


class Smoothed(BaseModel):
    """Smoothing parameters of a curve."""

    smooth: float = Field(0.0, ge=0, lt=1, description="weight of the smoothing")
    kind: SmoothingKind = Field("debiased", description="of the smoothing")
    least: int = Field(0, ge=0, description="points below which a line is not smoothed")


class Curves(Smoothed):
    """Query of curves: tag, runs, width, range and axis."""

    tag: str = Field(description="the tag as recorded, or = and a formula such as =log(train/loss)")
    run: list[str] = Field(
        description="run ids, in the order of the response", max_length=chart_columns.MOST_RUNS
    )
    px: int = Field(
        chart_columns.PIXELS,
        ge=0,
        le=chart_columns.MOST_PIXELS,
        description="width of the chart; 0 for every point",
    )
    x: str = Field("step", description="step, relative, wall or tag:<another scalar>")
    low: float | None = Field(None, description="lower end of x")
    high: float | None = Field(None, description="upper end of x")
    log_x: bool = False
    overwritten: bool = Field(False, description="with the intervals that a restart overwrote")
    fold: list[str] = Field(
        [], description="jobs whose ranks come as one median", max_length=chart_columns.MOST_RUNS
    )
    also: list[str] = Field(
        [], description="additional tags, each with a response", max_length=chart_columns.MOST_TAGS
    )

    def view(self) -> View:
        """Return the view that the parameters describe."""
        return View(self.px, self.x, self.low, self.high, self.log_x, self.smooth, self.kind, self.least)


class Known(BaseModel):
    """Series of which a page already has the first points, and now requests the newer ones."""

    tag: str = Field(description="the tag as recorded")
    run: str = Field(description="run id")
    since: int = Field(ge=0, description="``count`` of the last response")
    generation: int = Field(description="``generation`` of the last response")

    def newest(self, snapshot: Snapshot, smoothing: Smoothed) -> dict[str, Any]:
        """Return the points that the series gained after `since` rows, smoothed by these parameters. If the
        run or tag is unknown, the columns are empty, and `whole` is true."""
        run = snapshot.runs.get(self.run)
        if run is None:
            return chart_columns.missing_rows(self.run)
        view = View(0, weight=smoothing.smooth, kind=smoothing.kind, least=smoothing.least)
        return chart_columns.newest_rows(run, self.tag, self.since, self.generation, view)


class Tail(Known, Smoothed):
    """Query of the new points of one series."""


class Tails(Smoothed):
    """Request for the new points of all series of a page that have grown."""

    series: list[Known] = Field(max_length=MOST_TAILS)


async def series(state: State, headers: Headers, query: Curves) -> Response:
    """Return every run's curve of one tag as `series`: the extremes per pixel, both ends, and all non-finite
    values. Unknown runs, and runs without the tag, are omitted.

    `count` is the number of points recorded, `points` the number on the line, of which the columns hold those
    to draw, and `gaps` the steps around intervals that are far wider than usual. Of a run that continues
    others `inherited` are their curves up to the fork, over steps alone. With `overwritten`, intervals that a
    restart recorded again are separate lines. The ranks of a job in `fold` are one curve: their median, with
    the range over all of them as `low` and `high`, and the number of `ranks`. With `also` there are
    `answers`, one for each tag. In columns each answer is an array of bytes that holds such a response.
    """
    wanted = CurveQuery(query.tag, tuple(query.run), query.view(), query.overwritten, frozenset(query.fold))
    return await chart_columns.series_answer(state.service, wanted, headers.get("accept", ""), query.also)


async def tail(state: State, headers: Headers, query: Tail) -> Response:
    """Return the points recorded after `since`. With `whole` a page has to fetch the series again. That
    happens if its rows were replaced or overwritten, if there are very many new ones, or if the run was
    removed or lacks the tag."""
    work = partial(query.newest, state.service.store.snapshot(), query)
    return answer(await _computed(work, query, [query.tag]), headers.get("accept", ""))


async def new_points(service: Service, question: Tails, accept: str) -> Response:
    """Return the new points of many series: `answers`, one for each, in the form of `tail`."""
    snapshot, tags = service.store.snapshot(), [known.tag for known in question.series]

    def bodies() -> list[bytes]:
        return [encoded(known.newest(snapshot, question), accept) for known in question.series]

    return encoded_response(encoded_answers(await _computed(bodies, question, tags), accept), accept)


async def _computed(work: Callable[[], T], smoothing: Smoothed, tags: Iterable[str]) -> T:
    """Return the result of `work`, run in a thread if smoothing or a formula makes it read all points of a
    line."""
    whole = smoothing.smooth or any(tag.startswith(PREFIX) for tag in tags)
    return await run_in_threadpool(work) if whole else work()
