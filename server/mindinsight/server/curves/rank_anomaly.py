"""Anomaly of one rank's curve, and the measures of its size, growth and period."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.curves.bands import FEWEST_STEPS, NOT_ZERO
from mindinsight.server.curves.overflow_safe import LARGEST
from mindinsight.server.types import Doubles, Ints

FEWEST_LASTING: Final = 4  # columns in a row that are no spike
_SAME_FACTOR: Final = 0.5  # share of a factor that half of the shares lie within
_PERIOD_CHANCE: Final = 0.02  # probability below which equal gaps between spikes are a period

OutlierKind: TypeAlias = Literal["not_finite", "silent", "lasting", "spikes"]


@dataclass(frozen=True, slots=True)
class RankOutlier:
    """Anomaly of one rank's curve."""

    row: int  # number of the curve
    kind: OutlierKind
    step: int  # first step
    last_step: int | None = None  # lasting: last step, None if it continues
    relative: float | None = None  # lasting and spikes: usual or largest share of the median, None if it is 0
    count: int = 1  # number of spikes or of non-finite steps
    period: int | None = None  # spikes: steps between them if they are regular
    end: float | None = None  # lasting, and growing: difference / size of the median at the last steps
    other: int | None = None  # lasting, of two curves: the other one, as it is unknown which is wrong
    both_sides: bool = False  # lasting: the differences lie on both sides, and `relative` is their usual size
    shared: bool = False  # non-finite: at steps at which most curves are


def share_of(difference: Doubles, centre: Doubles) -> float | None:
    """Return the median of ``difference`` [n] as share of the size of ``centre`` [n], or None if that is 0.

    It is the median of the shares if ``centre`` keeps away from 0, or if the shares are about the same.
    """
    sizes = np.abs(centre)
    size = float(np.nanmean(sizes))
    if not size:
        return None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        shares = np.clip(difference / sizes, -LARGEST, LARGEST)
        low, middle, high = np.nanquantile(shares / 4, (0.25, 0.5, 0.75)) * 4  # differences stay finite
        is_factor = high / 4 - low / 4 < _SAME_FACTOR * abs(middle) / 4
        if float(np.nanmin(sizes)) <= NOT_ZERO * size and not is_factor:
            middle = np.float64(np.nanmedian(difference)) / size
    return float(np.clip(middle, -LARGEST, LARGEST))


def growth(shares: Doubles) -> float | None:
    """Return the difference at the end if it grows from fifth to fifth to twice its size, or None."""
    fifths = np.array([float(np.nanmedian(part)) for part in np.array_split(shares, 5)])
    if len(shares) < FEWEST_STEPS or np.isnan(fifths).any():
        return None
    towards = fifths * np.sign(fifths[-1])
    return float(fifths[-1]) if (np.diff(towards) > 0).all() and towards[-1] > 2 * towards[1] else None


def period_of(steps: Ints, width: float) -> int | None:
    """Return the steps between events if their gaps are multiples of it as they rarely are by chance.

    ``width`` is the smallest difference of steps that can be told.
    """
    if len(steps) < 3:
        return None
    gaps = np.diff(steps.astype(np.float64))
    usual = float(np.median(gaps))
    away = float(np.max(np.abs(gaps - np.maximum(np.round(gaps / usual), 1) * usual)))
    by_chance = min((4 * away + width) / usual, 1.0) ** (len(gaps) - 1)
    return round(usual) if by_chance <= _PERIOD_CHANCE else None
