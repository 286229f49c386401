"""Conversion of a scalar series into the columns of a chart: x axis, range, smoothing, sampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.compare import at_steps
from mindinsight.server.curves.overflow import subtract
from mindinsight.server.curves.sampling import non_finite_ranges, sample_rows
from mindinsight.server.curves.smoothing import SmoothingKind, smooth
from mindinsight.server.errors import ApiError
from mindinsight.server.store.line import Line
from mindinsight.server.store.run import Run
from mindinsight.server.store.series import ScalarSeries
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
