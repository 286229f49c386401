"""From the columns of a series to the lines that are drawn: segments, x axis, range, rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.compare import at_steps
from mindinsight.server.curves.sampling import non_finite_ranges, sample_rows
from mindinsight.server.curves.smoothing import smooth
from mindinsight.server.errors import ApiError, unknown_run
from mindinsight.server.store.run import Run, Snapshot
from mindinsight.server.store.series import Columns
from mindinsight.server.types import Doubles, Floats, Ints

MOST_NEW_ROWS: Final = 5000


@dataclass(frozen=True, slots=True)
class Line:
    """One segment of a series: ascending steps, one value for each (the later one where two were written)."""

    steps: Ints
    walls: Doubles
    values: Floats

    def rows(self, rows: Any) -> Line:
        return Line(self.steps[rows], self.walls[rows], self.values[rows])


@dataclass(frozen=True, slots=True)
class View:
    """How a curve is looked at: what a request's parameters ask for."""

    pixels: int  # width of the chart; 0 for every row
    x: str = "step"  # step | relative | wall | tag:<name>
    low: float | None = None  # range of x
    high: float | None = None
    log_x: bool = False
    weight: float = 0.0  # of the smoothing
    least: int = 0  # points below which a line is not smoothed: a few are seen better as they are

    def smooths(self, line: Line) -> bool:
        return self.weight > 0 and len(line.steps) >= self.least


def segments(columns: Columns) -> list[Line]:
    """The series cut where steps go back: oldest first, the last one is the line."""
    edges = [*columns.starts.tolist(), len(columns.steps)]
    whole = Line(columns.steps, columns.walls, columns.values)
    return [_unique(whole.rows(slice(a, b))) for a, b in pairwise(edges) if b > a]


def _unique(line: Line) -> Line:
    later = line.steps[1:] != line.steps[:-1]
    return line if later.all() else line.rows(np.append(later, True))


def line_of(run: Run, tag: str) -> Line | None:
    """The newest segment of a tag; None when the run does not have the tag."""
    series = run.scalars.get(tag)
    return segments(series.columns())[-1] if series is not None else None


def line_between(run: Run, tag: str, view: View) -> Line | None:
    """The points of a tag's newest segment whose place on ``view.x`` lies in the range, ends included.

    None when the run does not have the tag. Points without a place are in no range, but in the whole.
    """
    series = run.scalars.get(tag)
    if series is None:
        return None
    parts = segments(series.columns())
    if view.low is None and view.high is None:
        return parts[-1]
    rows, x = _axis(run, parts[-1], view.x, float(parts[0].walls[0]))
    low, high = -np.inf if view.low is None else view.low, np.inf if view.high is None else view.high
    return parts[-1].rows(rows[(x >= low) & (x <= high)])


def run_of(snapshot: Snapshot, run_id: str) -> Run:
    """Raises ApiError 404 for a run that is not there."""
    run = snapshot.runs.get(run_id)
    if run is None:
        raise unknown_run(run_id)
    return run


def drawn_series(run: Run, tag: str, view: View, older: bool) -> dict[str, Any]:
    """What a page needs to draw one series of one run: the line, older segments, what is not finite."""
    series = run.scalars[tag]
    columns = series.columns()
    parts = segments(columns)
    line = parts[-1]
    start = float(parts[0].walls[0])
    answer: dict[str, Any] = {
        "run": run.id,
        "generation": series.generation,
        "count": series.count,
        "points": len(line.steps),
        "segments": len(parts),
        "last": [int(line.steps[-1]), float(line.walls[-1]), _json_number(float(line.values[-1]))],
        "non_finite": non_finite_ranges(line.steps, line.values),
        **drawn_line(run, line, view, start),
    }
    if older:
        answer["older"] = [drawn_line(run, part, view, start) for part in parts[:-1]]
    return answer


def newest_rows(run: Run, tag: str, since: int, generation: int, view: View) -> dict[str, Any]:
    """The line's rows behind the first ``since`` of the series; ``whole`` where they do not simply follow."""
    series = run.scalars.get(tag)
    if series is None:
        return gone_rows(run.id)
    columns = series.columns()
    line = segments(columns)[-1]
    whole = generation != series.generation or not _follows(columns, since)
    first = len(line.steps) if whole or since == series.count else _row_behind(line, columns, since)
    rows = line.rows(slice(first, None))
    answer = {
        "run": run.id,
        "generation": series.generation,
        "count": series.count,
        "whole": whole,
        "non_finite": non_finite_ranges(rows.steps, rows.values),
        "step": rows.steps,
        "wall": rows.walls,
        "value": rows.values,
    }
    if view.smooths(line) and len(rows.steps):
        answer["smooth"] = smooth(line.steps, line.values, view.weight)[first:]
    return answer


def gone_rows(run: str) -> dict[str, Any]:
    """The answer for a series that is no longer there: what a page has of it has to be fetched anew.

    No error: pages follow runs that may be deleted at any time.
    """
    none = np.zeros(0)
    columns = {"step": none, "wall": none, "value": none}
    return {"run": run, "generation": -1, "count": 0, "whole": True, "non_finite": [], **columns}


def _follows(columns: Columns, since: int) -> bool:
    """Whether the rows from ``since`` on go on with the line and are not too many to send one by one."""
    count = len(columns.steps)
    if since == count:
        return True
    if not 0 < since < count or count - since > MOST_NEW_ROWS or columns.starts[-1] >= since:
        return False
    return bool(columns.steps[since] != columns.steps[since - 1])


def _row_behind(line: Line, columns: Columns, since: int) -> int:
    return int(np.searchsorted(line.steps, columns.steps[since - 1], side="right"))


def drawn_line(run: Run, line: Line, view: View, start: float) -> dict[str, Any]:
    """Columns of the rows of ``line`` that ``view`` shows; ``start`` is the run's wall time zero."""
    smoothed = smooth(line.steps, line.values, view.weight) if view.smooths(line) else None
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
    places: Mapping[str, Doubles] = {
        "step": line.steps.astype(np.float64),
        "relative": line.walls - start,
        "wall": line.walls,
    }
    if x not in places:
        raise ApiError(422, "bad_axis", f"x is step, relative, wall or tag:<name>, not {x!r}.", x=x)
    return np.arange(len(line.steps)), places[x]


def inside(x: Doubles, low: float | None, high: float | None) -> slice:
    """Rows of the range and one neighbour on each side, so that a line runs out of the picture."""
    if not len(x) or (low is None and high is None):
        return slice(None)
    found = np.flatnonzero(
        (x >= (-np.inf if low is None else low)) & (x <= (np.inf if high is None else high))
    )
    if not len(found):
        near = int(np.searchsorted(np.maximum.accumulate(x), low if low is not None else -np.inf))
        return slice(max(near - 1, 0), near + 1)
    return slice(max(int(found[0]) - 1, 0), int(found[-1]) + 2)


def _json_number(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)
