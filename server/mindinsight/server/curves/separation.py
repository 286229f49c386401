"""Separation of two groups of runs by a setting: its effect, and how likely that is by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Doubles

_DIVISIONS: Final = 1000  # into two groups, that are tried

Value: TypeAlias = str | int | float | bool | None  # None: the run does not have the setting
Divisions: TypeAlias = npt.NDArray[np.bool_]  # [d, n] which of n runs are in the first group


def separation(good: Sequence[Value], bad: Sequence[Value]) -> float:
    """How well a setting tells ``good`` runs from ``bad`` ones: 1 where no value lets them be confused.

    Numbers: |2 AUC - 1|, the share of pairs in which the bad run has the larger value, less the share in
    which it has the smaller. Others: the total variation distance of the values.
    """
    if not good or not bad:
        return 0.0
    division = np.arange(len(good) + len(bad)) < len(good)
    return float(_effects([*good, *bad], division[None])[0])


def chance(good: Sequence[Value], bad: Sequence[Value]) -> float:
    """Share of all divisions into groups of these sizes that a setting separates as well; 1 for no effect.

    All divisions are tried where they are few, else a thousand of them, the same each time.
    """
    if not good or not bad:
        return 1.0
    effects = _effects([*good, *bad], _divisions(len(good) + len(bad), len(good)))
    return float((effects >= separation(good, bad) - 1e-9).mean())


def _effects(values: Sequence[Value], divisions: Divisions) -> Doubles:
    """[d] effect of a setting for each division."""
    first = divisions.sum(axis=1)
    second = len(values) - first
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    keys = [repr(value) for value in values] if len(numbers) < len(values) else numbers
    _, row, count = np.unique(np.array(keys), return_inverse=True, return_counts=True)
    if len(numbers) == len(values):
        middle = np.cumsum(count) - (count - 1) / 2  # ranks from 1; equal values share their mean
        pairs = divisions @ middle[row] - first * (first + 1) / 2
        return np.asarray(np.abs(2 * pairs / (first * second) - 1), np.float64)
    holders = np.eye(len(count))[row]  # [n, values]
    shares = divisions @ holders / first[:, None] - ~divisions @ holders / second[:, None]
    return np.asarray(np.abs(shares).sum(axis=1) / 2, np.float64)


@lru_cache(maxsize=4)
def _divisions(number: int, first: int) -> Divisions:
    if math.comb(number, first) <= _DIVISIONS:
        chosen = [list(rows) for rows in combinations(range(number), first)]
    else:
        generator = np.random.default_rng(0)
        chosen = [generator.permutation(number)[:first].tolist() for _ in range(_DIVISIONS)]
    divisions = np.zeros((len(chosen), number), np.bool_)
    divisions[np.arange(len(chosen))[:, None], chosen] = True
    return divisions
