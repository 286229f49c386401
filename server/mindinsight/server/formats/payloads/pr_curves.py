"""Decoder of precision-recall curves: tensors [6, k] of counts, precision and recall at k thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.formats.payloads.tensors import tensor
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.types import Doubles

ROWS: Final = (
    "true_positives",
    "false_positives",
    "true_negatives",
    "false_negatives",
    "precision",
    "recall",
)
_MOST_THRESHOLDS: Final = 100_000


@dataclass(frozen=True, slots=True)
class PrCurve:
    """A curve of k thresholds that are even from 0 to 1; ``rows`` [6, k] are those of ``ROWS``."""

    rows: Doubles

    @property
    def thresholds(self) -> Doubles:
        """[k] a prediction counts as positive from here on."""
        return np.linspace(0.0, 1.0, self.rows.shape[1])

    @property
    def drawn(self) -> int:
        """Thresholds up to the last with a positive prediction: precision is not defined above it."""
        with np.errstate(invalid="ignore", over="ignore"):  # counts that are not finite
            (positive,) = np.nonzero(self.rows[0] + self.rows[1] > 0)
        return int(positive[-1]) + 1 if len(positive) else 0

    @property
    def average_precision(self) -> float:
        """Area under the curve: precision weighted by the recall that each threshold adds.

        Source: sklearn.metrics.average_precision_score. NaN where nothing was predicted to be positive.
        """
        count = self.drawn
        precision, recall = self.rows[4, :count], self.rows[5, :count]
        with np.errstate(invalid="ignore", over="ignore"):
            return float(np.sum(precision * -np.diff(recall, append=0.0))) if count else float("nan")


def pr_curve(payload: bytes) -> PrCurve:
    """Decode a curve. Raises UnreadableError."""
    values = tensor(payload).values
    known = values.ndim == 2 and values.shape[0] == len(ROWS) and 0 < values.shape[1] <= _MOST_THRESHOLDS
    if not known or values.dtype.kind not in "biuf":
        raise UnreadableError("payload.shape", f"precision-recall curve of shape {values.shape}")
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind
        return PrCurve(values.astype(np.float64))
