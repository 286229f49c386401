"""Precision-recall curves: counts above thresholds (the plugin ``pr_curves`` of TensorBoard)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import to_numpy

MOST_THRESHOLDS: Final = 127  # TensorBoard's own limit
_ROWS: Final = 6
_LEAST: Final = 1e-7  # a divisor that is not zero


def curve(
    labels: object, predictions: object, thresholds: int = MOST_THRESHOLDS, weights: object = None
) -> npt.NDArray[np.float64]:
    """Rows [6, thresholds] of binary ``labels`` and ``predictions`` within 0..1; the thresholds are even.

    The rows: true positives, false positives, true negatives, false negatives, precision, recall.
    """
    count = _thresholds(thresholds)
    truth = to_numpy(labels).values.reshape(-1).astype(np.float64)
    guesses = to_numpy(predictions).values.reshape(-1)
    if truth.shape != guesses.shape or not truth.size:
        raise ValueError(f"labels and predictions must be equally many, got {truth.size} and {guesses.size}")
    if not ((guesses >= 0) & (guesses <= 1)).all():
        raise ValueError("predictions must be within 0..1")
    weight = np.broadcast_to(1.0 if weights is None else to_numpy(weights).values, truth.shape)
    buckets = np.floor(guesses * (count - 1)).astype(np.intp)
    positive = np.bincount(buckets, truth * weight, count)[::-1].cumsum()[::-1]
    negative = np.bincount(buckets, (1.0 - truth) * weight, count)[::-1].cumsum()[::-1]
    missed = positive[0] - positive
    precision = positive / np.maximum(_LEAST, positive + negative)
    recall = positive / np.maximum(_LEAST, positive + missed)
    return np.stack((positive, negative, negative[0] - negative, missed, precision, recall))


def given(rows: list[Any], thresholds: int = MOST_THRESHOLDS) -> npt.NDArray[np.float64]:
    """A curve that was counted elsewhere, as its six rows."""
    arrays = [to_numpy(row).values.reshape(-1).astype(np.float64) for row in rows]
    sizes = {array.size for array in arrays}
    if len(arrays) != _ROWS or len(sizes) != 1 or sizes == {0}:
        raise ValueError(f"a curve has six equally long rows, got {[array.size for array in arrays]}")
    _thresholds(thresholds)
    return np.stack(arrays)


def _thresholds(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 2:
        raise ValueError(f"num_thresholds must be an int of at least 2, got {count!r}")
    return min(int(count), MOST_THRESHOLDS)
