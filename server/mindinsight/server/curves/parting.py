"""Parting of two groups of curves: the step from which the bad runs are on another course than the good.

Both groups are averaged on one grid of steps. The difference of the means has to leave its course beyond its
noise (``departure.py``), and it has to end up larger than the runs of one group differ among themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.curves.alignment import relative_difference
from mindinsight.server.curves.bands import Cells, cells
from mindinsight.server.curves.departure import departure
from mindinsight.server.types import Doubles, Floats, Ints

PartingKind: TypeAlias = Literal["not_finite", "parts", "apart", "together", "too_few"]
ORDER: Final[tuple[PartingKind, ...]] = ("not_finite", "parts", "apart", "together", "too_few")

_COLUMNS: Final = 1024  # of the grid
_FEWEST: Final = 16  # columns that both groups have, below which nothing is said
_NOISE: Final = 1e-4  # share of a value below which a difference is rounding
_LEAST: Final = 0.02  # relative difference at the end below which groups are together
_SPREADS: Final = 2.0  # standard deviations within the groups that the means differ by at least


@dataclass(frozen=True, slots=True)
class Parting:
    """How the means of two groups of curves part."""

    kind: PartingKind
    onset: int | None = None  # step from which they part, or a bad run is not finite
    shift: float | None = None  # of the bad mean against the good, relative, behind the onset
    spreads: float | None = None  # the same in standard deviations within the groups; None for single runs
    score: float = 0.0  # size of the change in noise levels


def part(good: Sequence[tuple[Ints, Floats]], bad: Sequence[tuple[Ints, Floats]]) -> Parting:
    """Compare curves (steps ascending, values) of good runs with those of bad runs; both have some."""
    grid = cells([*good, *bad], _COLUMNS)
    split = len(good)
    broken = _first_broken(grid, split)
    good_mean, good_spread = _mean_and_spread(grid.mean[:split])
    bad_mean, bad_spread = _mean_and_spread(grid.mean[split:])
    end = len(grid.steps) if broken is None else broken
    columns = np.flatnonzero(~np.isnan(good_mean[:end]) & ~np.isnan(bad_mean[:end]))
    if len(columns) < _FEWEST:
        return _broken_or(grid, broken, Parting("too_few"))
    relative = relative_difference(bad_mean[columns], good_mean[columns])
    spread = _usual_spread(good_spread[columns], bad_spread[columns], good_mean[columns])
    judgement = _judged(grid.steps[columns], relative, spread)
    return _broken_or(grid, broken, judgement)


def _judged(steps: Ints, relative: Doubles, spread: float | None) -> Parting:
    change = departure(relative, _NOISE)
    onset = change.onset if change is not None else 0
    shift = float(np.median(relative[onset:]))
    size = max(abs(shift), float(np.median(np.abs(relative[onset:]))))
    spreads = None if spread is None else size / max(spread, _NOISE)
    if size < _LEAST or (spreads is not None and spreads < _SPREADS):
        return Parting("together", shift=shift, spreads=spreads)
    if change is None:
        noise = 1.4826 * float(np.median(np.abs(relative - shift)))
        clear = abs(shift) > _SPREADS * max(noise, _NOISE)
        return Parting("apart" if clear else "together", int(steps[0]) if clear else None, shift, spreads)
    return Parting("parts", int(steps[onset]), shift, spreads, change.score)


def _broken_or(grid: Cells, broken: int | None, parting: Parting) -> Parting:
    """Not finite where a bad run becomes so; the onset is the earlier one of both."""
    if broken is None:
        return parting
    step = int(grid.steps[broken])
    earlier = parting.onset if parting.kind == "parts" else None
    return Parting(
        "not_finite", earlier if earlier is not None else step, parting.shift, parting.spreads, parting.score
    )


def _first_broken(grid: Cells, split: int) -> int | None:
    """First column in which a bad run is not finite and no good run is."""
    alone = (grid.bad[split:] > 0).any(axis=0) & ~(grid.bad[:split] > 0).any(axis=0)
    columns = np.flatnonzero(alone)
    return int(columns[0]) if len(columns) else None


def _mean_and_spread(means: Doubles) -> tuple[Doubles, Doubles]:
    """[c] mean of the rows that have a value, NaN for none, and deviation, NaN for fewer than two."""
    there = ~np.isnan(means)
    count = there.sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(there, means, 0.0).sum(axis=0) / np.maximum(count, 1)
        apart = np.where(there, means - mean, 0.0)
        spread = np.sqrt((apart**2).sum(axis=0) / np.maximum(count - 1, 1))
    return np.where(count > 0, mean, np.nan), np.where(count > 1, spread, np.nan)


def _usual_spread(good: Doubles, bad: Doubles, centre: Doubles) -> float | None:
    """Median of the spread within the groups, as share of the good mean; None where each has one run."""
    known = np.where(np.isnan(good), bad, np.where(np.isnan(bad), good, (good + bad) / 2))
    size = max(float(np.median(np.abs(centre))), 1e-300)
    known = known[~np.isnan(known)]
    return float(np.median(known)) / size if len(known) else None
