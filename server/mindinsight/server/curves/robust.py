"""Robust scales of the differences between curves: the usual change, and the largest spike by chance."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import numpy as np

from mindinsight.server.types import Doubles, Ints

CHANCE: Final = 0.002  # of a false alarm per job and kind, if differences were normal
_LOWER_MEAN: Final = 0.4375  # of the lower 80 % of squared standard normal values


def median(values: Doubles) -> Doubles:
    """[c] median over the curves that have a value; NaN where fewer than two have."""
    ordered = np.sort(values, axis=0)  # NaN comes last
    count = (~np.isnan(values)).sum(axis=0)
    columns = np.arange(values.shape[1])
    low = ordered[np.maximum(count - 1, 0) // 2, columns]
    high = ordered[np.minimum(count // 2, len(values) - 1), columns]
    return np.where(count >= 2, (low + high) / 2, np.nan)


def usual_change(raw: Doubles, size: Doubles) -> Doubles:
    """[r, c] robust standard deviation of the differences, by their changes from column to column.

    Level shifts cancel in changes. It is pooled over ranks and about 25 columns, larger for a rank that is
    noisier than the others, larger where the median is (a step with a checkpoint), and at least a thousandth
    of the step's own ``size`` and 1.48 thousandths of the median one, which is scaled as in ``_typical``.
    """
    ranks, columns = raw.shape
    changes = np.abs(np.diff(raw, axis=1)) / np.sqrt(2)
    blocks = max(min(columns // 25, (ranks * columns) // 200), 1)
    edges = np.linspace(0, columns - 1, blocks + 1).astype(np.int64)
    pooled = np.array([_typical(changes[:, a:b].ravel()) for a, b in pairwise(edges)])
    centres = (edges[:-1] + edges[1:]) / 2
    unit = np.interp(np.arange(columns), centres, pooled)
    local = np.array([_typical(size[a : b + 1]) for a, b in pairwise(edges)])
    usual_size = np.maximum(np.interp(np.arange(columns), centres, local), 1e-300)
    known_size = np.where(np.isnan(size), usual_size, size)
    unit = unit * np.maximum(known_size / usual_size, 1.0)
    unit = np.maximum(unit, 1e-3 * np.maximum(known_size, usual_size))
    own = np.array([_typical(row) for row in changes / np.maximum(unit[1:], 1e-300)])
    noisier = np.maximum(own / max(float(np.median(own)), 1e-300), 1.0) if ranks > 2 else np.ones(ranks)
    step_spread = np.zeros(columns)
    if ranks >= 5:
        step_spread = np.nan_to_num(1.4826 * row_medians(np.abs(raw).T))
    return np.asarray(np.maximum(unit, step_spread) * noisier[:, None], np.float64)


def _typical(values: Doubles) -> float:
    """1.4826 times the median of what is finite; 0 where nothing is."""
    finite = values[~np.isnan(values)]
    return 1.4826 * float(np.median(finite)) if len(finite) else 0.0


def row_medians(values: Doubles) -> Doubles:
    """[r] median of each row; NaN where it holds nothing."""
    return np.asarray(_median_or_nan(values), np.float64)


def _median_or_nan(values: Doubles) -> Doubles:
    ordered = np.sort(values, axis=1)
    count = (~np.isnan(values)).sum(axis=1)
    rows = np.arange(len(values))
    low = ordered[rows, np.maximum(count - 1, 0) // 2]
    high = ordered[rows, np.minimum(count // 2, max(values.shape[1] - 1, 0))]
    return np.where(count > 0, (low + high) / 2, np.nan)


def cumulated(values: Doubles, edges: Ints) -> Doubles:
    """[r, b + 1] sums of the columns below each edge."""
    below = np.zeros((len(values), len(edges)))
    below[:, 1:] = np.cumsum(np.add.reduceat(values, edges[:-1], axis=1), axis=1)
    return below


def inflation(sums: Doubles, counts: Doubles) -> float:
    """How many times larger the variance of block means is than that of independent steps; at least 1."""
    full = counts > 0
    means = np.where(full, sums / np.maximum(counts, 1.0), np.nan)
    changes = np.diff(means, axis=1) ** 2 / 2 * np.minimum(counts[:, 1:], counts[:, :-1])
    known = changes[~np.isnan(changes)]
    if not len(known):
        return 1.0
    independent = len(known) / (2 if len(sums) == 2 else 1)  # of two ranks one mirrors the other
    lower = np.sort(known)[: max(round(0.8 * len(known)), 1)]  # a level shift is in the rest
    variance = float(lower.mean()) / _LOWER_MEAN
    return max(variance * (1 + 1 / math.sqrt(independent)), 1.0)


def expected_largest(scaled: Doubles) -> tuple[float, float]:
    """Limits for one spike, and for each of several of one rank, from the tail of all differences.

    A power law through the 95th and 99th percentile of the ranks' median (Hill), extended to one in so many
    differences. Two ranks have one series of differences, spikes among them: its limits are fixed.
    """
    ranks, columns = scaled.shape
    if ranks == 2:
        return 25.0, 10.0
    tails = np.sort(np.quantile(scaled, (0.95, 0.99), axis=1), axis=1)
    low, high = np.median(tails, axis=1)
    low, high = max(float(low), 2.0), max(float(high), 2.7)
    power = float(np.log(high / low) / np.log(5.0))
    number = 0.01 * ranks * columns
    limit = 1.5 * high * (number / CHANCE) ** power
    return max(limit, 8.0), max(min(limit, high * (number / 0.5) ** power), 8.0)
