"""Columns of a chart: scalar series of runs and jobs for a width in pixels, and the cache of encoded
responses.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from mindinsight.server.compute.json_values import non_finite_as_text
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.curves.bands import Cells, cells, median
from mindinsight.server.curves.curve_statistics import at_steps
from mindinsight.server.curves.overflow_safe import subtract
from mindinsight.server.curves.sampling import non_finite_ranges, sample_rows, step_gaps
from mindinsight.server.curves.smoothing import SmoothingKind, smooth
from mindinsight.server.errors import ApiError
from mindinsight.server.http.responses import COLUMNS, encoded, encoded_answers, encoded_response
from mindinsight.server.http.service import Service
from mindinsight.server.store.forks import ancestors
from mindinsight.server.store.formula_series import PREFIX, FormulaSeries, series_of
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import Line, ScalarSeries
from mindinsight.server.types import Doubles, Ints

Series = ScalarSeries | FormulaSeries
MOST_NEW_ROWS: Final = 5000  # appended by a page; for more it is faster to draw the sampled curve again


@dataclass(frozen=True, slots=True)
class View:
    """Range, axis, width and smoothing of a curve, as requested."""

    pixels: int  # width of the chart; 0 for every row
    x: str = "step"  # step | relative | wall | tag:<name>
    low: float | None = None  # range of x
    high: float | None = None
    log_x: bool = False
    weight: float = 0.0  # of the smoothing
    kind: SmoothingKind = "debiased"  # of the smoothing
    least: int = 0  # points below which a line is not smoothed, because smoothing hides them

    def smooths(self, line: Line) -> bool:
        """Return True if the line is to be smoothed."""
        return self.weight > 0 and len(line.steps) >= self.least


def line_of(run: Run, tag: str) -> Line | None:
    """Return the line of a tag, or None if the run does not have the tag."""
    series = series_of(run, tag)
    return series.line() if series is not None else None


def line_between(run: Run, tag: str, view: View) -> Line | None:
    """Return the points of a tag's line between the limits of the view, or None if the run lacks the tag.
    The limits are positions on the axis `view.x` and are included. Without limits all points are returned,
    also those without a position on the axis."""
    series = series_of(run, tag)
    if series is None:
        return None
    line = series.line()
    if view.low is None and view.high is None:
        return line
    rows, x = _axis(run, line, view.x, _start(series))
    low, high = -np.inf if view.low is None else view.low, np.inf if view.high is None else view.high
    return line.rows(rows[(x >= low) & (x <= high)])


def _start(series: Series) -> float:
    """Return the wall time of the first recorded row, which is 0 on the axis of relative time."""
    return float(series.parts[0].walls[0])


def drawn_series(run: Run, series: Series, view: View, overwritten: bool) -> dict[str, Any]:
    """Return the columns of one series of one run: its line, the overwritten intervals, and non-finite
    values. Raises ApiError for an unknown axis. The series has at least one point."""
    line, intervals, start = series.line(), series.overwritten(), _start(series)
    answer: dict[str, Any] = {
        "run": run.id,
        "generation": series.generation,
        "count": series.count,
        "points": len(line.steps),
        "overwritten_points": sum(len(interval.steps) for interval in intervals),
        "last": [int(line.steps[-1]), float(line.walls[-1]), non_finite_as_text(float(line.values[-1]))],
        "non_finite": non_finite_ranges(line.steps, line.values),
        "gaps": step_gaps(line.steps),
        **drawn_line(run, line, view, start),
    }
    if overwritten:
        answer["overwritten"] = [drawn_line(run, interval, view, start) for interval in intervals]
    return answer


def newest_rows(run: Run, tag: str, since: int, generation: int, view: View) -> dict[str, Any]:
    """Return the points that a tag's line gained since a client read `since` rows of `generation`. If older
    points changed, very many are new, or the run lacks the tag, `whole` is true and there are no points: the
    client has to read the whole line."""
    series = series_of(run, tag)
    if series is None:
        return missing_rows(run.id)
    line = series.line()
    if isinstance(series, FormulaSeries):  # its rows are not those of one file: all of them are new
        last_step = int(line.steps[-1]) if (generation, since) == (series.generation, series.count) else None
    else:
        last_step = _last_step_before(series, since) if generation == series.generation else None
    first = len(line.steps)
    if last_step is not None:
        first = int(np.searchsorted(line.steps, last_step, side="right"))
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


def missing_rows(run: str) -> dict[str, Any]:
    """Return the empty columns that stand for a removed series, which a page has to fetch again. This is
    not an error, because runs may be deleted at any time."""
    none = np.zeros(0)
    columns = {"step": none, "wall": none, "value": none}
    return {"run": run, "generation": -1, "count": 0, "whole": True, "non_finite": [], **columns}


def _last_step_before(series: ScalarSeries, since: int) -> int | None:
    """Return the last step of the first `since` rows, or None unless the rows after these only extend the
    line. They do not if a step is not larger than that last step, or if they are too many to append."""
    if not 0 < since <= series.count or series.count - since > MOST_NEW_ROWS:
        return None
    columns = series.columns()
    first_of_file = columns.files[np.searchsorted(columns.files, since - 1, side="right") - 1]
    last_step = int(columns.steps[first_of_file:since].max())
    return last_step if bool((columns.steps[since:] > last_step).all()) else None


def drawn_line(run: Run, line: Line, view: View, start: float) -> dict[str, Any]:
    """Return step, wall and value of the rows of `line` in `view`, with `x` on other axes and `smooth` if
    smoothed. Raises ApiError for an unknown axis. `start` is the run's wall time zero."""
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
    """Return the rows that have a position on the x axis, and the positions. Raises ApiError."""
    if x.startswith("tag:"):
        other = line_of(run, x[4:])
        if other is None:
            return np.zeros(0, np.int64), np.zeros(0)
        return at_steps(other.steps, other.values, line.steps)
    if x not in ("step", "relative", "wall"):
        raise ApiError(422, "bad_axis", f"x is step, relative, wall or tag:<name>, not {x!r}.", x=x)
    if x == "step":
        return np.arange(len(line.steps)), line.steps.astype(np.float64)
    return np.arange(len(line.steps)), line.walls if x == "wall" else subtract(line.walls, start)


