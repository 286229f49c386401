"""Statistics of a selected range of a curve."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from mindinsight.server.curves.overflow import LARGEST, deviation, mean, unit_of
from mindinsight.server.types import Doubles, Floats, Ints


class RangeStatistics(TypedDict):
    """Finite values only, but for the counts and the two ends; None where there is none.

    An end that is not finite is the text nan, inf or -inf: a run that ended in NaN has no other last value.
    """

    count: int
    nan: int
    inf: int
    first_step: int | None
    last_step: int | None
    first: float | str | None
    last: float | str | None
    min: float | None
    min_step: int | None
    max: float | None
    max_step: int | None
    mean: float | None
    deviation: float | None
    slope: float | None  # of the least-squares line, per step


def range_statistics(steps: Ints, values: Floats) -> RangeStatistics:
    """Statistics of [n] points."""
    wide = np.asarray(values, np.float64)
    finite = np.isfinite(wide)
    good, at = wide[finite], steps[finite]
    some = len(good) > 0
    low, high = (int(good.argmin()), int(good.argmax())) if some else (0, 0)
    return {
        "count": len(wide),
        "nan": int(np.isnan(wide).sum()),
        "inf": int(np.isinf(wide).sum()),
        "first_step": int(steps[0]) if len(steps) else None,
        "last_step": int(steps[-1]) if len(steps) else None,
        "first": _end(wide[0]) if len(wide) else None,
        "last": _end(wide[-1]) if len(wide) else None,
        "min": float(good[low]) if some else None,
        "min_step": int(at[low]) if some else None,
        "max": float(good[high]) if some else None,
        "max_step": int(at[high]) if some else None,
        "mean": mean(good) if some else None,
        "deviation": deviation(good) if some else None,
        "slope": _slope(at, good),
    }


def _end(value: np.float64) -> float | str:
    return float(value) if np.isfinite(value) else str(value)


def _slope(steps: Ints, values: Doubles) -> float | None:
    if len(steps) < 2:
        return None
    unit = unit_of(values)
    values = values / unit
    x = steps - steps.mean()
    spread = float((x * x).sum())
    if spread <= 0:
        return None
    slope = float((x * (values - values.mean())).sum() / spread) * unit
    return max(-LARGEST, min(slope, LARGEST))
