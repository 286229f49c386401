"""Accuracy and loss."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.metrics import (
    Accuracy,
    Loss,
)

LABELS, TRUE_LABELS = [[0, 1, 1], [1, 0, 0], [1, 1, 0]], [[0, 1, 0], [1, 0, 0], [0, 1, 1]]


def test_multilabel_accuracy_wants_every_label_right() -> None:
    assert Accuracy("multilabel")(LABELS, TRUE_LABELS) == pytest.approx(1 / 3)


def test_each_loss_counts_once_whatever_its_batch() -> None:
    loss = Loss()
    loss.update(np.float32(1.0))
    loss.update([2.0, 4.0, 6.0, 8.0])
    assert loss.eval() == 3.0


@pytest.mark.parametrize("inputs", [(), (1.0, 2.0), ([[1.0]],), ([],)])
def test_a_loss_is_one_number_or_a_list(inputs: Any) -> None:
    with pytest.raises(ValueError, match="Loss takes"):
        Loss().update(*inputs)
