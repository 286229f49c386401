"""Position and loss of a training, read from the arguments of its callbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mindinsight.writer.arrays import to_numpy

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.context import RunArguments


def loss_of(net_outputs: object) -> float:
    """The loss of a step: the mean over all elements of the first output of the network.

    Raises TypeError when the first output holds no numbers.
    """
    while isinstance(net_outputs, (tuple, list)) and net_outputs:
        net_outputs = net_outputs[0]
    values = to_numpy(net_outputs).values
    if values.size == 0 or values.dtype.kind == "c":
        raise TypeError(f"a loss must be real numbers, got {values.dtype} of shape {values.shape}")
    return float(np.mean(values, dtype=np.float64))


def position(arguments: RunArguments) -> tuple[int, int]:
    """Epoch and step within the epoch, both from 1; the step over all epochs when their length is unknown."""
    step = int(arguments.get("cur_step_num", 1))
    length = int(arguments.get("batch_num") or 0)
    return int(arguments.get("cur_epoch_num", 1)), (step - 1) % length + 1 if length > 0 else step
