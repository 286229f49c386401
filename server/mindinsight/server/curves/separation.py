"""Separation of two groups of runs by a setting: where both lie, and how likely that is by chance.

A number separates by an interval of its values, of which a threshold is a special case: Kuiper's two-sample
statistic (1960) is the largest difference of the shares of both groups in any interval, so that an optimum
inside a range is found too. Texts separate by a set of values: the total variation distance. How likely an
effect is by chance is measured by permutation, and corrected for the number of settings by the smallest
p-value of all of them (Westfall and Young, 1993).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Doubles, Ints

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
