"""Differences of two curves or groups of curves: where they diverge, and which setting separates groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import Claim
from mindinsight.server.curves.alignment import departure, difference_claim, relative_difference
from mindinsight.server.curves.bands import Cells, cells
from mindinsight.server.curves.overflow_safe import limited, subtract
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


_DIVISIONS: Final = 2000  # into two groups, that are tried
_ROUNDING: Final = 1e-9
_THRESHOLD: Final = 0.001  # share of a threshold's effect that decides between equal effects

Value: TypeAlias = str | int | float | bool | None  # None: the run does not have the setting
Divisions: TypeAlias = npt.NDArray[np.bool_]  # [d, n] which of n runs are in the first group


@dataclass(frozen=True, slots=True)
class Separation:
    """How a setting separates good runs from bad ones."""

    effect: float  # from 0 to 1: difference of the shares of both groups among ``values``
    chance: float  # how often groups of these sizes are separated as well by this setting by chance
    corrected: float  # how often any of the settings compared separates them as well by chance
    region_of: str  # "good" or "bad": the group that has the larger share of ``values``
    values: tuple[Value, ...]  # distinct values of the region, in order; of numbers all in an interval
    inside: tuple[int, int]  # good and bad runs that have one of ``values``


def separations(good: Sequence[Sequence[Value]], bad: Sequence[Sequence[Value]]) -> list[Separation]:
    """Return the separation by each setting, of which each group has one list of values by run."""
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
    """Return for each run the number of its value in ascending order, and whether that order means anything.

    A missing value comes before all numbers. NaN, truth values and texts have no order.
    """
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        numbers = [value for value in known if not (isinstance(value, float) and math.isnan(value))]
        if len(numbers) == len(known):
            number_of = {value: number for number, value in enumerate(sorted(set(numbers)), start=1)}
            return np.array([0 if value is None else number_of[value] for value in values], np.int64), True
    return np.unique(np.array([repr(value) for value in values]), return_inverse=True)[1], False


def _differences(order: Ints, divisions: Divisions) -> Doubles:
    """[d, values] share of the first group that has a value, less that of the second."""
    holders = np.eye(int(order.max()) + 1)[order]  # [n, values]
    first = divisions.sum(axis=1, keepdims=True)
    return np.asarray(divisions @ holders / first - ~divisions @ holders / (len(order) - first), np.float64)


def _scores(order: Ints, ordered: bool, divisions: Divisions) -> Doubles:
    """[d] statistic of each division: the effect; of equal ones a threshold counts more than an interval.

    There are many more intervals than thresholds, so that chance finds one more often.
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
    """Return the effect, the group in the region, its values, and how many runs of both lie there."""
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
    """Return the interval in which the shares differ most, and which group lies there.

    The complement of an interval separates as well: of both, the one that is an interval of values.
    """
    below = np.concatenate(([0.0], np.cumsum(shares)))
    top, bottom = int(np.argmax(below)), int(np.argmin(below))
    low, high = sorted((top, bottom))
    places = np.arange(len(shares))
    inside = (places >= low) & (places < high)
    side = "good" if top > bottom else "bad"
    if side == "bad" and (low == 0 or high == len(shares)):  # a threshold: said of the good runs
        return ~inside, "good"
    return inside, side


@lru_cache(maxsize=4)
def _divisions(number: int, first: int) -> Divisions:
    if math.comb(number, first) <= _DIVISIONS:
        chosen = [list(rows) for rows in combinations(range(number), first)]
    else:
        generator = np.random.default_rng(0)
        chosen = [generator.permutation(number)[:first].tolist() for _ in range(_DIVISIONS)]
        chosen[0] = list(range(first))  # the actual one, so that no chance is 0
    divisions = np.zeros((len(chosen), number), np.bool_)
    divisions[np.arange(len(chosen))[:, None], chosen] = True
    return divisions


@dataclass(frozen=True, slots=True)
class Difference:
    """A curve minus its baseline at the steps both have."""

    steps: Ints  # [m]
    difference: Doubles  # [m] value - baseline; finite where both are
    relative: Doubles  # [m] difference / |baseline|; inf where only the baseline is 0, 0 where both are
    parted: int | None  # row of the first relative difference above the tolerance
    finite: int  # steps at which both are finite
    every: int  # steps that either has


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
    return Difference(
        shared.astype(np.int64),
        apart,
        relative,
        int(beyond[0]) if len(beyond) else None,
        int((np.isfinite(left) & np.isfinite(right)).sum()),
        len(steps) + len(base_steps) - len(shared),
    )


def compared_claims(compared: Difference, tolerance: float) -> list[Claim]:
    """Return the claims about a curve and its baseline: where they differ first, or that they do not."""
    if not len(compared.steps):
        return [Claim("claim.compare.no_common_steps", "unknown")]
    finite = np.isfinite(compared.difference)
    claims = []
    if not finite.all():
        step = int(compared.steps[np.argmin(finite)])
        claims.append(Claim("claim.compare.non_finite", "found", {"step": step}, ({"step": step},)))
    facts: dict[str, Any] = {"n": len(compared.steps), "steps": compared.every, "largest": _largest(compared)}
    beyond = np.flatnonzero(finite & (np.abs(compared.relative) > tolerance))
    if len(beyond):
        step = int(compared.steps[beyond[0]])
        return [Claim("claim.compare.beyond", "found", {**facts, "step": step}, ({"step": step},)), *claims]
    if claims:
        return claims
    if not compared.finite:
        return [Claim("claim.compare.no_finite", "unknown")]
    name = "within" if compared.difference.any() else "equal"
    if compared.every == len(compared.steps):
        return [Claim(f"claim.compare.{name}", "clear", facts)]
    return [Claim(f"claim.compare.{name}_common", "unknown", facts)]


def _largest(compared: Difference) -> Claim | None:
    """Return the largest finite difference: a share of the baseline, absolute if that is 0 somewhere."""
    finite = np.isfinite(compared.difference)
    shares = np.abs(compared.relative[finite])
    absolute = bool(np.isinf(shares).any())
    sizes = np.abs(compared.difference[finite]) if absolute else shares
    return difference_claim(float(sizes.max(initial=0.0)), absolute)


def _relative(left: Doubles, right: Doubles) -> Doubles:
    """``(left - right) / |right|``; infinite only where a value is, or the right one is 0."""
    size = np.abs(right)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = (left - right) / size
        overflowed = ~np.isfinite(relative) & np.isfinite(left) & np.isfinite(right) & (size > 0)
        again = limited(left / size - np.sign(right))
    return np.where(overflowed, again, relative)


def at_steps(steps: Ints, values: Floats, wanted: Ints) -> tuple[Ints, Doubles]:
    """Rows of ``wanted`` that ``steps`` (ascending) has, and the value there: another scalar as x axis."""
    rows = np.searchsorted(steps, wanted)
    inside = np.minimum(rows, max(len(steps) - 1, 0))
    matches = (
        np.flatnonzero((rows < len(steps)) & (steps[inside] == wanted))
        if len(steps)
        else np.zeros(0, np.int64)
    )
    return matches, np.asarray(values, np.float64)[inside[matches]]
