"""Accuracy and loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindinsight.writer.metrics.base import Metric, array_of, pair_of, rearrange_inputs
from mindinsight.writer.metrics.labels import checked_type, classes, rows_of_labels


class Accuracy(Metric):
    """The share of right answers.

    ``classification``: elements whose predicted class is the true one. ``multilabel``: samples with every
    label right. Raises TypeError for another ``eval_type``; shapes as in labels.py.
    """

    def __init__(self, eval_type: str = "classification") -> None:
        self._type = checked_type(eval_type)
        super().__init__()

    def clear(self) -> None:
        self._right = self._total = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, truth = pair_of("Accuracy", inputs)
        if self._type == "classification":
            predicted, true, _ = classes(prediction, truth)
            right = predicted == true
        else:
            right = np.equal(*rows_of_labels(prediction, truth)).all(axis=1)
        self._right += int(right.sum())
        self._total += right.size

    def eval(self) -> float:
        if not self._total:
            raise RuntimeError("Accuracy: there was no batch to evaluate")
        return self._right / self._total


class Loss(Metric):
    """The mean of the losses given; each counts once, whatever the size of its batch."""

    _mindspore_name = "Loss"

    def clear(self) -> None:
        self._sum = 0.0
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add a loss of rank 0 or 1 (its mean counts). Raises ValueError for another number or rank."""
        if len(inputs) != 1:
            raise ValueError(f"Loss takes one input, got {len(inputs)}")
        loss = array_of(inputs[0])
        if loss.ndim > 1 or not loss.size:
            raise ValueError(f"Loss takes a number or a list of them, got shape {loss.shape}")
        self._sum += float(loss.mean(dtype=np.float64))
        self._count += 1

    def eval(self) -> float:
        if not self._count:
            raise RuntimeError("Loss: there was no batch to evaluate")
        return self._sum / self._count
