"""Precision, recall and F-score, from counts of predicted, true and correct classes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.writer.metrics.base import Metric, pair_of, rearrange_inputs
from mindinsight.writer.metrics.labels import checked_type, classes, rows_of_labels

Doubles = npt.NDArray[np.float64]


class _Counts(Metric):
    """Three counts for each class, or for each sample where a sample has several labels.

    For ``multilabel`` the result is per sample, in the order given, as MindSpore computes it.
    """

    def __init__(self, eval_type: str = "classification") -> None:
        self._type = checked_type(eval_type)
        super().__init__()

    def clear(self) -> None:
        # Rows: predicted and true, predicted, true. Columns: classes or samples.
        self._counts: Doubles = np.zeros((3, 0))
        self._empty = True

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        prediction, truth = pair_of(type(self).__name__, inputs)
        if self._type == "classification":
            self._add(_per_class(prediction, truth))
        else:
            self._counts = np.concatenate([self._counts, _per_sample(prediction, truth)], axis=1)
        self._empty = False

    def eval(self, average: bool = False) -> Doubles | float:
        """One number for each class (sample for multilabel), or their mean. 0 where nothing was to count.

        Raises RuntimeError without a batch.
        """
        if self._empty:
            raise RuntimeError(f"{type(self).__name__}: there was no batch to evaluate")
        result = self._result(*self._counts)
        return float(result.mean()) if average else result

    @abstractmethod
    def _result(self, both: Doubles, predicted: Doubles, true: Doubles) -> Doubles:
        """The metric from the three counts."""

    def _add(self, counts: Doubles) -> None:
        if not self._empty and counts.shape != self._counts.shape:
            raise ValueError(f"{counts.shape[1]} classes after batches of {self._counts.shape[1]}")
        self._counts = counts if self._empty else self._counts + counts


class Precision(_Counts):
    """Of what was predicted as the class, how much is of the class."""

    def _result(self, both: Doubles, predicted: Doubles, true: Doubles) -> Doubles:
        return _share(both, predicted)


class Recall(_Counts):
    """Of what is of the class, how much was predicted as the class."""

    def _result(self, both: Doubles, predicted: Doubles, true: Doubles) -> Doubles:
        return _share(both, true)


class Fbeta(_Counts):
    """Weighted harmonic mean of precision and recall: (1 + b^2) both / (b^2 true + predicted).

    Raises ValueError unless ``beta`` is above 0.
    """

    def __init__(self, beta: float, eval_type: str = "classification") -> None:
        if not beta > 0:
            raise ValueError(f"beta must be above 0, got {beta!r}")
        self._weight = beta * beta
        super().__init__(eval_type)

    def _result(self, both: Doubles, predicted: Doubles, true: Doubles) -> Doubles:
        return _share((1 + self._weight) * both, self._weight * true + predicted)


class F1(Fbeta):
    """Fbeta with beta 1: the harmonic mean of precision and recall."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(1.0, eval_type)


def _per_class(prediction: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Doubles:
    predicted, true, count = classes(prediction, truth)
    groups = (true[predicted == true], predicted, true)
    return np.array([np.bincount(group, minlength=count) for group in groups], dtype=np.float64)


def _per_sample(prediction: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Doubles:
    predicted, true = rows_of_labels(prediction, truth)
    groups = (predicted & true, predicted, true)
    return np.array([group.sum(axis=1) for group in groups], dtype=np.float64)


def _share(part: Doubles, whole: Doubles) -> Doubles:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
