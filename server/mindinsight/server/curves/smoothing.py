"""Smoothing of a curve: a debiased exponential moving average weighted by step distance, and other kinds.

With weight s and steps k_0 < k_1 < ..., d the median distance of steps and a_i = s ** ((k_i - k_(i-1)) / d):

    m_i = a_i * m_(i-1) + (1 - a_i) * y_i,    m_(-1) = 0
    w_i = a_i * w_(i-1) + (1 - a_i),          w_(-1) = 0
    smoothed_i = m_i / w_i

The division takes out the pull towards zero at the start, so a constant stays the constant. A
non-finite value leaves the average as it is. It is computed on the whole series before sampling:
what is drawn does not depend on the width of the chart. The other kinds (``windows``) go by points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

import numpy as np

from mindinsight.server.curves.overflow import limited
from mindinsight.server.curves.windows import exponential, gaussian, running_mean, scan
from mindinsight.server.types import Doubles, Floats, Ints

SmoothingKind = Literal["debiased", "ema", "gaussian", "mean"]
_WINDOWS: Final[Mapping[str, Callable[[Doubles, float], Doubles]]] = {
    "ema": exponential,
    "gaussian": gaussian,
    "mean": running_mean,
}


def smooth(steps: Ints, values: Floats, weight: float, kind: SmoothingKind = "debiased") -> Doubles:
    """Smoothed values [n] for a ``weight`` from 0 (as recorded) up to, not including, 1.

    Raises:
        ValueError: a weight outside [0, 1).
    """
    if not 0.0 <= weight < 1.0:
        raise ValueError(f"the smoothing weight must be from 0 up to 1, not {weight}")
    wide = np.asarray(values, np.float64)
    if weight == 0.0 or len(wide) < 2:
        return wide
    if kind != "debiased":
        return _WINDOWS[kind](wide, weight)
    finite = np.isfinite(wide)
    keep = _keep(steps, finite, weight)
    share = np.where(finite, 1.0 - keep, 0.0)
    keep = np.where(finite, keep, 1.0)
    mean = scan(keep, share * np.where(finite, wide, 0.0))
    total = scan(keep, share)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(finite, limited(mean / total), wide)


def _keep(steps: Ints, finite: np.ndarray, weight: float) -> Doubles:
    """How much of the average survives each row; the distance is the one to the last finite row."""
    rows = np.flatnonzero(finite)
    keep = np.ones(len(steps))
    if not len(rows):
        return keep
    distance = np.diff(steps[rows].astype(np.float64), prepend=float(steps[rows[0]]))
    positive = distance[distance > 0]
    unit = float(np.median(positive)) if len(positive) else 1.0
    distance[0] = unit
    keep[rows] = weight ** (np.maximum(distance, 0.0) / unit)
    return keep
