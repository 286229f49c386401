"""Metrics of an evaluation, with MindSpore's names and results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.frameworks.framework_values import mindspore_subclass

__all__ = [
    "F1",
    "Accuracy",
    "Fbeta",
    "Loss",
    "Metric",
    "Precision",
    "Recall",
    "get_metric_fn",
    "rearrange_inputs",
]


Update = TypeVar("Update", bound=Callable[..., Any])


class Metric(ABC):
    """Base class with the methods of ``mindspore.train.Metric``, accepted by MindSpore's Model.

    Override ``clear``, ``update`` and ``eval``. Calling the object runs all three for one batch.
    """

    _mindspore_name: ClassVar[str] = "Metric"

    def __init__(self) -> None:
        self._indexes: list[int] | None = None
        self.clear()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return mindspore_subclass(type(self), "mindspore.train.metrics", self._mindspore_name)

    @abstractmethod
    def clear(self) -> None:
        """Discard all batches."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Add the outputs of a batch to the metric."""

    @abstractmethod
    def eval(self) -> Any:
        """Return the metric over all batches since ``clear``. Raises RuntimeError without a batch."""

    def __call__(self, *inputs: Any) -> Any:
        self.clear()
        self.update(*inputs)
        return self.eval()

    @property
    def indexes(self) -> list[int] | None:
        """Return the indexes of the inputs that ``update`` uses, in its order, or None for all."""
        return self._indexes

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Select the inputs that ``update`` uses, in this order, and return the metric. Raises ValueError
        unless ``indexes`` is a list of int."""
        if not isinstance(indexes, list) or not all(type(index) is int for index in indexes):
            raise ValueError(f"indexes must be a list of int, got {indexes!r}")
        self._indexes = indexes
        return self


def rearrange_inputs(update: Update) -> Update:
    """Return a metric's ``update`` that receives only the inputs selected by ``set_indexes``."""

    @wraps(update)
    def chosen(self: Metric, *inputs: Any) -> Any:
        return update(self, *(inputs if self.indexes is None else [inputs[index] for index in self.indexes]))

    return chosen  # type: ignore[return-value]


def array_of(value: object) -> npt.NDArray[Any]:
    """Return the numbers of a tensor, list or array. Raises TypeError if it contains none."""
    return np.asarray(to_numpy(value).values)


