"""Metrics against counts made by hand and MindSpore's documented examples."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mindinsight.writer.metrics import (
    F1,
    Accuracy,
    Fbeta,
    Loss,
    Metric,
    Precision,
    Recall,
    get_metric_fn,
    rearrange_inputs,
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


COUNTS_SCORES, COUNTS_CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]


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
    precision.update(COUNTS_SCORES, COUNTS_CLASSES)
    with pytest.raises(ValueError, match="3 classes after batches of 2"):
        precision.update([[0.1, 0.2, 0.7]], [0])


def test_a_beta_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="beta"):
        Fbeta(0)


ACCURACY_LABELS, ACCURACY_TRUE_LABELS = [[0, 1, 1], [1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 1]]


def test_multilabel_accuracy_wants_every_label_right() -> None:
    assert Accuracy("multilabel")(ACCURACY_LABELS, ACCURACY_TRUE_LABELS) == pytest.approx(1 / 3)


def test_each_loss_counts_once_whatever_its_batch() -> None:
    loss = Loss()
    loss.update(np.float32(1.0))
    loss.update([2.0, 4.0, 6.0, 8.0])
    assert loss.eval() == 3.0


@pytest.mark.parametrize("inputs", [(), (1.0, 2.0), ([[1.0]],), ([],)])
def test_a_loss_is_one_number_or_a_list(inputs: Any) -> None:
    with pytest.raises(ValueError, match="Loss takes"):
        Loss().update(*inputs)


BASE_SCORES, BASE_CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]


def test_chosen_inputs_in_a_chosen_order() -> None:
    accuracy = Accuracy().set_indexes([2, 0])
    assert accuracy(BASE_CLASSES, "the loss", BASE_SCORES) == pytest.approx(2 / 3)
    for wrong in ((0, 1), [0, "1"], [True]):
        with pytest.raises(ValueError, match="list of int"):
            accuracy.set_indexes(wrong)  # type: ignore[arg-type]


class Largest(Metric):
    """A metric of a user's."""

    def clear(self) -> None:
        self.largest = -np.inf

    @rearrange_inputs
    def update(self, value: Any) -> None:
        self.largest = max(self.largest, value)

    def eval(self) -> Any:
        return self.largest


def test_a_metric_of_ones_own() -> None:
    largest = Largest().set_indexes([1])
    largest.update(9, 1)
    largest.update(9, 3)
    assert largest.eval() == 3
    assert largest(9, 2) == 2


def test_mindspores_model_takes_them_as_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("mindspore.train.metrics")
    module.Metric = type("Metric", (), {})
    module.Loss = type("Loss", (module.Metric,), {})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert isinstance(Largest(), module.Metric)
    assert isinstance(Loss(), module.Loss)
    assert not isinstance(Accuracy(), module.Loss)


LABELS_SCORES, LABELS_CLASSES = [[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], [1, 0, 1]
LABELS_LABELS, LABELS_TRUE_LABELS = [[0, 1, 1], [1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 1]]


def test_labels_may_be_along_the_second_of_many_axes() -> None:
    labels, truth = np.array(LABELS_LABELS), np.array(LABELS_TRUE_LABELS)
    assert Recall("multilabel")(labels.T[None], truth.T[None]).tolist() == [1, 1, 0.5]


@pytest.mark.parametrize("metric", [Accuracy("multilabel"), Precision("multilabel")])
@pytest.mark.parametrize("truth", [[0, 1, 0], [[0, 1]], [[0, 1, 2]] * 3])
def test_labels_that_are_none_are_refused(metric: Any, truth: Any) -> None:
    with pytest.raises(ValueError, match="multilabel takes"):
        metric(LABELS_LABELS, truth)


def test_inputs_without_numbers_are_refused() -> None:
    with pytest.raises(TypeError):
        Accuracy()("scores", LABELS_CLASSES)
