"""What levels do not show of a curve: rises at its ends, falls far below zero, and slower steps."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from mindinsight.server.curves.levels import EARLY, GROWN, LASTS, RISEN, Levels
from mindinsight.server.types import Doubles, Floats, Ints

FEWEST_LATE: Final = 50  # finite values of a curve, so that a tail of a sixteenth has three
# Parts of a curve, at its end, in which it may have risen. A level is the median of a tenth, or follows a
# rise that lasts for a quarter: between these nothing else looks.
_TAILS: Final = (5, 8, 16)
LATE: Final = 3.0  # times the largest value before: five such values in a row are no noise, however heavy
ESCAPED: Final = 1000.0  # times the first level, below zero: densities of many dimensions reach a hundred
_LAST: Final = 3  # levels that fall to the end


@dataclass(frozen=True, slots=True)
class Rise:
    """Rise of a curve to its end: its step, the largest of the values before, their number, and the end."""

    step: int
    high: float
    before: int
    end: float


def late_rise(steps: Ints, values: Floats) -> Rise | None:
    """Return the rise of [n] points in their last fifth to values that are all above three times the largest
    of the fourth of the curve before it, or None. Five or more such values end the curve."""
    finite = np.isfinite(values)
    known, at = values[finite].astype(np.float64), steps[finite]
    count = len(known)
    if count < FEWEST_LATE:
        return None
    for parts in _TAILS:
        tail = max(count // parts, LASTS)
        high = float(known[: count - tail][-max(count // 4, EARLY) :].max())
        below = np.flatnonzero(known <= high)
        row = int(below[-1]) + 1
        high = float(known[max(0, row - max(count // 4, EARLY)) : row].max())
        if high > 0 and count - row >= LASTS and float(known[-LASTS:].min()) > LATE * high:
            return Rise(
                int(at[row]), high, min(row, max(count // 4, EARLY)), float(np.median(known[-LASTS:]))
            )
    return None


@dataclass(frozen=True, slots=True)
class EarlyRise:
    """Rise of a curve within its first values, with an end above them."""

    begin: float
    peak: float
    step: int  # of the peak
    end: float


def early_rise(levels: Levels) -> EarlyRise | None:
    """Return the rise of a curve within its first ten values to a hundred times the first one, if it ends at
    twice the first one or more, or None."""
    first, early = float(levels.values[0]), levels.values[:EARLY]
    row = int(np.argmax(early))
    last = min(levels.end, float(levels.values[-LASTS:].min()))
    if first <= 0 or early[row] < GROWN * first or last < RISEN * first:
        return None
    return EarlyRise(first, float(early[row]), int(levels.steps[row]), levels.end)


def escape(levels: Levels) -> float | None:
    """Return the last level of a curve that falls below zero by a thousand times its first ten values, or
    more, and still falls, or None."""
    falls = bool((np.diff(levels.levels[-_LAST:]) < 0).all())
    scale = float(np.abs(levels.values[:EARLY]).max())
    return levels.end if falls and scale > 0 and levels.end < -ESCAPED * scale else None


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Steps that take longer from one of them on: medians of the seconds before and after."""

    step: int
    before: float
    after: float


_SLOWER: Final = 1.5  # times the seconds before: what other work on a machine costs is less
_SPLITS: Final = 64  # of a curve, at which it may have become slower
_LEAST_SIDE: Final = 0.1  # of the curve, before and after
_APART: Final = 10, 90  # percentiles: nine of ten steps before are faster than nine of ten after


def slowdown(steps: Ints, seconds: Floats) -> Slowdown | None:
    """Return the point from which steps take 1.5 times as long or longer up to the end of [n] values, or
    None. Nine of ten steps before are faster than nine of ten after, and each side is a tenth of the curve
    or more."""
    finite = np.isfinite(seconds)
    known, at = seconds[finite].astype(np.float64), steps[finite]
    least = max(int(len(known) * _LEAST_SIDE), EARLY)
    if len(known) < 2 * least or known.min() <= 0:
        return None
    rows = np.unique(np.linspace(least, len(known) - least, _SPLITS).astype(np.int64)).tolist()
    ratios = [_ratio(known, row) for row in rows]
    row = int(rows[int(np.argmax(ratios))])
    before, after = known[:row], known[row:]
    if max(ratios) < _SLOWER or np.percentile(before, _APART[1]) >= np.percentile(after, _APART[0]):
        return None
    middle = float(np.sqrt(np.median(before) * np.median(after)))
    near = known[max(0, row - len(known) // _SPLITS) : row + len(known) // _SPLITS + 1]
    exact = max(0, row - len(known) // _SPLITS) + int(np.argmax(near > middle))
    return Slowdown(int(at[exact]), float(np.median(before)), float(np.median(after)))


def _ratio(known: Doubles, row: int) -> float:
    return float(np.median(known[row:]) / np.median(known[:row]))
