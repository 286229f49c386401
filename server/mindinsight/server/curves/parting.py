"""Divergence of two groups of curves: the step from which the bad runs are on another course than the good.

Both groups are averaged on one grid of steps. The difference of the means has to leave its course beyond its
noise (``departure.py``), and it has to end up larger than the runs of one group differ among themselves.
Where a bad run becomes NaN or infinite, the step from which it grows towards that is looked for in that run
alone: runs with different settings differ from their first step, and most of them never break.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.curves.alignment import relative_difference
from mindinsight.server.curves.bands import Cells, cells
from mindinsight.server.curves.departure import departure
from mindinsight.server.curves.overflow import subtract
from mindinsight.server.types import Doubles, Floats, Ints

PartingKind: TypeAlias = Literal["not_finite", "parts", "apart", "together", "too_few"]
ORDER: Final[tuple[PartingKind, ...]] = ("not_finite", "parts", "apart", "together", "too_few")

_COLUMNS: Final = 1024  # of the grid
FEWEST: Final = 16  # columns that both groups have, below which nothing is said
_NOISE: Final = 1e-4  # share of a value below which a difference is rounding
_LEAST: Final = 0.02  # relative difference at the end below which groups are together
_SPREADS: Final = 2.0  # standard deviations within the groups that the means differ by at least
_SAME: Final = 0.6  # share of a difference that was there before a change, so that it is no new one
_GROWTH: Final = 2.0  # times its lowest size that a curve grows to at least before it breaks
_WINDOWS: Final = 32  # moving means of a curve that grows, by its length
_CLEAR: Final = 4.0  # noise levels above the lowest mean at which an earlier section of a curve begins


@dataclass(frozen=True, slots=True)
class Parting:
    """How the means of two groups of curves part."""

    kind: PartingKind
    onset: int | None = None  # step from which they diverge, or a bad run grows until it breaks
    shift: float | None = None  # of the bad mean against the good, relative, behind the onset
    spreads: float | None = None  # the same in standard deviations within the groups; None for single runs
    score: float = 0.0  # size of the change in noise levels
    broken: int | None = None  # step of the first NaN or infinity in a bad run
    broken_runs: int = 0  # bad runs that have one
    grows: int | None = None  # step from which the run that breaks first grows, None if that is not clear
    diverges: int | None = None  # step from which the means diverge, also where a run breaks later


def part(good: Sequence[tuple[Ints, Floats]], bad: Sequence[tuple[Ints, Floats]]) -> Parting:
    """Compare curves (steps ascending, values) of good runs with those of bad runs; both have some."""
    grid = cells([*good, *bad], _COLUMNS)
    split = len(good)
    broken = _first_broken(grid, split)
    judgement = _before(grid, split, len(grid.steps) if broken is None else broken)
    if broken is None:
        return judgement
    rows = np.flatnonzero(grid.bad[split:].any(axis=1))
    first = bad[int(np.argmax(grid.bad[split:, broken] > 0))]
    step = int(first[0][np.argmax(~np.isfinite(first[1]))])
    grows = _growth(*first)
    return replace(
        judgement,
        kind="not_finite",
        onset=step if grows is None else grows,
        broken=step,
        broken_runs=len(rows),
        grows=grows,
    )


def _before(grid: Cells, split: int, end: int) -> Parting:
    """Compare the means of both groups in the columns before ``end``."""
    good_mean, good_spread = _mean_and_spread(grid.mean[:split])
    bad_mean, bad_spread = _mean_and_spread(grid.mean[split:])
    columns = np.flatnonzero(~np.isnan(good_mean[:end]) & ~np.isnan(bad_mean[:end]))
    if len(columns) < FEWEST:
        return Parting("too_few")
    relative = relative_difference(bad_mean[columns], good_mean[columns])
    plain = subtract(bad_mean[columns], good_mean[columns])
    spread = _usual_spread(good_spread[columns], bad_spread[columns], good_mean[columns])
    return _judged(grid.steps[columns], relative, plain, spread)


def _growth(steps: Ints, values: Floats) -> int | None:
    """Return the step from which a curve grows until its first non-finite value; None if it does not."""
    end = int(np.argmax(~np.isfinite(values)))
    if end < FEWEST:
        return None
    sizes = np.log(np.maximum(np.abs(np.asarray(values[:end], np.float64)), 1e-300))
    width = max(4, end // _WINDOWS)
    padded = np.pad(sizes, (width // 2, width - 1 - width // 2), mode="edge")
    means = np.convolve(padded, np.full(width, 1 / width), "valid")
    changes = np.diff(sizes)
    noise = 1.4826 * float(np.median(np.abs(changes - np.median(changes)))) / np.sqrt(2)
    if sizes[-3:].max() - means.min() < max(np.log(_GROWTH), 2 * _CLEAR * noise):
        return None
    reversed_means = means[::-1]
    lowest = np.minimum.accumulate(reversed_means)
    earlier = np.flatnonzero(reversed_means > lowest + max(_CLEAR * noise / np.sqrt(width), _LEAST))
    low = end - 1 - int(np.argmin(reversed_means[: earlier[0] if len(earlier) else end]))
    still_low = np.flatnonzero(sizes[low:] <= means[low] + 2 * noise)
    return int(steps[min(low + int(still_low[-1]) + 1, end - 1)]) if len(still_low) else int(steps[low])


def _from_the_start(difference: Doubles, onset: int) -> bool:
    """Return whether a difference is about as large before ``onset`` as behind it, and to the same side.

    An offset that is constant is a growing share of a falling curve, and the other way around.
    """
    before, behind = float(np.median(difference[:onset])), float(np.median(difference[onset:]))
    noise = 1.4826 * float(np.median(np.abs(np.diff(difference)))) / np.sqrt(2)
    return before * behind > 0 and abs(before) > max(_SAME * abs(behind), _SPREADS * noise)


def _judged(steps: Ints, relative: Doubles, plain: Doubles, spread: float | None) -> Parting:
    """Judge the difference of the means, as share of the good one and in the unit of the values."""
    change = departure(relative, _NOISE)
    at_once = change is not None and any(_from_the_start(size, change.onset) for size in (relative, plain))
    onset = change.onset if change is not None else 0
    shift = float(np.median(relative[onset:]))
    size = max(abs(shift), float(np.median(np.abs(relative[onset:]))))
    spreads = None if spread is None else size / max(spread, _NOISE)
    if size < _LEAST or (spreads is not None and spreads < _SPREADS):
        return Parting("together", shift=shift, spreads=spreads)
    if at_once:
        return Parting("apart", int(steps[0]), shift, spreads)
    if change is None:
        noise = 1.4826 * float(np.median(np.abs(relative - shift)))
        clear = abs(shift) > _SPREADS * max(noise, _NOISE)
        return Parting("apart" if clear else "together", int(steps[0]) if clear else None, shift, spreads)
    step = int(steps[onset])
    return Parting("parts", step, shift, spreads, change.score, diverges=step)


def _first_broken(grid: Cells, split: int) -> int | None:
    """Return the first column in which a bad run is not finite; None if a good run broke until then."""
    columns = np.flatnonzero((grid.bad[split:] > 0).any(axis=0))
    if not len(columns) or (grid.bad[:split, : columns[0] + 1] > 0).any():
        return None
    return int(columns[0])


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
