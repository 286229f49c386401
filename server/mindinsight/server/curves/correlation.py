"""Correlation of two columns of numbers (Pearson, 1895), of their ranks (Spearman, 1904), and of texts.

The correlation ratio of texts (Pearson, 1905) is the root of the share of the target's variance that lies
between groups of equal texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.overflow import unit_of
from mindinsight.server.types import Doubles

FEWEST: Final = 3  # rows below which a correlation is always large


def association(values: Sequence[Any], target: Doubles) -> float | None:
    """Return from 0 to 1 how closely ``target`` [n] follows ``values``.

    Return None for too few rows, and where a column is constant.
    """
    rows = [row for row, value in enumerate(values) if value is not None and np.isfinite(target[row])]
    if len(rows) < FEWEST:
        return None
    known = [values[row] for row in rows]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known):
        numbers = np.asarray(known, np.float64)
        finite = np.isfinite(numbers)
        correlation = pearson(np.stack((numbers[finite], target[rows][finite]), axis=1))
        return None if correlation is None else abs(correlation)
    return correlation_ratio([str(value) for value in known], target[rows])


def pearson(pairs: Doubles) -> float | None:
    """Return the correlation of the two columns of ``pairs`` [n, 2]; None if a column is constant."""
    if not len(pairs):
        return None
    scaled = pairs / [unit_of(column) for column in pairs.T]
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    if not np.all(spread > 0):
        return None
    return float((centred[:, 0] * centred[:, 1]).sum() / (spread[0] * spread[1]))


def spearman(left: Doubles, right: Doubles) -> float | None:
    """Return the correlation of the ranks of two columns [n]; None if a column is constant."""
    return pearson(np.stack((ranks(left), ranks(right)), axis=1))


def ranks(values: Doubles) -> Doubles:
    """Return the rank of each value from 0; equal values share the mean of their ranks."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(((ends - counts + ends - 1) / 2)[group], np.float64)


def correlation_ratio(groups: Sequence[str], target: Doubles) -> float | None:
    """Return the correlation ratio; None if the target is constant, or no two rows share a group."""
    target = target / unit_of(target)
    names, group = np.unique(np.asarray(groups), return_inverse=True)
    whole = float(((target - target.mean()) ** 2).sum())
    if len(names) < 2 or len(names) == len(groups) or whole <= 0:
        return None
    counts = np.bincount(group)
    means = np.bincount(group, weights=target) / counts
    return float(np.sqrt((counts * (means - target.mean()) ** 2).sum() / whole))
