"""Loss and position are read from what a loop tells its callbacks."""

from typing import Any

import numpy as np
import pytest

from mindinsight.writer.callbacks import RunArguments
from mindinsight.writer.callbacks.loss import loss_of, position


@pytest.mark.parametrize(
    ("outputs", "loss"),
    [
        (0.25, 0.25),
        (np.float32(0.5), 0.5),
        (np.array([1.0, 2.0, 6.0]), 3.0),
        ((np.array(2.0), np.zeros((4, 4))), 2.0),
        ([[np.array([4, 6])], "rest"], 5.0),
    ],
)
def test_the_loss_is_the_mean_of_the_first_output(outputs: Any, loss: float) -> None:
    assert loss_of(outputs) == loss


@pytest.mark.parametrize("outputs", [None, (), "text", np.zeros((0, 2)), np.array(1j)])
def test_outputs_without_a_loss_are_refused(outputs: Any) -> None:
    with pytest.raises(TypeError):
        loss_of(outputs)


def test_the_position_counts_steps_within_the_epoch_when_its_length_is_known() -> None:
    assert position(RunArguments(cur_step_num=7, cur_epoch_num=3, batch_num=3)) == (3, 1)
    assert position(RunArguments(cur_step_num=6, cur_epoch_num=2, batch_num=3)) == (2, 3)
    assert position(RunArguments(cur_step_num=6)) == (1, 6)
