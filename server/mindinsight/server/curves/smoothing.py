"""Smoothing of a curve: exponential and moving averages, and Gaussian windows."""

from collections.abc import Callable, Mapping
from math import ceil, pi, sqrt
from typing import Final, Literal

import numpy as np

from mindinsight.server.curves.overflow_safe import limited
from mindinsight.server.types import Doubles, Floats, Ints

_WIDEST = 4.0  # standard deviations at which a Gaussian is cut off
_DIRECT = 1 << 25  # products above which the Fourier transform is faster
_NOTHING: Final = 1e-20  # factors below are set to 0, because they would decay to slow denormal numbers


def points_of(weight: float) -> float:
    """Return the number of points whose plain mean has the noise of an exponential average with
    ``weight``. The weight is in [0, 1)."""
    return (1.0 + weight) / (1.0 - weight)


def exponential(values: Doubles, weight: float) -> Doubles:
    """Return [n] ``m_i = weight * m_(i-1) + (1 - weight) * y_i`` with ``m_0 = y_0``. Non-finite values
    stay."""
    finite = np.isfinite(values)
    if not finite.any():
        return values
    keep = np.where(finite, weight, 1.0)
    term = np.where(finite, (1.0 - weight) * np.where(finite, values, 0.0), 0.0)
    first = int(finite.argmax())
    keep[: first + 1], term[first] = 0.0, values[first]
    return np.where(finite, limited(scan(keep, term)), values)


def gaussian(values: Doubles, weight: float) -> Doubles:
    """Return [n] averages weighted by a normal distribution around each point, up to 4 standard
    deviations."""
    deviation = points_of(weight) / (2.0 * sqrt(pi))
    half = min(ceil(_WIDEST * deviation), len(values) - 1)
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / deviation) ** 2)
    return _average(values, kernel)


def running_mean(values: Doubles, weight: float) -> Doubles:
    """Return the centered moving average [n] over ``points_of(weight)`` points, fewer at both ends."""
    half = min(max(1, round((points_of(weight) - 1.0) / 2.0)), len(values) - 1)
    return _average(values, np.ones(2 * half + 1))


def _average(values: Doubles, kernel: Doubles) -> Doubles:
    """Return the average of the finite values under a symmetric kernel centered on each. Non-finite values
    stay."""
    finite = np.isfinite(values)
    if not finite.any():
        return values
    scale = float(np.abs(values[finite]).max()) or 1.0  # the sum of large values would overflow
    with np.errstate(divide="ignore", invalid="ignore"):
        total = _convolved(np.where(finite, values / scale, 0.0), kernel)
        share = _convolved(finite.astype(np.float64), kernel)
        return np.where(finite, limited(total / share * scale), values)


def _convolved(values: Doubles, kernel: Doubles) -> Doubles:
    """Return the convolution [n] with a kernel of odd length, with zeros around ``values``."""
    half = len(kernel) // 2
    if len(values) * len(kernel) < _DIRECT:
        return np.asarray(np.convolve(values, kernel)[half : half + len(values)])
    size = 1 << (len(values) + len(kernel) - 1).bit_length()
    product = np.fft.rfft(values, size) * np.fft.rfft(kernel, size)
    return np.asarray(np.fft.irfft(product, size)[half : half + len(values)])


def scan(factor: Doubles, term: Doubles) -> Doubles:
    """Return x_i = factor_i * x_(i-1) + term_i for all i: a prefix scan in log2(n) passes (Hillis, Steele
    1986)."""
    factor, term = factor.copy(), term.copy()
    distance = 1
    while distance < len(term) and factor[distance:].any():
        term[distance:] += factor[distance:] * term[:-distance].copy()
        factor[distance:] = factor[distance:] * factor[:-distance].copy()
        factor[:distance] = 0.0
        factor[factor < _NOTHING] = 0.0
        distance *= 2
    return term


SmoothingKind = Literal["debiased", "ema", "gaussian", "mean"]
_WINDOWS: Final[Mapping[str, Callable[[Doubles, float], Doubles]]] = {
    "ema": exponential,
    "gaussian": gaussian,
    "mean": running_mean,
}


def smooth(steps: Ints, values: Floats, weight: float, kind: SmoothingKind = "debiased") -> Doubles:
    """Return smoothed values [n], in which non-finite values stay. Raises ValueError for a ``weight`` that
    is not from 0 (unchanged) to below 1. Only the kind "debiased" takes the distances between ``steps``
    into account."""
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
    """Return [n] the factor, 0 to 1, by which the running average is multiplied at each row: smaller after a
    longer distance in steps."""
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
