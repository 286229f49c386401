"""Importance of a hyper-parameter: its association with an objective, from 0 to 1.

Numbers: the absolute Pearson correlation. Texts: the correlation ratio (Pearson, 1905), the share of the
objective's spread that lies between the groups, as a root so that both are on one scale from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindinsight.server.curves.overflow import unit_of
from mindinsight.server.types import Doubles

FEWEST: Final = 3  # rows below which nothing is said


def importance(values: Sequence[Any], objective: Doubles) -> float | None:
    """From 0 to 1 for the rows that have both; None for too few rows or where nothing varies."""
    rows = [row for row, value in enumerate(values) if value is not None and np.isfinite(objective[row])]
    if len(rows) < FEWEST:
        return None
    there = [values[row] for row in rows]
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in there):
        numbers = np.asarray(there, np.float64)
        finite = np.isfinite(numbers)
        correlation = pearson(np.stack((numbers[finite], objective[rows][finite]), axis=1))
        return None if correlation is None else abs(correlation)
    return correlation_ratio([str(value) for value in there], objective[rows])


def pearson(pairs: Doubles) -> float | None:
    """Correlation of the two columns of ``pairs`` [n, 2]; None when a column is constant."""
    if not len(pairs):
        return None
    scaled = pairs / [unit_of(column) for column in pairs.T]
    centred = scaled - scaled.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    if not np.all(spread > 0):
        return None
    return float((centred[:, 0] * centred[:, 1]).sum() / (spread[0] * spread[1]))


def correlation_ratio(groups: Sequence[str], objective: Doubles) -> float | None:
    """Root of the share of the objective's spread that lies between groups; None where it does not vary."""
    objective = objective / unit_of(objective)
    names, group = np.unique(np.asarray(groups), return_inverse=True)
    whole = float(((objective - objective.mean()) ** 2).sum())
    if len(names) < 2 or len(names) == len(groups) or whole <= 0:
        return None
    counts = np.bincount(group)
    means = np.bincount(group, weights=objective) / counts
    return float(np.sqrt((counts * (means - objective.mean()) ** 2).sum() / whole))
