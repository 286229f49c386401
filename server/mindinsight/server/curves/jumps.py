"""Signs of a fault in one curve: a jump, such as the spike of a loss, a rise by far, and no change at all."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.types import Floats, Ints

BEFORE: Final = 50  # finite values with which a value is compared
# Ranges of these 50 values by which a jump exceeds the largest of them. The range of normal noise is 4.5
# deviations, so that a jump is 15 above the mean.
_RANGES: Final = 3.0
_FACTOR: Final = 2.0  # of the largest value before: less is no jump to a person who looks at the curve
_MOST: Final = 1 << 20  # values of a curve that are looked at: a tenth of a second


_ENDS: Final = 10  # finite values whose median is how a curve begins, or ends: single spikes do not count
# Of how a loss begins: those of trainings that fit too closely, or of two nets against each other, rise by
# less.
_RISE: Final = 10.0
# Values of a curve that is said to rise, or not to change. Its first and last `_ENDS` values do not overlap.
FEWEST: Final = 20


@dataclass(frozen=True, slots=True)
class Jump:
    """First jump of a curve, and the range of the values before it."""

    step: int
    value: float
    low: float
    high: float


def first_jump(steps: Ints, values: Floats) -> Jump | None:
    """Return the first jump upwards among the first 2^20 finite values of [n] points, or None.

    A value with fewer than 50 finite values before it is no jump, nor one after equal values, whose noise is
    unknown. In 2,000 steps of noise (normal, exponential, or lognormal with a deviation of up to 1) none is
    taken for a jump; of Student's t with four degrees of freedom, in 1 % of such curves one is.
    """
    finite = np.isfinite(values)
    known, at = values[finite][:_MOST].astype(np.float64), steps[finite][:_MOST]
    if len(known) <= BEFORE:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(known[:-1], BEFORE)
    low, high = windows.min(axis=1), windows.max(axis=1)
    following = known[BEFORE:]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        width = high - low
        beyond = (following - high > _RANGES * width) & (following > _FACTOR * np.abs(high)) & (width > 0)
        # Norms spread by factors: of positive values, a jump is as far above them as they are apart, too.
        beyond &= (low <= 0) | (following / high > high / low)
    rows = np.flatnonzero(beyond)
    if not len(rows):
        return None
    row = int(rows[0])
    return Jump(int(at[row + BEFORE]), float(following[row]), float(low[row]), float(high[row]))


def rise(values: Floats) -> tuple[float, float] | None:
    """Return the medians of the first and the last ten finite values of [n], or None unless the last is ten
    times the first or more.

    Return None also for a curve that does not begin above zero, or has fewer than twenty finite values.
    """
    known = values[np.isfinite(values)].astype(np.float64)
    if len(known) < FEWEST:
        return None
    begin, end = float(np.median(known[:_ENDS])), float(np.median(known[-_ENDS:]))
    return (begin, end) if begin > 0 and end >= _RISE * begin else None


def is_constant(values: Floats) -> bool:
    """Return True if [n] values, twenty or more, are all the same number."""
    return len(values) >= FEWEST and bool(np.isfinite(values[0])) and bool((values == values[0]).all())
