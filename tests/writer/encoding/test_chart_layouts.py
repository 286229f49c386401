"""Precision-recall curves: counts by hand."""

import numpy as np
import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.encoding.chart_layouts import checked, curve, encode


def test_numbers_and_halves_of_surrogate_pairs_are_titles_too() -> None:
    message = Summary.Layout.FromString(encode(checked({1: {"a\ud83d": ["Multiline", ["x"]]}})))
    assert (message.category[0].title, message.category[0].chart[0].title) == ("1", "a\\ud83d")


def test_counts_are_those_of_a_loop_over_thresholds() -> None:
    rng = np.random.default_rng(0)
    labels, predictions, weights = rng.integers(0, 2, 90), rng.random(90), rng.random(90)
    rows = curve(labels, predictions, 11, weights)
    for at in range(11):
        chosen = np.floor(predictions * 10) >= at
        true = weights[chosen & (labels == 1)].sum()
        false = weights[chosen & (labels == 0)].sum()
        assert rows[:2, at].tolist() == pytest.approx([true, false])
        assert rows[5, at] == pytest.approx(true / weights[labels == 1].sum())


def test_weights_have_the_shape_of_the_labels_or_as_many_values() -> None:
    labels, guesses = np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.2], [0.4, 0.6]])
    whole = curve(labels, guesses, 5, np.array([[1, 2], [3, 4]]))
    assert whole.tolist() == curve(labels.reshape(-1), guesses.reshape(-1), 5, [1, 2, 3, 4]).tolist()
    assert curve(labels, guesses, 5, 2.0).tolist()[0] == [4.0, 4.0, 4.0, 2.0, 0.0]
    with pytest.raises(ValueError, match="weights must be as many"):
        curve(labels, guesses, 5, [1, 2, 3])
