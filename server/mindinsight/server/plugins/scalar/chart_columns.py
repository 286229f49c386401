"""Columns of a chart: scalar series of runs and jobs for a width, and the cache of encoded answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.bands import Cells, cells, median
from mindinsight.server.curves.curve_comparison import at_steps
from mindinsight.server.curves.overflow_safe import subtract
from mindinsight.server.curves.sampling import non_finite_ranges, sample_rows
from mindinsight.server.curves.smoothing import SmoothingKind, smooth
from mindinsight.server.errors import ApiError
from mindinsight.server.http.responses import COLUMNS, encoded, encoded_answers, encoded_response
from mindinsight.server.http.service import Service
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line, ScalarSeries
from mindinsight.server.types import Doubles, Ints

MOST_NEW_ROWS: Final = 5000


@dataclass(frozen=True, slots=True)
class View:
    """How a curve is looked at: what a request's parameters ask for."""

    pixels: int  # width of the chart; 0 for every row
    x: str = "step"  # step | relative | wall | tag:<name>
    low: float | None = None  # range of x
    high: float | None = None
    log_x: bool = False
    weight: float = 0.0  # of the smoothing
    kind: SmoothingKind = "debiased"  # of the smoothing
    least: int = 0  # points below which a line is not smoothed: a few are seen better as they are

    def smooths(self, line: Line) -> bool:
        return self.weight > 0 and len(line.steps) >= self.least


def line_of(run: Run, tag: str) -> Line | None:
    """The line of a tag; None when the run does not have the tag."""
    series = run.scalars.get(tag)
    return series.line() if series is not None else None


def line_between(run: Run, tag: str, view: View) -> Line | None:
    """The points of a tag's line whose place on ``view.x`` lies in the range, ends included.

    None when the run does not have the tag. Points without a place are in no range, but in the whole.
    """
    series = run.scalars.get(tag)
    if series is None:
        return None
    line = series.line()
    if view.low is None and view.high is None:
        return line
    rows, x = _axis(run, line, view.x, _start(series))
    low, high = -np.inf if view.low is None else view.low, np.inf if view.high is None else view.high
    return line.rows(rows[(x >= low) & (x <= high)])


def _start(series: ScalarSeries) -> float:
    """Wall time from which relative time counts: that of the first recorded row."""
    return float(series.parts[0].walls[0])


def drawn_series(run: Run, tag: str, view: View, overwritten: bool) -> dict[str, Any]:
    """Columns to draw one series of one run: its line, the overwritten stretches, what is not finite."""
    series = run.scalars[tag]
    line, stretches, start = series.line(), series.overwritten(), _start(series)
    answer: dict[str, Any] = {
        "run": run.id,
        "generation": series.generation,
        "count": series.count,
        "points": len(line.steps),
        "overwritten_points": sum(len(stretch.steps) for stretch in stretches),
        "last": [int(line.steps[-1]), float(line.walls[-1]), _json_number(float(line.values[-1]))],
        "non_finite": non_finite_ranges(line.steps, line.values),
        **drawn_line(run, line, view, start),
    }
    if overwritten:
        answer["overwritten"] = [drawn_line(run, stretch, view, start) for stretch in stretches]
    return answer


def newest_rows(run: Run, tag: str, since: int, generation: int, view: View) -> dict[str, Any]:
    """The line's rows behind the first ``since`` of the series; ``whole`` where they do not simply follow."""
    series = run.scalars.get(tag)
    if series is None:
        return gone_rows(run.id)
    line = series.line()
    last_step = _last_step_before(series, since) if generation == series.generation else None
    first = (
        len(line.steps) if last_step is None else int(np.searchsorted(line.steps, last_step, side="right"))
    )
    rows = line.rows(slice(first, None))
    answer = {
        "run": run.id,
        "generation": series.generation,
        "count": series.count,
        "whole": last_step is None,
        "non_finite": non_finite_ranges(rows.steps, rows.values),
        "step": rows.steps,
        "wall": rows.walls,
        "value": rows.values,
    }
    if view.smooths(line) and len(rows.steps):
        answer["smooth"] = smooth(line.steps, line.values, view.weight, view.kind)[first:]
    return answer


