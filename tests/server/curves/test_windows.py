"""Smoothing by points: each kind against its formula, and the noise that a weight leaves in all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mindinsight.server.curves.smoothing import smooth
from mindinsight.server.curves.windows import exponential, gaussian, points_of, running_mean, scan
from mindinsight.server.types import Doubles

KINDS: list[Callable[[Doubles, float], Doubles]] = [exponential, gaussian, running_mean]
every_kind = pytest.mark.parametrize("kind", KINDS)


def test_the_exponential_average_is_its_recurrence() -> None:
    values = np.array([np.nan, 3.0, 5.0, np.nan, -1.0, 4.0])
    expected, mean = [np.nan], 3.0
    for value in values[1:]:
        mean = mean if np.isnan(value) else 0.75 * mean + 0.25 * value
        expected.append(np.nan if np.isnan(value) else mean)
    np.testing.assert_allclose(exponential(values, 0.75), expected)


def test_the_running_mean_is_that_of_the_points_around() -> None:
    values = np.arange(10.0) ** 2
    smoothed = running_mean(values, 2 / 3)  # of 5 points
    expected = [values[max(0, row - 2) : row + 3].mean() for row in range(10)]
    np.testing.assert_allclose(smoothed, expected)


def test_the_gaussian_is_an_average_by_a_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(size=400)
    deviation = points_of(0.9) / (2 * np.sqrt(np.pi))
    distance = np.subtract.outer(np.arange(400), np.arange(400)) / deviation
    weights = np.exp(-0.5 * distance**2)
    np.testing.assert_allclose(gaussian(values, 0.9), weights @ values / weights.sum(axis=1), atol=1e-4)


@every_kind
def test_a_constant_stays_and_what_is_not_finite_has_no_weight(
    kind: Callable[[Doubles, float], Doubles],
) -> None:
    values = np.full(50, 7.0)
    values[[3, 20]] = np.nan, np.inf
    smoothed = kind(values, 0.9)
    np.testing.assert_allclose(smoothed[np.isfinite(values)], 7.0)
    assert np.isnan(smoothed[3]) and smoothed[20] == np.inf
    nothing = np.full(3, np.nan)
    assert np.isnan(kind(nothing, 0.5)).all()


@every_kind
def test_as_much_noise_is_left_by_each(kind: Callable[[Doubles, float], Doubles]) -> None:
    noise = np.random.default_rng(2).normal(size=20_000)
    for weight in (0.8, 0.95):
        left = kind(noise, weight)[1000:-1000].var() * points_of(weight)
        assert left == pytest.approx(1.0, abs=0.15)


@every_kind
def test_the_largest_numbers_have_an_average(kind: Callable[[Doubles, float], Doubles]) -> None:
    values = np.array([1.7e308, 1.7e308, 1.6e308, 1.7e308])
    assert np.isfinite(kind(values, 0.5)).all()


def test_a_long_line_is_averaged_as_a_short_one() -> None:
    values = np.random.default_rng(3).normal(size=40_000)
    whole = gaussian(values, 0.999)  # by the Fourier transform
    np.testing.assert_allclose(whole[20_000], gaussian(values[15_000:25_000], 0.999)[5000], atol=1e-9)


def test_a_kind_is_chosen_by_name() -> None:
    steps, values = np.arange(9), np.arange(9.0) ** 2
    np.testing.assert_array_equal(smooth(steps, values, 0.5, "mean"), running_mean(values, 0.5))
    assert smooth(steps, values, 0.0, "gaussian") is values


@pytest.mark.parametrize("size", [1, 2, 3, 64, 1000])
def test_the_scan_is_the_recurrence(size: int) -> None:
    rng = np.random.default_rng(size)
    factor, term = rng.uniform(0, 1, size), rng.normal(size=size)
    factor[0] = 0.0
    expected, x = [], 0.0
    for a, b in zip(factor, term, strict=True):
        x = a * x + b
        expected.append(x)
    np.testing.assert_allclose(scan(factor, term), expected, rtol=1e-12, atol=1e-14)
