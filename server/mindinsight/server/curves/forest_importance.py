"""Importance of hyper-parameters: permutation importance (Breiman, 2001) on a random forest of scikit-learn.

A value is by how much the share of variance that forests explain of runs they have not seen (R², five-fold
cross-validation) falls when a column is shuffled there. It sees bends and interactions, which correlations do
not. The share itself says how far the values are to be trusted.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.curves.importance import pearson
from mindinsight.server.types import Doubles

FEWEST: Final = 10  # runs below which a forest says nothing
TREES: Final = 100
FOLDS: Final = 5
REPEATS: Final = 20  # shuffles of each column
INTERVAL: Final = (5, 95)  # percentiles of the values over the shuffles


@dataclass(frozen=True, slots=True)
class ColumnImportance:
    """Importance of one column."""

    name: str
    importance: float  # mean fall of R², 0 or more
    low: float  # of the interval
    high: float
    sign: int  # +1: the objective grows with it; -1: it falls; 0 for texts, and where ranks say nothing


@dataclass(frozen=True, slots=True)
class ForestImportance:
    """Importance of all columns that vary, largest first."""

    columns: tuple[ColumnImportance, ...]
    explained: float  # R² of runs that were left out, 0 or more
    runs: int


def has_forest() -> bool:
    """Whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


def forest_importance(
    columns: Mapping[str, Sequence[Any]], objective: Sequence[float], seed: int = 0
) -> ForestImportance | None:
    """Importance of ``columns`` for the runs whose objective is finite; None where there are too few.

    Pure function, for a process of its own: the first call loads much. Raises ImportError without
    scikit-learn.
    """
    target = np.asarray(objective, np.float64)
    rows: list[int] = np.flatnonzero(np.isfinite(target)).tolist()
    target = target[rows]
    encoded = {name: _encoded([values[row] for row in rows], target) for name, values in columns.items()}
    varying = {name: column for name, column in encoded.items() if len(np.unique(column)) > 1}
    if len(rows) < FEWEST or not varying or not np.ptp(target) > 0:
        return None
    matrix = np.stack(list(varying.values()), axis=1)
    falls, explained = _falls(matrix, target, seed)
    low, high = np.percentile(falls, INTERVAL, axis=1)
    measured = [
        ColumnImportance(
            name,
            max(0.0, float(falls[number].mean())),
            max(0.0, float(low[number])),
            max(0.0, float(high[number])),
            _sign([columns[name][row] for row in rows], target),
        )
        for number, name in enumerate(varying)
    ]
    measured.sort(key=lambda column: -column.importance)
    return ForestImportance(tuple(measured), max(0.0, explained), len(rows))


def _falls(matrix: npt.NDArray[np.float64], target: Doubles, seed: int) -> tuple[Doubles, float]:
    """Fall of R² [columns, shuffles] and R² itself, over the runs that were left out in turn."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import KFold

    variance = float(target.var())
    falls, errors = [], []
    for fit, left_out in KFold(FOLDS, shuffle=True, random_state=seed).split(matrix):
        forest = RandomForestRegressor(TREES, random_state=seed).fit(matrix[fit], target[fit])
        shuffled = permutation_importance(
            forest,
            matrix[left_out],
            target[left_out],
            n_repeats=REPEATS,
            random_state=seed,
            scoring="neg_mean_squared_error",
        )
        weight = len(left_out) / len(target)
        falls.append(weight * shuffled.importances / variance)
        errors.append(weight * float(np.mean((forest.predict(matrix[left_out]) - target[left_out]) ** 2)))
    return np.sum(falls, axis=0), 1 - sum(errors) / variance


def _encoded(values: Sequence[Any], target: Doubles) -> npt.NDArray[np.float64]:
    """Numbers for a forest: texts in the order of their mean objective, what is missing below all else."""
    numbers = _numbers(values)
    if numbers is not None:
        known = numbers[np.isfinite(numbers)]
        apart = float(known.min()) - 1 if len(known) else 0.0
        return np.where(np.isfinite(numbers), numbers, apart)
    texts = ["" if value is None else f"_{value}" for value in values]
    names, group = np.unique(np.asarray(texts), return_inverse=True)
    means = np.bincount(group, weights=target) / np.bincount(group)
    places = np.empty(len(names))
    places[np.argsort(means, kind="stable")] = np.arange(len(names))
    return places[group]


def _numbers(values: Sequence[Any]) -> npt.NDArray[np.float64] | None:
    """Numbers with NaN for what is missing; None where a value is something else."""
    if all(
        value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    ):
        return np.array([math.nan if value is None else float(value) for value in values])
    return None


def _sign(values: Sequence[Any], target: Doubles) -> int:
    """Sign of the rank correlation (Spearman, 1904); 0 below 0.1, and for texts."""
    numbers = _numbers(values)
    if numbers is None:
        return 0
    known = np.isfinite(numbers)
    ranks = np.stack((_ranks(numbers[known]), _ranks(target[known])), axis=1)
    correlation = pearson(ranks)
    return 0 if correlation is None or abs(correlation) < 0.1 else int(np.sign(correlation))


def _ranks(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rank of each value; equal values share the mean of theirs."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[group]
