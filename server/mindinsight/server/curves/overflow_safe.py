"""Overflow-safe float64 arithmetic, for when intermediate values leave the range and the result does not.

Values up to 1.8e308 are recorded, and their sums, squares and differences do not fit. A result that does not
fit itself is the largest finite number: infinity would say that a value is not finite.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.types import Doubles, Floats

LARGEST: Final = float(np.finfo(np.float64).max)
_TOP: Final = 1022  # exponent up to which a power of two can be multiplied by two


def limited(values: Doubles) -> Doubles:
    """Infinities as the largest finite numbers of their sign; NaN stays."""
    return np.asarray(np.clip(values, -LARGEST, LARGEST), np.float64)


def unit_of(values: Floats) -> float:
    """The power of two next to the largest finite size among ``values``; 1.0 where all are 0.

    Divided by it, values are at most 2, without rounding but for those 2**-1022 times as large.
    """
    largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
    return float(np.ldexp(1.0, min(int(np.frexp(largest)[1]) - 1, _TOP))) if largest else 1.0


def subtract(left: Doubles, right: Doubles | float) -> Doubles:
    """``left - right``; finite where both are."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.asarray(left - right, np.float64)
    overflowed = np.isinf(result) & np.isfinite(left) & np.isfinite(right)
    return np.where(overflowed, limited(result), result)


def mean(values: Doubles) -> float:
    """Mean of finite ``values`` [n], n > 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        plain = float(values.mean())
    if np.isfinite(plain):
        return plain
    unit = unit_of(values)
    scaled = values / unit
    return float(np.clip(scaled.mean(), scaled.min(), scaled.max())) * unit


def deviation(values: Doubles) -> float:
    """Standard deviation of finite ``values`` [n], n > 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        plain = float(values.std())
    if np.isfinite(plain):
        return plain
    unit = unit_of(values)
    return min(float((values / unit).std()) * unit, LARGEST)


def differences(edges: Doubles) -> Doubles:
    """Each value less the one before it."""
    return subtract(edges[1:], edges[:-1])


def even_edges(low: float, high: float, count: int) -> Doubles:
    """``count`` edges from ``low`` to ``high``, evenly spaced."""
    if max(abs(low), abs(high)) < LARGEST / 4:
        return np.linspace(low, high, count)
    edges = np.linspace(low / 4, high / 4, count) * 4
    edges[0], edges[-1] = low, high
    return edges


def interpolate(at: Doubles, x: Doubles, y: Doubles) -> Doubles:
    """``y`` [n] over ascending ``x`` [n >= 2] at other places [m], the ends beyond them; like ``np.interp``.

    Differences in ``x`` may be subnormal, where the slope that ``np.interp`` computes is infinite.
    """
    row = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    width = x[row + 1] - x[row]
    with np.errstate(over="ignore"):  # far beyond the ends, where it is 0 or 1
        share = np.divide(at - x[row], width, where=width > 0, out=np.ones(len(at)))
    share[at < x[0]] = 0.0  # also where the first step has no width
    return y[row] + np.clip(share, 0.0, 1.0) * (y[row + 1] - y[row])
