"""Predictions and labels come in several shapes."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.metrics import (
    Accuracy,
    Precision,
    Recall,
)

SCORES, CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]
LABELS, TRUE_LABELS = [[0, 1, 1], [1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 1]]


def test_labels_may_be_along_the_second_of_many_axes() -> None:
    labels, truth = np.array(LABELS), np.array(TRUE_LABELS)
    assert Recall("multilabel")(labels.T[None], truth.T[None]).tolist() == [1, 1, 0.5]


@pytest.mark.parametrize("metric", [Accuracy("multilabel"), Precision("multilabel")])
@pytest.mark.parametrize("truth", [[0, 1, 0], [[0, 1]], [[0, 1, 2]] * 3])
def test_labels_that_are_none_are_refused(metric: Any, truth: Any) -> None:
    with pytest.raises(ValueError, match="multilabel takes"):
        metric(LABELS, truth)


def test_inputs_without_numbers_are_refused() -> None:
    with pytest.raises(TypeError):
        Accuracy()("scores", CLASSES)
