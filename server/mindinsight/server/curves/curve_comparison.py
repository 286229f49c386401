"""Differences of two curves or groups of curves: where they diverge, and which setting separates groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.alignment import find_divergence, relative_difference
from mindinsight.server.curves.bands import Cells, cells
from mindinsight.server.curves.overflow_safe import limited, subtract
from mindinsight.server.types import Doubles, Floats, Ints

DivergenceKind: TypeAlias = Literal["not_finite", "parts", "apart", "together", "too_few"]
ORDER: Final[tuple[DivergenceKind, ...]] = ("not_finite", "parts", "apart", "together", "too_few")

_COLUMNS: Final = 1024  # columns of the grid
FEWEST: Final = 16  # common columns of both groups below which nothing is claimed
_NOISE: Final = 1e-4  # share of a value below which a difference is rounding
_LEAST: Final = 0.02  # relative difference at the end below which groups are together
_SPREADS: Final = 2.0  # smallest difference of the means, in standard deviations within the groups
_SAME: Final = 0.6  # share of a difference present before a change from which it is not new
_GROWTH: Final = 2.0  # smallest growth of a curve from its lowest magnitude until it breaks
_WINDOWS: Final = 32  # moving means along a curve that grows
_CLEAR: Final = 4.0  # noise levels above the lowest mean at which an earlier section of a curve begins


@dataclass(frozen=True, slots=True)
class GroupDivergence:
    """Divergence of the means of two groups of curves."""

    kind: DivergenceKind
    onset: int | None = None  # step from which they diverge, or a bad run grows until it breaks
    shift: float | None = None  # bad mean minus good mean after the onset, relative to the good one
    spreads: float | None = None  # the same in standard deviations within the groups, None for single runs
    score: float = 0.0  # size of the change in noise levels
    broken: int | None = None  # step of the first NaN or infinity in a bad run
    broken_runs: int = 0  # number of bad runs with a non-finite value
    grows: int | None = None  # step from which the run that breaks first grows, None if unknown
    diverges: int | None = None  # step from which the means diverge, even if a run breaks later


def compare_groups(
    good: Sequence[tuple[Ints, Floats]], bad: Sequence[tuple[Ints, Floats]]
) -> GroupDivergence:
    """Compare curves (steps ascending, values) of good runs with those of bad runs. Neither group is
    empty."""
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


def _before(grid: Cells, split: int, end: int) -> GroupDivergence:
    """Compare the means of both groups in the columns before ``end``."""
    good_mean, good_spread = _mean_and_spread(grid.mean[:split])
    bad_mean, bad_spread = _mean_and_spread(grid.mean[split:])
    columns = np.flatnonzero(~np.isnan(good_mean[:end]) & ~np.isnan(bad_mean[:end]))
    if len(columns) < FEWEST:
        return GroupDivergence("too_few")
    relative = relative_difference(bad_mean[columns], good_mean[columns])
    plain = subtract(bad_mean[columns], good_mean[columns])
    spread = _usual_spread(good_spread[columns], bad_spread[columns], good_mean[columns])
    return _judged(grid.steps[columns], relative, plain, spread)


def _growth(steps: Ints, values: Floats) -> int | None:
    """Return the step from which a curve grows until its first non-finite value, or None if it does not
    grow."""
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
    """Return True if a difference is about as large before ``onset`` as after it, and has the same sign.

    A constant offset is a growing share of a falling curve, and the other way around.
    """
    before, after = float(np.median(difference[:onset])), float(np.median(difference[onset:]))
    noise = 1.4826 * float(np.median(np.abs(np.diff(difference)))) / np.sqrt(2)
    return before * after > 0 and abs(before) > max(_SAME * abs(after), _SPREADS * noise)


def _judged(steps: Ints, relative: Doubles, plain: Doubles, spread: float | None) -> GroupDivergence:
    """Judge the difference of the means, given relative to the good mean and in the unit of the values."""
    change = find_divergence(relative, _NOISE)
    at_once = change is not None and any(_from_the_start(size, change.onset) for size in (relative, plain))
    onset = change.onset if change is not None else 0
    shift = float(np.median(relative[onset:]))
    size = max(abs(shift), float(np.median(np.abs(relative[onset:]))))
    spreads = None if spread is None else size / max(spread, _NOISE)
    if size < _LEAST or (spreads is not None and spreads < _SPREADS):
        return GroupDivergence("together", shift=shift, spreads=spreads)
    if at_once:
        return GroupDivergence("apart", int(steps[0]), shift, spreads)
    if change is None:
        noise = 1.4826 * float(np.median(np.abs(relative - shift)))
        clear = abs(shift) > _SPREADS * max(noise, _NOISE)
        return GroupDivergence(
            "apart" if clear else "together", int(steps[0]) if clear else None, shift, spreads
        )
    step = int(steps[onset])
    return GroupDivergence("parts", step, shift, spreads, change.score, diverges=step)


def _first_broken(grid: Cells, split: int) -> int | None:
    """Return the first column with a non-finite value of a bad run, or None if a good run has one by then."""
    columns = np.flatnonzero((grid.bad[split:] > 0).any(axis=0))
    if not len(columns) or (grid.bad[:split, : columns[0] + 1] > 0).any():
        return None
    return int(columns[0])


def _mean_and_spread(means: Doubles) -> tuple[Doubles, Doubles]:
    """Return mean and standard deviation [c] of the rows. NaN without values, or with one for deviation."""
    known = ~np.isnan(means)
    count = known.sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.where(known, means, 0.0).sum(axis=0) / np.maximum(count, 1)
        distance = np.where(known, means - mean, 0.0)
        spread = np.sqrt((distance**2).sum(axis=0) / np.maximum(count - 1, 1))
    return np.where(count > 0, mean, np.nan), np.where(count > 1, spread, np.nan)


def _usual_spread(good: Doubles, bad: Doubles, centre: Doubles) -> float | None:
    """Return the median spread within the groups, relative to the good mean, or None if each has one run."""
    known = np.where(np.isnan(good), bad, np.where(np.isnan(bad), good, (good + bad) / 2))
    size = max(float(np.median(np.abs(centre))), 1e-300)
    known = known[~np.isnan(known)]
    return float(np.median(known)) / size if len(known) else None


_DIVISIONS: Final = 2000  # divisions into two groups that are tried
_ROUNDING: Final = 1e-9  # difference of scores that counts as equal
_THRESHOLD: Final = 0.001  # share of a threshold's effect that decides between equal effects

Value: TypeAlias = str | int | float | bool | None  # None: the run does not have the setting
Divisions: TypeAlias = npt.NDArray[np.bool_]  # [d, n] True for runs in the first group


@dataclass(frozen=True, slots=True)
class Separation:
    """Separation of good from bad runs by one setting."""

    effect: float  # 0 to 1: difference of the shares of both groups that have one of ``values``
    chance: float  # probability that this setting separates random groups equally well
    corrected: float  # probability that any of the settings compared does
    region_of: str  # "good" or "bad": the group with the larger share of ``values``
    values: tuple[Value, ...]  # distinct values of the region in order, for numbers those of an interval
    inside: tuple[int, int]  # numbers of good and bad runs with one of ``values``


def separations(good: Sequence[Sequence[Value]], bad: Sequence[Sequence[Value]]) -> list[Separation]:
    """Return one separation per setting. ``good`` and ``bad`` have one list of values by run per setting."""
    sizes = [(len(ours), len(theirs)) for ours, theirs in zip(good, bad, strict=True)]
    if not sizes or 0 in sizes[0]:
        return [Separation(0.0, 1.0, 1.0, "good", (), (0, 0)) for _ in sizes]
    first, second = sizes[0]
    divisions = _divisions(first + second, first)
    actual = (np.arange(first + second) < first)[None]
    chances, observed, regions = [], [], []
    for ours, theirs in zip(good, bad, strict=True):
        values = [*ours, *theirs]
        order, ordered = _order(values)
        scores = _scores(order, ordered, divisions)
        score = float(_scores(order, ordered, actual)[0])
        descending = np.sort(-scores)
        chances.append(np.searchsorted(descending, -scores + _ROUNDING, side="right") / len(scores))
        observed.append(float((scores >= score - _ROUNDING).mean()))
        regions.append(_region(values, order, ordered, first))
    smallest = np.min(np.stack(chances), axis=0)  # [d]
    return [
        Separation(
            effect, chance, max(chance, float((smallest <= chance + _ROUNDING).mean())), side, region, inside
        )
        for (effect, side, region, inside), chance in zip(regions, observed, strict=True)
    ]


def _order(values: Sequence[Value]) -> tuple[Ints, bool]:
    """Return the number of each run's value in ascending order, and whether the values have an order.

    A missing value precedes all numbers. NaN, booleans and text have no order.
    """
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        numbers = [value for value in known if not (isinstance(value, float) and math.isnan(value))]
        if len(numbers) == len(known):
            number_of = {value: number for number, value in enumerate(sorted(set(numbers)), start=1)}
            return np.array([0 if value is None else number_of[value] for value in values], np.int64), True
    return np.unique(np.array([repr(value) for value in values]), return_inverse=True)[1], False


def _differences(order: Ints, divisions: Divisions) -> Doubles:
    """Return [d, values] the share of the first group with each value, minus the share of the second."""
    holders = np.eye(int(order.max()) + 1)[order]  # [n, values]
    first = divisions.sum(axis=1, keepdims=True)
    return np.asarray(divisions @ holders / first - ~divisions @ holders / (len(order) - first), np.float64)


def _scores(order: Ints, ordered: bool, divisions: Divisions) -> Doubles:
    """Return the effect [d] of each division. Of equal effects, a threshold counts more than an interval.

    Intervals are much more numerous than thresholds, so chance finds one more often.
    """
    shares = _differences(order, divisions)
    if not ordered:
        return np.asarray(np.abs(shares).sum(axis=1) / 2, np.float64)
    below = np.cumsum(shares, axis=1)
    high, low = np.maximum(below.max(axis=1), 0.0), np.minimum(below.min(axis=1), 0.0)
    return np.asarray(high - low + _THRESHOLD * np.maximum(high, -low), np.float64)


def _region(
    values: Sequence[Value], order: Ints, ordered: bool, first: int
) -> tuple[float, str, tuple[Value, ...], tuple[int, int]]:
    """Return the effect, the group in the region, the values of the region, and the runs of both groups
    there."""
    shares = _differences(order, (np.arange(len(values)) < first)[None])[0]
    if ordered:
        chosen, side = _interval(shares)
    else:
        chosen, side = shares > 0, "good"
        if chosen.sum() > (shares < 0).sum():
            chosen, side = shares < 0, "bad"
    inside = chosen[order]
    there = {number: values[row] for row, number in enumerate(order.tolist()) if chosen[number]}
    counts = int(inside[:first].sum()), int(inside[first:].sum())
    effect = abs(counts[0] / first - counts[1] / (len(values) - first))
    return effect, side, tuple(there[number] for number in sorted(there)), counts


def _interval(shares: Doubles) -> tuple[npt.NDArray[np.bool_], str]:
    """Return the interval in which the shares differ most, and the group in it.

    The complement of an interval separates equally well. Of both, the one that is an interval is returned.
    """
    below = np.concatenate(([0.0], np.cumsum(shares)))
    top, bottom = int(np.argmax(below)), int(np.argmin(below))
    low, high = sorted((top, bottom))
    places = np.arange(len(shares))
    inside = (places >= low) & (places < high)
    side = "good" if top > bottom else "bad"
    if side == "bad" and (low == 0 or high == len(shares)):  # a threshold is stated for the good runs
        return ~inside, "good"
    return inside, side


@lru_cache(maxsize=4)
def _divisions(number: int, first: int) -> Divisions:
    """Return all divisions of runs into groups, or a random sample that starts with the actual one."""
    if math.comb(number, first) <= _DIVISIONS:
        chosen = [list(rows) for rows in combinations(range(number), first)]
    else:
        generator = np.random.default_rng(0)
        chosen = [generator.permutation(number)[:first].tolist() for _ in range(_DIVISIONS)]
        chosen[0] = list(range(first))  # the actual division, so that no chance is 0
    divisions = np.zeros((len(chosen), number), np.bool_)
    divisions[np.arange(len(chosen))[:, None], chosen] = True
    return divisions


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of a curve from its baseline at the common steps."""

    steps: Ints  # [m]
    difference: Doubles  # [m] value - baseline, finite where both are
    relative: Doubles  # [m] difference / |baseline|, inf where only the baseline is 0, 0 where both are
    diverged: int | None  # row of the first relative difference above the tolerance


