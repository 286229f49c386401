"""Schedule of the steps at which values are collected: MindSpore's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

TENSOR: Final = "tensor"
_MOST_TENSOR_STEPS: Final = 20


class Schedule:
    """Counts in steps, or in epochs where data goes to the device for a whole epoch at once.

    Args:
        every: everything but tensors is collected at multiples of this.
        tensor_every: tensors are collected at multiples of this; None chooses at most twenty times in all.
        total: how many steps or epochs there will be; None if nobody knows.
    """

    def __init__(self, every: int, tensor_every: int | None, total: int | None) -> None:
        self._every = every
        self._tensors = _tensor_steps(every, tensor_every, total)

    def plugins_at(self, count: int) -> Callable[[str], bool] | None:
        """Which plugins to record after step or epoch ``count`` (from 1); None for nothing at all."""
        others, tensors = count % self._every == 0, self._tensors(count)
        if not others and not tensors:
            return None
        return lambda plugin: tensors if plugin == TENSOR else others


def _tensor_steps(every: int, tensor_every: int | None, total: int | None) -> Callable[[int], bool]:
    if tensor_every is not None:
        return lambda count: count % tensor_every == 0
    if total is None or total // every + 1 <= _MOST_TENSOR_STEPS:
        return lambda count: count % every == 0
    step = total // (_MOST_TENSOR_STEPS - 1)
    steps = range(0, step * _MOST_TENSOR_STEPS, step) if step > 1 else range(_MOST_TENSOR_STEPS + 1)
    return lambda count: count in steps


def everything(_plugin: str) -> bool:
    """The first step is always recorded with all there is."""
    return True