def gone_rows(run: str) -> dict[str, Any]:
    """The answer for a series that is no longer there: what a page has of it has to be fetched anew.

    No error: pages follow runs that may be deleted at any time.
    """
    none = np.zeros(0)
    columns = {"step": none, "wall": none, "value": none}
    return {"run": run, "generation": -1, "count": 0, "whole": True, "non_finite": [], **columns}


def _last_step_before(series: ScalarSeries, since: int) -> int | None:
    """Last step of the line of the first ``since`` rows; None where the rows behind do not simply extend it.

    They do not when one of them has a step that the line has passed, or when they are too many to append.
    """
    if not 0 < since <= series.count or series.count - since > MOST_NEW_ROWS:
        return None
    columns = series.columns()
    first_of_file = columns.files[np.searchsorted(columns.files, since - 1, side="right") - 1]
    last_step = int(columns.steps[first_of_file:since].max())
    return last_step if bool((columns.steps[since:] > last_step).all()) else None


def drawn_line(run: Run, line: Line, view: View, start: float) -> dict[str, Any]:
    """Columns of the rows of ``line`` that ``view`` shows; ``start`` is the run's wall time zero."""
    smoothed = smooth(line.steps, line.values, view.weight, view.kind) if view.smooths(line) else None
    rows, x = _axis(run, line, view.x, start)
    shown = inside(x, view.low, view.high)
    rows, x = rows[shown], x[shown]
    if view.pixels:
        picked = sample_rows(x, line.values[rows], view.pixels, view.log_x)
        rows, x = rows[picked], x[picked]
    answer = {"step": line.steps[rows], "wall": line.walls[rows], "value": line.values[rows]}
    if view.x not in ("step", "wall"):
        answer["x"] = x
    if smoothed is not None:
        answer["smooth"] = smoothed[rows]
    return answer


def _axis(run: Run, line: Line, x: str, start: float) -> tuple[Ints, Doubles]:
    """Rows that have a place on the x axis, and the place."""
    if x.startswith("tag:"):
        other = line_of(run, x[4:])
        if other is None:
            return np.zeros(0, np.int64), np.zeros(0)
        return at_steps(other.steps, other.values, line.steps)
    axes: Mapping[str, Doubles] = {
        "step": line.steps.astype(np.float64),
        "relative": subtract(line.walls, start),
        "wall": line.walls,
    }
    if x not in axes:
        raise ApiError(422, "bad_axis", f"x is step, relative, wall or tag:<name>, not {x!r}.", x=x)
    return np.arange(len(line.steps)), axes[x]


def inside(x: Doubles, low: float | None, high: float | None) -> slice:
    """Rows of the range and one neighbour on each side, so that a line runs out of the picture."""
    if not len(x) or (low is None and high is None):
        return slice(None)
    inside_rows = np.flatnonzero(
        (x >= (-np.inf if low is None else low)) & (x <= (np.inf if high is None else high))
    )
    if not len(inside_rows):
        near = int(np.searchsorted(np.maximum.accumulate(x), low if low is not None else -np.inf))
        return slice(max(near - 1, 0), near + 1)
    return slice(max(int(inside_rows[0]) - 1, 0), int(inside_rows[-1]) + 2)


