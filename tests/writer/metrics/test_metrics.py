"""Metrics against counts made by hand and MindSpore's documented examples."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.metrics import (
    F1,
    Accuracy,
    Fbeta,
    Loss,
    Precision,
    Recall,
    get_metric_fn,
)

SCORES, CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]
LABELS, TRUE_LABELS = [[0, 1, 1], [1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 1]]
CLASSIFICATION = [
    (Accuracy(), pytest.approx(2 / 3)),
    (Precision(), [0.5, 1]),
    (Recall(), [1, 0.5]),
    (F1(), pytest.approx([2 / 3, 2 / 3])),
    (Fbeta(2), pytest.approx([5 / 6, 5 / 9])),
]


@pytest.mark.parametrize(("metric", "expected"), CLASSIFICATION)
def test_classification(metric: Any, expected: Any) -> None:
    result = metric(SCORES, CLASSES)
    assert (result if isinstance(result, float) else result.tolist()) == expected


@pytest.mark.parametrize(("metric", "expected"), CLASSIFICATION)
def test_one_hot_truth_is_the_same(metric: Any, expected: Any) -> None:
    result = metric(np.array(SCORES), np.eye(2)[CLASSES])
    assert (result if isinstance(result, float) else result.tolist()) == expected


@pytest.mark.parametrize(
    ("metric", "expected", "mean"),
    [(Precision, [0.5, 1, 0.5], 2 / 3), (Recall, [1, 1, 0.5], 5 / 6), (F1, [2 / 3, 1, 0.5], 13 / 18)],
)
def test_multilabel_is_per_sample(metric: Any, expected: Any, mean: Any) -> None:
    counted = metric(eval_type="multilabel")
    assert counted(LABELS, TRUE_LABELS).tolist() == pytest.approx(expected)
    assert counted.eval(average=True) == pytest.approx(mean)
    counted.update(LABELS[:1], TRUE_LABELS[:1])
    assert counted.eval().tolist() == pytest.approx([*expected, expected[0]])


@pytest.mark.parametrize("metric", [Accuracy(), Loss(), Precision(), Recall(), F1()])
def test_without_a_batch_there_is_no_result(metric: Any) -> None:
    with pytest.raises(RuntimeError, match=f"{type(metric).__name__}: there was no batch"):
        metric.eval()


@pytest.mark.parametrize("metric", [Accuracy(), Recall()])
@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((SCORES,), "got 1 inputs"),
        ((SCORES, CLASSES, CLASSES), "got 3 inputs"),
        ((SCORES, [0, 1]), "does not fit"),
        ((SCORES, [0, 1, 2]), "class numbers 0 to 2 do not fit 2 classes"),
        ((SCORES, [0, 1, -1]), "class numbers -1 to 1"),
        (([0.1, 0.2], [0, 1]), "shape"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(metric: Any, inputs: Any, message: str) -> None:
    metric.clear()
    with pytest.raises(ValueError, match=message):
        metric.update(*inputs)


@pytest.mark.parametrize("metric", [Accuracy, Precision, F1])
def test_an_unknown_type_is_refused(metric: Any) -> None:
    with pytest.raises(TypeError, match="'regression'"):
        metric("regression")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("accuracy", Accuracy), ("acc", Accuracy), ("loss", Loss), ("precision", Precision), ("recall", Recall)],
)
def test_metrics_by_name(name: str, kind: Any) -> None:
    assert type(get_metric_fn(name)) is kind
    assert type(get_metric_fn("F1")) is F1
    assert type(get_metric_fn("fbeta", 0.5)) is Fbeta
    with pytest.raises(KeyError, match="no metric 'auc'"):
        get_metric_fn("auc")