def difference(
    steps: Ints, values: Floats, base_steps: Ints, base_values: Floats, tolerance: float
) -> Difference:
    """Compare two curves with ascending, unique steps. Equal non-finite values count as equal."""
    shared, mine, theirs = np.intersect1d(steps, base_steps, assume_unique=True, return_indices=True)
    left = np.asarray(values, np.float64)[mine]
    right = np.asarray(base_values, np.float64)[theirs]
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    apart = np.where(same, 0.0, subtract(left, right))
    relative = np.where(same, 0.0, _relative(left, right))
    beyond = np.flatnonzero(~(np.abs(relative) <= tolerance))
    return Difference(shared.astype(np.int64), apart, relative, int(beyond[0]) if len(beyond) else None)


def _relative(left: Doubles, right: Doubles) -> Doubles:
    """Return ``(left - right) / |right|``, infinite only where a value is or the right one is 0."""
    size = np.abs(right)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = (left - right) / size
        overflowed = ~np.isfinite(relative) & np.isfinite(left) & np.isfinite(right) & (size > 0)
        again = limited(left / size - np.sign(right))
    return np.where(overflowed, again, relative)


def at_steps(steps: Ints, values: Floats, wanted: Ints) -> tuple[Ints, Doubles]:
    """Return the rows of ``wanted`` found in ``steps`` (ascending), and the values at those steps."""
    rows = np.searchsorted(steps, wanted)
    matches = np.flatnonzero(np.searchsorted(steps, wanted, side="right") > rows)
    return matches, np.asarray(values, np.float64)[rows[matches]]
