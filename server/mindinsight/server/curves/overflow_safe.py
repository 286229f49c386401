"""Overflow-safe float64 arithmetic: intermediate values may leave the range although the result does not.

Values up to 1.8e308 are recorded, whose sums, squares and differences overflow. A result that overflows is
replaced by the largest finite number, because infinity would mean a non-finite value.
"""

from typing import Final

import numpy as np

from mindinsight.server.types import Doubles, Floats

LARGEST: Final = float(np.finfo(np.float64).max)
_TOP: Final = 1022  # largest exponent of a power of two that can be doubled


def limited(values: Doubles) -> Doubles:
    """Return ``values`` with infinities replaced by the largest finite numbers of their sign. NaN stays."""
    return np.asarray(np.clip(values, -LARGEST, LARGEST), np.float64)


def unit_of(values: Floats) -> float:
    """Return the largest power of two up to the largest finite magnitude in ``values``, at most 2**1022.
    Return 1.0 if all are 0. Dividing by it leaves values of less than 4 and rounds only those 2**-1022
    times smaller."""
    largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
    return float(np.ldexp(1.0, min(int(np.frexp(largest)[1]) - 1, _TOP))) if largest else 1.0


def subtract(left: Doubles, right: Doubles | float) -> Doubles:
    """Return ``left - right``, finite where both are."""
    with np.errstate(over="ignore", invalid="ignore"):
        result = np.asarray(left - right, np.float64)
    overflowed = np.isinf(result) & np.isfinite(left) & np.isfinite(right)
    return np.where(overflowed, limited(result), result)


def relative_to(values: Doubles, base: Doubles) -> Doubles:
    """Return ``(values - base) / |base|``: 0 where both are equal and finite, NaN where the base is not
    finite or a value is NaN, infinite only where a value is infinite or the base is 0."""
    size = np.abs(base)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        relative = (values - base) / size
        overflowed = ~np.isfinite(relative) & np.isfinite(values) & np.isfinite(base) & (size > 0)
        again = limited(values / size - np.sign(base))
    return np.where((values == base) & np.isfinite(base), 0.0, np.where(overflowed, again, relative))


def mean(values: Doubles) -> float:
    """Return the mean of finite ``values`` [n], n > 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        plain = float(values.mean())
    if np.isfinite(plain):
        return plain
    unit = unit_of(values)
    scaled = values / unit
    return float(np.clip(scaled.mean(), scaled.min(), scaled.max())) * unit


def deviation(values: Doubles) -> float:
    """Return the standard deviation of finite ``values`` [n], n > 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        plain = float(values.std())
    if np.isfinite(plain):
        return plain
    unit = unit_of(values)
    return min(float((values / unit).std()) * unit, LARGEST)


def differences(edges: Doubles) -> Doubles:
    """Return the differences between consecutive values."""
    return subtract(edges[1:], edges[:-1])


def even_edges(low: float, high: float, count: int) -> Doubles:
    """Return ``count`` edges from ``low`` to ``high``, evenly spaced."""
    if max(abs(low), abs(high)) < LARGEST / 4:
        return np.linspace(low, high, count)
    edges = np.linspace(low / 4, high / 4, count) * 4
    edges[0], edges[-1] = low, high
    return edges


def interpolate(at: Doubles, x: Doubles, y: Doubles) -> Doubles:
    """Interpolate ``y`` [n] over ascending ``x`` [n >= 2] at positions [m], constant beyond the ends.
    Unlike ``np.interp``, differences in ``x`` may be subnormal, for which its slope is infinite."""
    row = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
    width = x[row + 1] - x[row]
    with np.errstate(over="ignore"):  # far beyond the ends, where the share is clipped
        share = np.divide(at - x[row], width, where=width > 0, out=np.ones(len(at)))
    share[at < x[0]] = 0.0  # even if the first step has no width
    return y[row] + np.clip(share, 0.0, 1.0) * (y[row + 1] - y[row])
