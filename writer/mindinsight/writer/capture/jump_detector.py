"""Detector of numbers that are not finite, or jump away from their running mean."""

from __future__ import annotations

import math
from typing import Final

_DECAY: Final = 0.9  # of the running mean: about the last ten values


class JumpDetector:
    """Check of one number a step: the loss, or the norm of all gradients.

    A value is a jump when its magnitude is more than ``factor`` times the running mean of magnitudes, after
    ``warmup`` values have been seen. A value that is reported does not enter the mean.
    """

    def __init__(self, name: str, factor: float, warmup: int) -> None:
        self.name = name
        self._factor = factor
        self._warmup = warmup
        self._seen = 0
        self._mean = 0.0

    def check(self, value: float) -> str:
        """What is wrong with the value in words; "" where nothing is."""
        if not math.isfinite(value):
            return f"the {self.name} is {value}"
        magnitude = abs(value)
        if self._seen >= self._warmup and self._mean > 0 and magnitude > self._factor * self._mean:
            return (
                f"the {self.name} jumped to {value:.6g}, {magnitude / self._mean:.3g} times its running mean"
            )
        self._mean = magnitude if not self._seen else _DECAY * self._mean + (1 - _DECAY) * magnitude
        self._seen += 1
        return ""