def inside(x: Doubles, low: float | None, high: float | None) -> slice:
    """Return the slice of the rows whose positions `x` are in the range, and of one neighbour on each
    side. With the neighbours, a line extends to the edge of the chart. A limit of None is no limit."""
    if not len(x) or (low is None and high is None):
        return slice(None)
    start, end = -np.inf if low is None else low, np.inf if high is None else high
    inside_rows = np.flatnonzero((x >= start) & (x <= end))
    if not len(inside_rows):
        near = int(np.searchsorted(np.maximum.accumulate(x), start))
        return slice(max(near - 1, 0), near + 1)
    return slice(max(int(inside_rows[0]) - 1, 0), int(inside_rows[-1]) + 2)


_CELLS: Final = 1_000_000  # ranks x columns, 8 bytes in each of four arrays
_COLUMNS: Final = 20_000  # more than any screen has, so that zooming stays sharp
_NON_FINITE: Final = 200  # intervals of non-finite values in a response


def job_series(ranks: Sequence[tuple[Run, Series]], view: View) -> dict[str, Any]:
    """Return the columns of the series of all `ranks`, at least one: their median, and the range over all of
    them as `low` and `high`.

    Wall time and other axes are taken from the lowest rank. The median and both ends of the range are
    smoothed alike. The result has the keys of a single curve, plus `job` and the number of `ranks`.
    """
    members = sorted(ranks, key=lambda member: (member[0].rank is None, member[0].rank or 0, member[0].id))
    lines = [series.line() for _, series in members]
    leader, first = members[0][0], lines[0]
    longest = max(len(line.steps) for line in lines)
    columns_count = min(_COLUMNS, max(_CELLS // len(lines), 500))
    grid = _with_values(cells(_near(lines, view), columns_count))
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
        "generation": sum(series.generation for _, series in ranks),
        "count": sum(series.count for _, series in ranks),
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


def _near(lines: Sequence[Line], view: View) -> list[tuple[Ints, Doubles]]:
    """Return steps and values of the lines, limited to the points that the view needs. For a range of
    steps, that is the range and, for the smoothing, as many steps before it. Fewer points give finer
    columns."""
    low, high = -np.inf, np.inf
    if view.x == "step" and view.low is not None and view.high is not None:
        low, high = view.low - (view.high - view.low), view.high
    near = []
    for line in lines:
        start, stop = np.searchsorted(line.steps, low), np.searchsorted(line.steps, high, side="right")
        part = slice(max(int(start) - 1, 0), int(stop) + 1)
        near.append((line.steps[part], np.asarray(line.values[part], np.float64)))
    return near


def _with_values(grid: Cells) -> Cells:
    """Return the grid without the columns in which no rank has a value."""
    there = (~np.isnan(grid.mean)).any(axis=0) | (grid.bad > 0).any(axis=0)
    if there.all():
        return grid
    columns = {name: getattr(grid, name)[:, there] for name in ("mean", "low", "high", "bad")}
    return replace(grid, steps=grid.steps[there], **columns)


def _ends(grid: Cells) -> tuple[Doubles, Doubles]:
    """Return the smallest and largest finite value of any rank [columns], NaN without one."""
    none = np.isnan(grid.mean).all(axis=0)
    low = np.where(np.isnan(grid.low), np.inf, grid.low).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(grid.high), -np.inf, grid.high).max(axis=0, initial=-np.inf)
    return np.where(none, np.nan, low), np.where(none, np.nan, high)


def _walls(steps: Ints, line: Line) -> Doubles:
    return np.interp(steps.astype(np.float64), line.steps.astype(np.float64), line.walls)


def _job_axis(steps: Ints, leader: Run, line: Line, view: View) -> Doubles:
    """Return the positions of the columns on the x axis [columns]."""
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
    """Return [step, wall time, value] of the last column, in the form of a single curve."""
    if not len(values):
        return [int(line.steps[-1]), float(line.walls[-1]), "nan"]
    wall = float(_walls(grid.steps[-1:], line)[0])
    return [int(grid.steps[-1]), wall, non_finite_as_text(float(values[-1]))]


def _non_finite(lines: Sequence[Line]) -> list[Any]:
    ranges = [interval for line in lines for interval in non_finite_ranges(line.steps, line.values)]
    return sorted(ranges, key=lambda interval: interval[1])[:_NON_FINITE]


PIXELS: Final = 600  # default width of a chart
MOST_PIXELS: Final = 4000  # a 4K screen has 3,840
MOST_RUNS: Final = 1000  # in a query; a server shows 999 runs by default
MOST_TAGS: Final = 16  # in addition to the first
_AT_ONCE: Final = 500_000  # points, some milliseconds; more are drawn in a thread, so that none waits
_SMOOTHING: Final = 10  # factor by which smoothing a point takes longer
_ANSWERS: Final = 64  # cached responses
_LARGEST: Final = 1 << 17  # bytes of a cached response, 8 MB for all


@dataclass(frozen=True, slots=True)
class CurveQuery:
    """Query of curves: tag, runs in the order of the response, view, overwritten intervals, and jobs
    with ranks shown as one.
    """

    tag: str
    runs: tuple[str, ...]
    view: View
    overwritten: bool = False
    fold: frozenset[str] = frozenset()  # jobs whose ranks come as one curve, their median


class SeriesAnswers(LruCache[bytes]):
    """LRU cache of encoded responses by query and by the versions of their runs."""

    def __init__(self) -> None:
        super().__init__(_ANSWERS)


async def series_answer(
    service: Service, query: CurveQuery, accept: str, also: Sequence[str] = ()
) -> Response:
    """Return the curves of one tag, or a list of those of several with `also`, in the form of `accept`.
    Unknown runs, and runs without the tag, are omitted. Raises ApiError for an invalid formula or axis.
    The list has a response for the tag and for each one in `also`."""
    body = await _body(service, query, accept)
    if also:
        others = [await _body(service, replace(query, tag=tag), accept) for tag in also]
        body = encoded_answers([body, *others], accept)
    return encoded_response(body, accept)


async def _body(service: Service, query: CurveQuery, accept: str) -> bytes:
    """Return the encoded response of one tag, from the cache if possible."""
    snapshot = service.store.snapshot()
    runs = [snapshot.runs[member] for member in query.runs if member in snapshot.runs]
    parents = {member.id: chain for member in runs if (chain := ancestors(member, snapshot.runs))}
    service.loader.want(member.id for member in runs)
    find = partial(_having, runs, query.tag)  # a formula takes whole lines
    having = await run_in_threadpool(find) if query.tag.startswith(PREFIX) else find()
    cache = service.parts.of(SeriesAnswers)
    versions = [(member.id, member.version) for member, _ in having]
    kin = {parent.job for chain in parents.values() for parent, _ in chain}
    before = [run for run in snapshot.runs.values() if run.job in kin] if kin else []
    versions += [(member.id, member.version) for member in before]
    key = query, tuple(versions), COLUMNS in accept
    body = cache.find(key)
    if body is None:
        points = sum(series.count for _, series in having)
        draw = partial(_drawn, query, having, parents, before, accept)
        much = bool(parents) or points * (_SMOOTHING if query.view.weight else 1) > _AT_ONCE
        body = await run_in_threadpool(draw) if much else draw()
        if len(body) <= _LARGEST:
            cache.get(key, partial(bytes, body))
    return body


def _inherited(
    chain: Iterable[tuple[Run, int]], query: CurveQuery, before: Iterable[Run] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the columns of the runs that a run continues, each up to the step at which the next run
    continues it. For a job among the runs `before`, the columns are the median of its ranks."""
    for parent, last in chain:
        ranks = _having([run for run in before if run.job == parent.job], query.tag)
        if len(ranks) > 1:
            high = last if query.view.high is None else min(last, query.view.high)
            job = job_series(ranks, replace(query.view, high=high))
            end = int(np.searchsorted(job["step"], last, side="right"))  # a range has a neighbour beyond it
            names = [name for name in ("step", "wall", "value", "smooth") if name in job]
            if end:
                yield {"run": job["run"], **{name: job[name][:end] for name in names}}
            continue
        line = line_of(parent, query.tag)
        if line is not None:
            rows = line.rows(slice(0, int(np.searchsorted(line.steps, last, side="right"))))
            if len(rows.steps):
                yield {"run": parent.id, **drawn_line(parent, rows, query.view, float(rows.walls[0]))}


def _having(runs: Iterable[Run], tag: str) -> list[tuple[Run, Series]]:
    """Return the runs that have a tag, and its series."""
    return [(member, curve) for member in runs if (curve := series_of(member, tag)) is not None]


def _drawn(
    query: CurveQuery,
    having: list[tuple[Run, Series]],
    parents: Mapping[str, list[tuple[Run, int]]],
    before: Sequence[Run],
    accept: str,
) -> bytes:
    """Return the encoded curves of one tag, each with the curves of the runs that it continues."""
    ranks: dict[str, list[tuple[Run, Series]]] = {}  # of the jobs that are folded
    for member, curve in having:
        if member.job in query.fold:
            ranks.setdefault(member.job, []).append((member, curve))
    series: list[dict[str, Any]] = []
    for member, curve in having:
        of_job = ranks.get(member.job, [])
        folded = len(of_job) > 1
        if folded and member is not of_job[0][0]:
            continue
        drawn = (
            job_series(of_job, query.view)
            if folded
            else drawn_series(member, curve, query.view, query.overwritten)
        )
        if query.view.x == "step" and member.id in parents:
            drawn["inherited"] = list(_inherited(parents[member.id], query, before if folded else ()))
        series.append(drawn)
    return encoded({"tag": query.tag, "x": query.view.x, "series": series}, accept)
