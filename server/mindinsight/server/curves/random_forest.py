"""Random forest (Breiman, 2001) of shallow regression trees in NumPy, with all trees grown at once.

Every tree grows one level at a time. The sums of all nodes, columns and bins are one histogram. A hundred
runs with thirty settings take less time than importing scikit-learn. Trees are judged by the runs that they
did not draw.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.types import Doubles, Ints

TREES: Final = 100  # more change no ranking of 100 runs, fewer leave runs that every tree drew
_LEVELS: Final = 5  # 32 leaves: three of a hundred runs in each
_BINS: Final = 12  # bins of a column, by its quantiles: an optimum inside a range needs three
_LEAF: Final = 3  # smallest number of runs in a leaf: one run says nothing about the others
_SHARE: Final = 1 / 3  # share of the columns that a node may split by, Breiman's advice for regression
_CELLS: Final = 40_000_000  # limit of trees x runs x columns counted in one level: half a second

Bins = npt.NDArray[np.int64]  # [n, columns]


@dataclass(frozen=True, slots=True)
class Forest:
    """Regression trees of equal depth, as arrays by level. Nodes of a level are numbered from the left."""

    columns: list[Ints]  # by level: [trees, nodes] column that a node splits by
    limits: list[Ints]  # by level: [trees, nodes] largest bin that goes to the left
    leaves: Doubles  # [trees, leaves] means
    unseen: npt.NDArray[np.bool_]  # [trees, n] runs that a tree did not draw

    def predict_unseen(self, bins: Bins) -> Doubles:
        """Return [n] for each run the mean of the trees that did not draw it. NaN if all drew it."""
        trees = np.arange(len(self.leaves))[:, None]
        rows = np.arange(len(bins))[None, :]
        node = np.zeros((len(self.leaves), len(bins)), np.int64)
        for columns, limits in zip(self.columns, self.limits, strict=True):
            node = 2 * node + (bins[rows, columns[trees, node]] > limits[trees, node])
        values = np.where(self.unseen, self.leaves[trees, node], 0.0)
        with np.errstate(invalid="ignore"):
            return np.asarray(values.sum(axis=0) / self.unseen.sum(axis=0), np.float64)


def binned(matrix: Doubles) -> Bins:
    """Return [n, columns] the number, from 0, of the bin of each value in ``matrix`` [n, columns]. All
    values are finite. The bins of a column are its distinct values, or its quantiles if these are fewer."""
    bins = np.zeros(matrix.shape, np.int64)
    for number, column in enumerate(matrix.T):
        distinct = np.unique(column)
        if len(distinct) > _BINS:
            distinct = np.unique(np.quantile(column, np.arange(_BINS) / _BINS, method="lower"))
        bins[:, number] = np.searchsorted(distinct, column, side="right") - 1
    return bins


def grow(bins: Bins, target: Doubles, generator: np.random.Generator) -> Forest:
    """Return a forest that predicts ``target`` [n] from ``bins``."""
    count, width = bins.shape
    trees = int(min(TREES, max(20, _CELLS // (count * width))))
    weights = generator.multinomial(count, np.full(count, 1 / count), trees).astype(np.float64)
    node = np.zeros((trees, count), np.int64)
    columns, limits = [], []
    means = np.full((trees, 1), float(target.mean()))
    for level in range(_LEVELS):
        counts, sums = _histograms(bins, target, weights, node, 1 << level)
        column, limit = _splits(counts, sums, generator)
        means = _means(means, node, weights, target, 1 << level)
        columns.append(column)
        limits.append(limit)
        rows, every = np.arange(count)[None, :], np.arange(trees)[:, None]
        node = 2 * node + (bins[rows, column[every, node]] > limit[every, node])
        means = np.repeat(means, 2, axis=1)
    leaves = _means(means, node, weights, target, 1 << _LEVELS)
    return Forest(columns, limits, leaves, weights == 0)


def _histograms(
    bins: Bins, target: Doubles, weights: Doubles, node: Ints, nodes: int
) -> tuple[Doubles, Doubles]:
    """Return [trees, nodes, columns, bins] the number of runs and the sum of the target."""
    trees, width = len(weights), bins.shape[1]
    shape = (trees, nodes, width, _BINS)
    tree, row = np.nonzero(weights)
    base = (tree * nodes + node[tree, row]) * (width * _BINS)
    cells = (base[:, None] + np.arange(width) * _BINS + bins[row]).ravel()
    drawn = np.repeat(weights[tree, row], width)
    size = int(np.prod(shape))
    sums = drawn * np.repeat(target[row], width)
    counted, summed = (np.bincount(cells, weight, size) for weight in (drawn, sums))
    return np.asarray(counted.reshape(shape), np.float64), np.asarray(summed.reshape(shape), np.float64)


def _splits(counts: Doubles, sums: Doubles, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the column and largest left bin of each node's best split, [trees, nodes]. Without a split
    the bin is ``_BINS``, so that all rows go left."""
    left, total = np.cumsum(counts, axis=3), np.cumsum(sums, axis=3)
    right, rest = left[..., -1:] - left, total[..., -1:] - total
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = total**2 / left + rest**2 / right
        gain -= total[..., -1:] ** 2 / left[..., -1:]
    tried = generator.random(counts.shape[:3]) < max(_SHARE, 1 / counts.shape[2])
    gain = np.where((left >= _LEAF) & (right >= _LEAF) & tried[..., None], gain, 0.0)
    flat = gain.reshape(*gain.shape[:2], -1)
    best = np.argmax(flat, axis=2)
    column, limit = np.divmod(best, _BINS)
    nothing = np.take_along_axis(flat, best[..., None], axis=2)[..., 0] <= 1e-12
    return column, np.where(nothing, _BINS, limit)


def _means(before: Doubles, node: Ints, weights: Doubles, target: Doubles, nodes: int) -> Doubles:
    """Return [trees, nodes] the mean of the target. An empty node has the mean of its parent."""
    trees = len(weights)
    cells = (np.arange(trees)[:, None] * nodes + node).ravel()
    counts = np.bincount(cells, weights.ravel(), trees * nodes).reshape(trees, nodes)
    sums = np.bincount(cells, (weights * target).ravel(), trees * nodes).reshape(trees, nodes)
    return np.where(counts > 0, sums / np.maximum(counts, 1), before)
