"""Precision, recall and F-score count classes over the batches."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mindinsight.writer.metrics import (
    Accuracy,
    Fbeta,
    Precision,
    Recall,
)

SCORES, CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]


@given(st.data(), st.integers(1, 4), st.integers(2, 5))
def test_batches_add_up_and_each_class_is_counted(data: Any, batches: Any, classes: Any) -> None:
    precision, recall, accuracy = Precision(), Recall(), Accuracy()
    predicted, true = [], []
    for _ in range(batches):
        scores = data.draw(arrays(np.float32, (3, classes, 2), elements=st.floats(0, 1, width=32)))
        truth = data.draw(arrays(np.int32, (3, 2), elements=st.integers(0, classes - 1)))
        for metric in precision, recall, accuracy:
            metric.update(scores, truth)
        predicted.extend(scores.argmax(axis=1).ravel())
        true.extend(truth.ravel())
    pairs = list(zip(predicted, true, strict=True))
    precisions, recalls = np.asarray(precision.eval()), np.asarray(recall.eval())
    for number in range(classes):
        both = pairs.count((number, number))
        assert precisions[number] == pytest.approx(both / max(predicted.count(number), 1))
        assert recalls[number] == pytest.approx(both / max(true.count(number), 1))
    assert accuracy.eval() == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))


def test_a_class_that_never_occurs_is_zero_and_part_of_the_mean() -> None:
    precision = Precision()
    precision.update([[0.9, 0.1, 0.0]], [0])
    assert np.asarray(precision.eval()).tolist() == [1, 0, 0]
    assert precision.eval(average=True) == pytest.approx(1 / 3)


def test_a_change_of_the_number_of_classes_is_refused() -> None:
    precision = Precision()
    precision.update(SCORES, CLASSES)
    with pytest.raises(ValueError, match="3 classes after batches of 2"):
        precision.update([[0.1, 0.2, 0.7]], [0])


def test_a_beta_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="beta"):
        Fbeta(0)