def _json_number(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


_CELLS: Final = 1_000_000  # of ranks x columns, 8 bytes in each of four pictures
_COLUMNS: Final = 20_000
_NON_FINITE: Final = 200  # stretches of values that are not finite


def job_series(ranks: Sequence[Run], tag: str, view: View) -> dict[str, Any]:
    """Columns to draw a tag of all ``ranks``, which hold it: ``value`` is their median, ``low`` and ``high``
    the range over all of them; wall time and other axes are those of the lowest rank.

    Smoothed, the median and both ends of the range are smoothed alike. The keys are those of a single curve;
    ``job`` and ``ranks`` (how many) tell that it is none.
    """
    members = sorted(ranks, key=lambda run: (run.rank is None, run.rank or 0, run.id))
    lines = [line for run in members if (line := line_of(run, tag)) is not None]
    leader, first = members[0], lines[0]
    longest = max(len(line.steps) for line in lines)
    grid = _with_values(cells(_near(lines, leader, view), _columns(len(lines))))
    x = _job_axis(grid.steps, leader, first, view)
    values = median(grid)
    low, high = _ends(grid)
    shown = np.arange(len(x))[inside(x, view.low, view.high)]
    if view.pixels:
        shown = shown[sample_rows(x[shown], values[shown], view.pixels, view.log_x)]
    columns = {"value": values, "low": low, "high": high}
    if view.weight > 0 and longest >= view.least:
        ends = {name: smooth(grid.steps, columns[name], view.weight, view.kind) for name in ("low", "high")}
        columns |= {**ends, "smooth": smooth(grid.steps, values, view.weight, view.kind)}
    answer: dict[str, Any] = {
        "run": leader.id,
        "job": leader.job,
        "ranks": len(lines),
        "generation": sum(run.scalars[tag].generation for run in members),
        "count": sum(run.scalars[tag].count for run in members),
        "points": sum(len(line.steps) for line in lines),
        "overwritten_points": 0,
        "last": _last(grid, first, values),
        "non_finite": _non_finite(lines),
        "step": grid.steps[shown],
        "wall": _walls(grid.steps, first)[shown],
    }
    answer |= {name: column[shown] for name, column in columns.items()}
    if view.x not in ("step", "wall"):
        answer["x"] = x[shown]
    return answer


def _columns(ranks: int) -> int:
    return min(_COLUMNS, max(_CELLS // ranks, 500))


def _near(lines: Sequence[Line], leader: Run, view: View) -> list[tuple[Ints, Doubles]]:
    """Steps and values of the lines; where a range of steps is looked at, what lies in it and a width before,
    from which a smoothed line comes: the columns are the finer then."""
    low, high = -np.inf, np.inf
    if view.x == "step" and view.low is not None and view.high is not None:
        low, high = view.low - (view.high - view.low), view.high
    parts = [
        slice(
            max(int(np.searchsorted(line.steps, low)) - 1, 0),
            int(np.searchsorted(line.steps, high, side="right")) + 1,
        )
        for line in lines
    ]
    return [
        (line.steps[part], np.asarray(line.values[part], np.float64))
        for line, part in zip(lines, parts, strict=True)
    ]


def _with_values(grid: Cells) -> Cells:
    """The columns in which some rank has recorded something."""
    there = (~np.isnan(grid.mean)).any(axis=0) | (grid.bad > 0).any(axis=0)
    if there.all():
        return grid
    return replace(
        grid,
        steps=grid.steps[there],
        mean=grid.mean[:, there],
        low=grid.low[:, there],
        high=grid.high[:, there],
        bad=grid.bad[:, there],
    )


def _ends(grid: Cells) -> tuple[Doubles, Doubles]:
    """[c] smallest and largest finite value of any rank; NaN where there is none."""
    none = np.isnan(grid.mean).all(axis=0)
    low = np.where(np.isnan(grid.low), np.inf, grid.low).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(grid.high), -np.inf, grid.high).max(axis=0, initial=-np.inf)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def _walls(steps: Ints, line: Line) -> Doubles:
    return np.interp(steps.astype(np.float64), line.steps.astype(np.float64), line.walls)


def _job_axis(steps: Ints, leader: Run, line: Line, view: View) -> Doubles:
    """[c] places of the columns on the x axis."""
    if view.x == "step":
        return steps.astype(np.float64)
    if view.x.startswith("tag:"):
        other = line_of(leader, view.x[4:])
        if other is None:
            return np.zeros(0)
        values = np.asarray(other.values, np.float64)
        finite = np.isfinite(values)
        if not finite.any():
            return np.zeros(0)
        return np.interp(steps.astype(np.float64), other.steps[finite].astype(np.float64), values[finite])
    walls = _walls(steps, line)
    return walls if view.x == "wall" else subtract(walls, float(line.walls[0]))


def _last(grid: Cells, line: Line, values: Doubles) -> list[Any]:
    """Step, wall time and value of the last column, as of a single curve."""
    if not len(values):
        return [int(line.steps[-1]), float(line.walls[-1]), "nan"]
    value = float(values[-1])
    return [
        int(grid.steps[-1]),
        float(_walls(grid.steps[-1:], line)[0]),
        value if np.isfinite(value) else str(value),
    ]


def _non_finite(lines: Sequence[Line]) -> list[Any]:
    ranges = [stretch for line in lines for stretch in non_finite_ranges(line.steps, line.values)]
    return sorted(ranges, key=lambda stretch: stretch[1])[:_NON_FINITE]


PIXELS: Final = 600  # of a chart of which nothing is said
MOST_PIXELS: Final = 4000
MOST_RUNS: Final = 1000
MOST_TAGS: Final = 16  # beside the first
_AT_ONCE: Final = 500_000  # points, a few milliseconds: while more are drawn, other requests do not wait
_SMOOTHING: Final = 10  # times as long
_ANSWERS: Final = 64
_LARGEST: Final = 1 << 17  # bytes of an answer that is cached: 8 MB for all


@dataclass(frozen=True, slots=True)
class CurveQuery:
    """Tag, runs in the order of the answer, view, whether overwritten stretches are asked for, and the jobs
    whose ranks come as one."""

    tag: str
    runs: tuple[str, ...]
    view: View
    overwritten: bool = False
    fold: frozenset[str] = frozenset()


class SeriesAnswers:
    """LRU cache of encoded answers by query and by the versions of the runs in them."""

    def __init__(self) -> None:
        self.cache = LruCache[bytes](_ANSWERS)


async def series_answer(
    service: Service, query: CurveQuery, accept: str, also: Sequence[str] = ()
) -> Response:
    """The curves of one tag in the form that ``accept`` asks for; a run without the tag is left out.

    With further tags in ``also`` the answer is a list of such answers, one for each tag.
    """
    body = await _body(service, query, accept)
    if also:
        others = [await _body(service, replace(query, tag=tag), accept) for tag in also]
        body = encoded_answers([body, *others], accept)
    return encoded_response(body, accept)


async def _body(service: Service, query: CurveQuery, accept: str) -> bytes:
    """The encoded answer of one tag, from the cache if it is there."""
    snapshot = service.store.snapshot()
    runs = [snapshot.runs[member] for member in query.runs if member in snapshot.runs]
    service.loader.want(member.id for member in runs)
    having = [member for member in runs if query.tag in member.scalars]
    cache = service.parts.of(SeriesAnswers).cache
    key = query, tuple((member.id, member.version) for member in having), COLUMNS in accept
    body = cache.find(key)
    if body is None:
        points = sum(member.scalars[query.tag].count for member in having)
        much = points * (_SMOOTHING if query.view.weight else 1) > _AT_ONCE
        body = (
            await run_in_threadpool(_drawn, query, having, accept) if much else _drawn(query, having, accept)
        )
        if len(body) <= _LARGEST:
            made = body
            cache.get(key, lambda: made)
    return body


def _drawn(query: CurveQuery, runs: list[Run], accept: str) -> bytes:
    ranks: dict[str, list[Run]] = {}  # of the jobs that are folded
    for member in runs:
        if member.job in query.fold:
            ranks.setdefault(member.job, []).append(member)
    series: list[dict[str, Any]] = []
    for member in runs:
        of_job = ranks.get(member.job, [])
        if len(of_job) < 2:
            series.append(drawn_series(member, query.tag, query.view, query.overwritten))
        elif member is of_job[0]:
            series.append(job_series(of_job, query.tag, query.view))
    return encoded({"tag": query.tag, "x": query.view.x, "series": series}, accept)
