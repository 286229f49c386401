"""Answers with curves: for a chart of a width, and the points that came since. Without FastAPI."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from starlette.datastructures import Headers, State
from starlette.responses import Response

from mindinsight.server.curves.smoothing import SmoothingKind
from mindinsight.server.http.responses import answer, encoded, encoded_answers, encoded_response
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar.chart_columns import (
    MOST_PIXELS,
    MOST_RUNS,
    MOST_TAGS,
    PIXELS,
    CurveQuery,
    View,
    gone_rows,
    newest_rows,
    series_answer,
)
from mindinsight.server.store.run import Snapshot

MOST_TAILS = 1000  # series of one question, each of some 20 us


class Smoothed(BaseModel):
    """Smoothing parameters of a curve."""

    smooth: float = Field(0.0, ge=0, lt=1, description="weight of the smoothing")
    kind: SmoothingKind = Field("debiased", description="of the smoothing")
    least: int = Field(0, ge=0, description="points below which a line is not smoothed")


class Curves(Smoothed):
    """Query of curves: tag, runs, width, range and axis."""

    tag: str = Field(description="the tag as recorded")
    run: list[str] = Field(description="run ids, in the order of the answer", max_length=MOST_RUNS)
    px: int = Field(PIXELS, ge=0, le=MOST_PIXELS, description="width of the chart; 0 for every point")
    x: str = Field("step", description="step, relative, wall or tag:<another scalar>")
    low: float | None = Field(None, description="lower end of x")
    high: float | None = Field(None, description="upper end of x")
    log_x: bool = False
    overwritten: bool = Field(False, description="with the stretches that a restart overwrote")
    fold: list[str] = Field([], description="jobs whose ranks come as one median", max_length=MOST_RUNS)
    also: list[str] = Field([], description="further tags, each with an answer", max_length=MOST_TAGS)

    def view(self) -> View:
        return View(self.px, self.x, self.low, self.high, self.log_x, self.smooth, self.kind, self.least)


class Known(BaseModel):
    """Series of which a page has the first points."""

    tag: str = Field(description="the tag as recorded")
    run: str = Field(description="run id")
    since: int = Field(ge=0, description="``count`` of the last answer")
    generation: int = Field(description="``generation`` of the last answer")

    def newest(self, snapshot: Snapshot, smoothing: Smoothed) -> dict[str, Any]:
        """Return the points that came after ``since``."""
        run = snapshot.runs.get(self.run)
        if run is None:
            return gone_rows(self.run)
        view = View(0, weight=smoothing.smooth, kind=smoothing.kind, least=smoothing.least)
        return newest_rows(run, self.tag, self.since, self.generation, view)


class Tail(Known, Smoothed):
    """Query of the new points of one series."""


class Tails(Smoothed):
    """Question for the new points of all series of a page that have grown."""

    series: list[Known] = Field(max_length=MOST_TAILS)


async def series(state: State, headers: Headers, query: Curves) -> Response:
    """Every run's curve of one tag: per pixel its extremes, the two ends, and all that is not finite.

    ``count`` is the number of points recorded, ``points`` of the line, of which the columns hold those
    to draw. With ``overwritten`` the stretches that a restart recorded again come as lines of their own.
    A run that has no such tag is left out. The ranks of a job in ``fold`` are one curve: their median, with
    ``low`` and ``high``, the range over all of them, and how many ``ranks`` there are. With ``also`` there
    are ``answers``, one for each tag; in columns each of them is one of bytes that holds such an answer.
    """
    wanted = CurveQuery(query.tag, tuple(query.run), query.view(), query.overwritten, frozenset(query.fold))
    return await series_answer(state.service, wanted, headers.get("accept", ""), query.also)


async def tail(state: State, headers: Headers, query: Tail) -> Response:
    """The points that came after ``since``; ``whole`` says that a page has to fetch the series anew.

    That is so when rows that it has were replaced or overwritten, when very many came, or when the run is
    gone.
    """
    return answer(query.newest(state.service.store.snapshot(), query), headers.get("accept", ""))


def new_points(service: Service, question: Tails, accept: str) -> Response:
    """Return the new points of many series: ``answers``, one for each, as ``tail`` gives it."""
    snapshot = service.store.snapshot()
    bodies = [encoded(known.newest(snapshot, question), accept) for known in question.series]
    return encoded_response(encoded_answers(bodies, accept), accept)
