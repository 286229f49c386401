"""Precision-recall curves: counts by hand."""

import numpy as np
import pytest

from mindinsight.writer.encoding.pr_curves import curve


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