def pair_of(metric: str, inputs: tuple[Any, ...]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return prediction and truth as arrays. Raises ValueError unless there are two inputs, TypeError if one
    contains no numbers."""
    if len(inputs) != 2:
        raise ValueError(f"{metric} takes the prediction and the truth, got {len(inputs)} inputs")
    return array_of(inputs[0]), array_of(inputs[1])


EvalType = Literal["classification", "multilabel"]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def checked_type(eval_type: str) -> EvalType:
    """Return ``eval_type`` if it is valid. Raises TypeError otherwise."""
    if eval_type not in ("classification", "multilabel"):
        raise TypeError(f"eval_type must be 'classification' or 'multilabel', got {eval_type!r}")
    return eval_type  # type: ignore[return-value]


def classes(prediction: npt.NDArray[Any], truth: npt.NDArray[Any]) -> tuple[Ints, Ints, int]:
    """Return predicted and true class number of each element, and the number of classes C. Raises ValueError
    for other shapes and for a class number outside 0..C-1.

    ``prediction`` has the shape (N, C, ...) with a score for each class. The largest score is the predicted
    class. ``truth`` has class numbers of shape (N, ...), or is one-hot in the shape of ``prediction``.
    """
    if prediction.ndim < 2:
        raise ValueError(f"a prediction has the shape (N, C, ...), got {prediction.shape}")
    count = prediction.shape[1]
    if truth.shape == prediction.shape:
        truth = truth.argmax(axis=1)
    if truth.shape != prediction.shape[:1] + prediction.shape[2:]:
        raise ValueError(f"a truth of shape {truth.shape} does not fit a prediction of {prediction.shape}")
    truth = truth.astype(np.int64).ravel()
    if truth.size and not 0 <= truth.min() <= truth.max() < count:
        raise ValueError(f"class numbers {truth.min()} to {truth.max()} do not fit {count} classes")
    return prediction.argmax(axis=1).ravel(), truth, count


def rows_of_labels(prediction: npt.NDArray[Any], truth: npt.NDArray[Any]) -> tuple[Bools, Bools]:
    """Return prediction and truth as rows [samples, C], True if a label is set. Raises ValueError for
    other shapes and values. Takes 0/1 arrays of one shape (N, C, ...)."""
    if prediction.ndim < 2 or prediction.shape != truth.shape:
        raise ValueError(f"multilabel takes one shape (N, C, ...), got {prediction.shape} and {truth.shape}")
    if not all(np.isin(array, (0, 1)).all() for array in (prediction, truth)):
        raise ValueError("multilabel takes values of 0 and 1 only")
    labels = prediction.shape[1]
    moved = (np.moveaxis(array, 1, -1).reshape(-1, labels) == 1 for array in (prediction, truth))
    return next(moved), next(moved)


Doubles = npt.NDArray[np.float64]


class _Counts(Metric):
    """Base of metrics with three counts for each class, or for each sample with several labels.

    For ``multilabel`` the result is per sample in order, as MindSpore computes it.
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
            predicted, true, count = classes(prediction, truth)
            groups = (true[predicted == true], predicted, true)
            counts = np.array([np.bincount(group, minlength=count) for group in groups], np.float64)
            if not self._empty and counts.shape != self._counts.shape:
                raise ValueError(f"{count} classes after batches of {self._counts.shape[1]}")
            self._counts = counts if self._empty else self._counts + counts
        else:
            labels, truths = rows_of_labels(prediction, truth)
            samples = [group.sum(axis=1) for group in (labels & truths, labels, truths)]
            self._counts = np.concatenate([self._counts, np.array(samples, np.float64)], axis=1)
        self._empty = False

    def eval(self, average: bool = False) -> Doubles | float:
        """Return the metric of each class (each sample for multilabel), or the mean. Raises RuntimeError
        without a batch. 0 without elements to count."""
        if self._empty:
            raise RuntimeError(f"{type(self).__name__}: there was no batch to evaluate")
        result = self._result(*self._counts)
        return float(result.mean()) if average else result

    @abstractmethod
    def _result(self, both: Doubles, predicted: Doubles, true: Doubles) -> Doubles:
        """Return the metric computed from the three counts."""


class Precision(_Counts):
    """Metric: the share of the elements predicted as a class that belong to the class."""

    def _result(self, both: Doubles, predicted: Doubles, true: Doubles) -> Doubles:
        return _share(both, predicted)


class Recall(_Counts):
    """Metric: the share of a class's elements that are predicted as the class."""

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


def _share(part: Doubles, whole: Doubles) -> Doubles:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


class Accuracy(Metric):
    """Metric: the share of correct predictions.

    ``classification`` counts elements with the true class, ``multilabel`` samples with every label right. The
    shapes are those of ``classes`` and ``rows_of_labels``. Raises TypeError for another ``eval_type``.
    """

    def __init__(self, eval_type: str = "classification") -> None:
        self._type = checked_type(eval_type)
        super().__init__()

    def clear(self) -> None:
        """Discard all batches."""
        self._right = self._total = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Count the correct predictions of a batch. Raises ValueError unless the inputs are a prediction and
        a truth that fits it, TypeError if they contain no numbers."""
        prediction, truth = pair_of("Accuracy", inputs)
        if self._type == "classification":
            predicted, true, _ = classes(prediction, truth)
            right = predicted == true
        else:
            right = np.equal(*rows_of_labels(prediction, truth)).all(axis=1)
        self._right += int(right.sum())
        self._total += right.size

    def eval(self) -> float:
        """Return the share of correct predictions. Raises RuntimeError without a batch."""
        if not self._total:
            raise RuntimeError("Accuracy: there was no batch to evaluate")
        return self._right / self._total


class Loss(Metric):
    """Metric: the mean of the losses of batches, regardless of the batches' sizes."""

    _mindspore_name = "Loss"

    def clear(self) -> None:
        """Discard all batches."""
        self._sum = 0.0
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add the mean of a loss of rank 0 or 1. Raises ValueError for another number of inputs or rank, and
        for an empty list, TypeError if the loss contains no numbers."""
        if len(inputs) != 1:
            raise ValueError(f"Loss takes one input, got {len(inputs)}")
        loss = array_of(inputs[0])
        if loss.ndim > 1 or not loss.size:
            raise ValueError(f"Loss takes a number or a list of them, got shape {loss.shape}")
        self._sum += float(loss.mean(dtype=np.float64))
        self._count += 1

    def eval(self) -> float:
        """Return the mean loss. Raises RuntimeError without a batch."""
        if not self._count:
            raise RuntimeError("Loss: there was no batch to evaluate")
        return self._sum / self._count


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Metric:
    """Return a new metric by name: accuracy (or acc), loss, precision, recall, F1, fbeta. Raises KeyError
    for another name. Further arguments are passed to the metric."""
    metrics: dict[str, type[Metric]] = {"F1": F1, "acc": Accuracy, "accuracy": Accuracy, "fbeta": Fbeta}
    metrics |= {"loss": Loss, "precision": Precision, "recall": Recall}
    if name not in metrics:
        raise KeyError(f"no metric {name!r}; known are {', '.join(metrics)}")
    return metrics[name](*args, **kwargs)
