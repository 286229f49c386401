"""Correlations of settings with an objective, and settings as numbers."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.overflow_safe import unit_of
from mindinsight.server.types import Doubles

_EXACT: Final = 1 << 53  # integers below are exact as floats
FEWEST_PAIRS: Final = 3  # rows below which a correlation is always large


def association(values: Sequence[Any], target: Doubles) -> float | None:
    """Return the strength, from 0 to 1, of the relation between ``values`` and ``target`` [n], or None if
    undefined. It is the absolute correlation for numbers, and the correlation ratio for other values. It
    is None for few rows and for a constant column."""
    rows = [row for row, value in enumerate(values) if value is not None and np.isfinite(target[row])]
    if len(rows) < FEWEST_PAIRS:
        return None
    known = [values[row] for row in rows]
    numbers = numbers_of(known)
    if numbers is not None:
        finite = np.isfinite(numbers)
        correlation = pearson(np.stack((numbers[finite], target[rows][finite]), axis=1))
        return None if correlation is None else abs(correlation)
    return correlation_ratio([repr(value) for value in known], target[rows])


def pearson(pairs: Doubles) -> float | None:
    """Return the correlation of the two columns of ``pairs`` [n, 2], all finite, or None if a column is
    constant or there are no rows."""
    if not len(pairs):
        return None
    scaled = pairs / [unit_of(column) for column in pairs.T]
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    if not np.all(spread > 0):
        return None
    return float((centred[:, 0] * centred[:, 1]).sum() / (spread[0] * spread[1]))


def spearman(left: Doubles, right: Doubles) -> float | None:
    """Return the rank correlation of two columns [n], or None if a column is constant."""
    return pearson(np.stack((ranks(left), ranks(right)), axis=1))


def chance_of(correlation: float, rows: int) -> float:
    """Return the probability that independent columns have a correlation at least as strong, of either
    sign. ``rows`` is the number of pairs of values. The probability is an approximation (Fisher)."""
    size = math.atanh(min(abs(correlation), 1 - 1e-12)) * math.sqrt(max(rows - 3, 1))
    return math.erfc(size / math.sqrt(2))


def ranks(values: Doubles) -> Doubles:
    """Return the rank of each value, from 0. Equal values have the mean of their ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - counts + ends - 1) / 2)[group], np.float64)


def correlation_ratio(groups: Sequence[str], target: Doubles) -> float | None:
    """Return the correlation ratio (eta) of the target over the groups, or None if it is undefined. Returns
    None if the target is constant, there is only one group, or every group has one member."""
    target = target / unit_of(target)
    names, group = np.unique(np.asarray(groups), return_inverse=True)
    whole = float(((target - target.mean()) ** 2).sum())
    if len(names) < 2 or len(names) == len(groups) or whole <= 0:
        return None
    counts = np.bincount(group)
    means = np.bincount(group, weights=target) / counts
    return float(np.sqrt((counts * (means - target.mean()) ** 2).sum() / whole))


def numbers_of(values: Sequence[Any]) -> Doubles | None:
    """Return the values as floats, NaN for missing ones, or None if a value is not a number. Integers too
    large for floats to distinguish are returned minus the smallest one."""
    known = [value for value in values if value is not None]
    if not all(map(is_number, known)):
        return None
    large = all(isinstance(value, int) for value in known) and max(map(abs, known), default=0) > _EXACT
    least = min(known) if large else 0  # floats would not tell them apart
    return np.array([math.nan if value is None else number_of(value - least) for value in values], np.float64)


def is_number(value: Any) -> bool:
    """Return True for an integer or a floating-point number, and False for a boolean."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def number_of(value: Any) -> float:
    """Return a number as float, or NaN if it is not a number or too large."""
    try:
        return float(value) if is_number(value) else math.nan
    except OverflowError:  # an integer beyond the largest float
        return math.nan
