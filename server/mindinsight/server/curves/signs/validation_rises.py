"""Rises of a validation loss with few values, or by little, which levels do not show yet."""

import math
from typing import Final

import numpy as np

from mindinsight.server.curves.levels import (
    FEWEST,
    MEDIAN,
    REGAINED,
    RISEN_BESIDE,
    RISEN_STEADILY,
    Change,
)
from mindinsight.server.types import Floats, Ints

_STEADY: Final = 6  # values after the lowest one, at least: of fewer, any order is too likely
_STEADY_PARTS: Final = 20  # values or medians whose order is looked at
BY_CHANCE: Final = 700  # orders, of which fewer than one rises as steadily: of 6 values, without exception
_REGAINED_STEADILY: Final = 0.03  # the same for a rise that noise does not explain
FEWEST_EPOCHS: Final = 6  # values of a validation loss that rises with each of them
FEWEST_BESIDE: Final = 12  # values of a validation loss that is judged beside its training loss: four parts
_EPOCHS_UP: Final = 4  # values after the lowest of six to eleven
_FEW_PART: Final = 3  # values of a part of fewer than `FEWEST`
# Standard errors of a rise of few values: with its other conditions, one or two of 1,000 curves of noise
# alone (normal, lognormal or heavy-tailed) have such a rise.
_FEW_CERTAIN: Final = 3.5


def rise_of_few(steps: Ints, values: Floats) -> Change | None:
    """Return the rise of a curve of twelve to nineteen finite values to `RISEN_BESIDE` times its lowest
    level, or None. Levels are medians of three values. They rise from the lowest to the last, through one
    or more between, and by more than the noise within all parts but the first, in which losses fall."""
    finite = np.isfinite(values)
    known, at = values[finite].astype(np.float64), steps[finite]
    if not FEWEST_BESIDE <= len(known) < FEWEST:
        return None
    parts = np.array_split(known, len(known) // _FEW_PART)
    levels = np.array([np.median(part) for part in parts])
    part = int(np.argmin(levels))
    low, end = float(levels[part]), float(levels[-1])
    noise = math.sqrt(float(np.mean([np.var(values, ddof=1) for values in parts[1:]])))
    error = MEDIAN * noise * math.sqrt(2 / _FEW_PART)
    rises = len(levels) - part > _FEW_PART - 1 and bool((np.diff(levels[part:]) > 0).all())
    if low <= 0 or end < RISEN_BESIDE * low or end - low < REGAINED * (float(levels[0]) - low):
        return None
    if not rises or not end - low > _FEW_CERTAIN * error:
        return None
    return Change(low, int(at[(2 * part + 1) * len(at) // (2 * len(levels))]), end, end / low)


def rise_of_epochs(steps: Ints, values: Floats) -> Change | None:
    """Return the rise of a curve of six to eleven finite values to `RISEN_BESIDE` times its lowest one, or
    None. Each value from the lowest on is above the one before, four times or more: of 120 orders of five
    values one is such."""
    finite = np.isfinite(values)
    known, at = values[finite].astype(np.float64), steps[finite]
    row = int(np.argmin(known)) if len(known) else 0
    if not FEWEST_EPOCHS <= len(known) < FEWEST_BESIDE or len(known) - row <= _EPOCHS_UP or known[row] <= 0:
        return None
    low, end = float(known[row]), float(known[-1])
    if not (np.diff(known[row:]) > 0).all() or end < RISEN_BESIDE * low:
        return None
    return Change(low, int(at[row]), end, end / low) if end - low >= REGAINED * (known[0] - low) else None


def steady_rise(steps: Ints, values: Floats) -> Change | None:
    """Return the rise of a curve that rises on from its lowest value to 1.1 times as much or more, or None.

    It has twelve or more finite values, six or more of them after the lowest. Fewer than one of 700 random
    orders of these is as near to ascending. Medians of equal parts take the place of more than twenty values.
    """
    finite = np.isfinite(values)
    known, at = values[finite].astype(np.float64), steps[finite]
    if len(known) < FEWEST_BESIDE:
        return None
    parts = np.array_split(known, min(len(known), _STEADY_PARTS))
    medians = np.array([np.median(part) for part in parts])
    part = int(np.argmin(medians))
    after = medians[part + 1 :]
    if len(after) < _STEADY or medians[part] <= 0:
        return None
    descents = int(np.count_nonzero(np.triu(after[:, None] >= after[None, :], 1)))
    end = float(np.median(after[-_FEW_PART:]))  # of three, as one high value is no rise
    low = float(np.median(medians[max(part - 1, 0) : part + 2]))
    if end < RISEN_STEADILY * low or end - low < _REGAINED_STEADILY * (float(medians[0]) - low):
        return None
    if _orders(len(after), descents) * BY_CHANCE > math.factorial(len(after)):
        return None
    return Change(low, int(at[(2 * part + 1) * len(at) // (2 * len(medians))]), end, end / low)


def _orders(count: int, descents: int) -> int:
    """Return the number of orders of values in which at most so many pairs descend."""
    ways = [1]
    for size in range(2, count + 1):
        reach = len(ways) + size - 1
        ways = [sum(ways[max(0, pairs - size + 1) : pairs + 1]) for pairs in range(reach)]
    return sum(ways[: descents + 1])
