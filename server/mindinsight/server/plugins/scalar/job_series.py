"""Series of a job: the median of its ranks, with their range, as the columns of one chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.bands import Cells, cells, median
from mindinsight.server.curves.overflow import subtract
from mindinsight.server.curves.sampling import non_finite_ranges, sample_rows
from mindinsight.server.curves.smoothing import smooth
from mindinsight.server.plugins.scalar.lines import View, inside, line_of
from mindinsight.server.store.line import Line
from mindinsight.server.store.run import Run
from mindinsight.server.types import Doubles, Ints

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
    x = _axis(grid.steps, leader, first, view)
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


def _axis(steps: Ints, leader: Run, line: Line, view: View) -> Doubles:
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
