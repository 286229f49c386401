"""Signs of a fault in one curve: a jump, such as the spike of a loss, and no change at all."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.curves.levels import FEWEST
from mindinsight.server.types import Floats, Ints

BEFORE: Final = 50  # finite values with which a value is compared
# Ranges of these 50 values by which a jump exceeds the largest of them. The range of normal noise is 4.5
# deviations, so that a jump is 15 above the mean.
RANGES: Final = 3.0
FACTOR: Final = 2.0  # of the largest value before: less is no jump to a person who looks at the curve
_MOST: Final = 1 << 20  # values of a curve that are looked at: a tenth of a second


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
        beyond = (following - high > RANGES * width) & (following > FACTOR * np.abs(high)) & (width > 0)
        # Norms spread by factors: of positive values, a jump is as far above them as they are apart, too.
        beyond &= (low <= 0) | (following / high > high / low)
    rows = np.flatnonzero(beyond)
    if not len(rows):
        return None
    row = int(rows[0])
    return Jump(int(at[row + BEFORE]), float(following[row]), float(low[row]), float(high[row]))


def is_constant(values: Floats) -> bool:
    """Return True if [n] values, twenty or more, are all the same number."""
    return len(values) >= FEWEST and bool(np.isfinite(values[0])) and bool((values == values[0]).all())
