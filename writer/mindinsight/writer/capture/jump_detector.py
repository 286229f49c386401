"""Detector of numbers that are not finite, jump, or grow steadily beyond all before."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

_DECAY: Final = 0.9  # of the running mean: about the last ten values
_HISTORY: Final = 50  # values whose maximum counts: longer than most cycles of a training, as of accumulation
_BEYOND_MAXIMUM: Final = 0.2  # of the factor: a value this far above all recent ones needs no mean
# Times all values before: a classifier that has converged gives single batches thousands of times its mean
# loss, which are no more than its first losses; an explosion passes them within a few steps.
_BEYOND_ALL: Final = 5.0
_GROWTH: Final = (5, 10, 20, 40)  # values in which steady growth adds up: fast and slow explosions
_GROWN: Final = 0.5  # of the factor that it adds up to
_RISING: Final = 0.8  # share of rises in steady growth: noise interrupts some
_BLOCKS: Final = 4  # of the values, whose medians rise where noise hides the rises of steps
_BLOCK: Final = 5  # values of a block, at least
_EACH_BLOCK: Final = 0.15  # of steady growth, as a logarithm, that each block brings
_ONE_STEP: Final = (
    0.6  # of steady growth, as a logarithm, that one step may bring: a change of level brings more
)
_ACCEPTED: Final = 20  # reported values after which the new level is the normal one


class JumpDetector:
    """Check of one number a step: the loss, or the norm of all gradients.

    After ``warmup`` values other than zero, a value is a jump if its magnitude is more than ``factor`` times
    the running mean of magnitudes, or a fifth of that times their recent maximum, and five times all before.
    Growth to half of it within twenty steps is reported too. A value that is reported does not enter the mean
    until twenty in a row have been.
    """

    def __init__(self, name: str, factor: float, warmup: int) -> None:
        self.name = name
        self._factor = factor
        self._warmup = max(warmup, 1)
        self._seen = 0
        self._mean = 0.0
        self._earlier = 0.0  # maximum of the values that are no longer recent
        self._recent: deque[float] = deque(maxlen=_HISTORY)  # with their signs
        self._reported: list[float] = []  # values in a row

    def check(self, value: float) -> str:
        """Return what is wrong with the value in words, "" if nothing is."""
        if not math.isfinite(value):
            return f"the {self.name} is {value}"
        magnitude = abs(value)
        reason = self._anomaly(value, magnitude) if self._seen >= self._warmup else ""
        if not reason:
            self._reported = []
            self._learn(value)
        elif len(self._reported) + 1 >= _ACCEPTED:
            self._start_again()
        else:
            self._reported.append(value)
        return reason

    def _anomaly(self, value: float, magnitude: float) -> str:
        highest = max(map(abs, self._recent))
        if magnitude <= _BEYOND_ALL * self._earlier:
            return ""
        jumped = magnitude > self._factor * self._mean
        if magnitude > _BEYOND_ALL * highest and (
            jumped or magnitude > _BEYOND_MAXIMUM * self._factor * highest
        ):
            times = magnitude / self._mean
            return f"the {self.name} jumped to {value:.6g}, {times:.3g} times its running mean"
        for count in _GROWTH:
            if (start := self._grown_from(value, count)) is not None:
                grown = f"grew from {start:.6g} to {value:.6g} in {count} steps"
                return f"the {self.name} {grown}, beyond all before"
        return ""

    def _grown_from(self, value: float, count: int) -> float | None:
        """Return the value ``count`` steps ago if it has grown steadily since, beyond all that was before.

        A number that changes its sign, as a loss around zero, has no growth: its least values are chance.
        """
        values = [*self._recent, value]
        grown, earlier = values[-count - 1 :], values[: -count - 1]
        if len(earlier) < self._warmup or min(grown) * max(grown) <= 0:
            return None
        sizes = [abs(number) for number in grown]
        least = _GROWN * self._factor
        if sizes[-1] < max(least * sizes[0], _BEYOND_ALL * max(map(abs, earlier))):
            return None
        rises = sum(after > before for before, after in pairwise(sizes))
        if rises >= _RISING * count and _is_steady(sizes, least, 0):
            return grown[0]
        size = count // _BLOCKS
        blocks = [median(sizes[end - size : end]) for end in range(count + 1, size, -size)][::-1]
        return grown[0] if size >= _BLOCK and _is_steady(blocks, least, _EACH_BLOCK) else None

    def _learn(self, value: float) -> None:
        magnitude = abs(value)
        if magnitude == 0:
            return  # no gradient, or a loss that is masked: no ground to compare with
        if len(self._recent) == _HISTORY:
            self._earlier = max(self._earlier, abs(self._recent[0]))
        self._mean = magnitude if not self._seen else _DECAY * self._mean + (1 - _DECAY) * magnitude
        self._recent.append(value)
        self._seen += 1

    def _start_again(self) -> None:
        """Take the level of the last values for normal, as after a change of the loss's weights."""
        values, self._reported = self._reported, []
        self._seen, self._earlier, self._mean = 0, 0.0, 0.0
        self._recent.clear()
        for value in values:
            self._learn(value)


def _is_steady(sizes: Sequence[float], least: float, share: float) -> bool:
    """Return whether numbers grow by a factor of ``least`` and no single step brings most of it.

    With ``share``, every step has to bring that share of the growth, as a logarithm.
    """
    growth = sizes[-1] / sizes[0]
    if growth < least:
        return False
    steps = [math.log(after / before) / math.log(growth) for before, after in pairwise(sizes)]
    return max(steps) <= _ONE_STEP and (not share or min(steps) >= share)
