"""Conversion of predictions and labels to the shapes that metrics take."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

EvalType = Literal["classification", "multilabel"]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def checked_type(eval_type: str) -> EvalType:
    """``eval_type`` if there is such a one, else TypeError."""
    if eval_type not in ("classification", "multilabel"):
        raise TypeError(f"eval_type must be 'classification' or 'multilabel', got {eval_type!r}")
    return eval_type  # type: ignore[return-value]


def classes(prediction: npt.NDArray[Any], truth: npt.NDArray[Any]) -> tuple[Ints, Ints, int]:
    """Predicted and true class of each element, and the number of classes C.

    ``prediction`` has the shape (N, C, ...) and a score for each class; the predicted class is the one with
    the largest. ``truth`` is class numbers of shape (N, ...), or one-hot in the shape of ``prediction``.
    Raises ValueError for other shapes and for a class number outside 0..C-1.
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
    """Both as rows of shape (samples, C), True where a label is set.

    Takes 0/1 arrays of one shape (N, C, ...). Raises ValueError for other shapes and values.
    """
    if prediction.ndim < 2 or prediction.shape != truth.shape:
        raise ValueError(f"multilabel takes one shape (N, C, ...), got {prediction.shape} and {truth.shape}")
    if not all(np.isin(array, (0, 1)).all() for array in (prediction, truth)):
        raise ValueError("multilabel takes values of 0 and 1 only")
    labels = prediction.shape[1]
    moved = (np.moveaxis(array, 1, -1).reshape(-1, labels) == 1 for array in (prediction, truth))
    return next(moved), next(moved)
