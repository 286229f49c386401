from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.smoothing import exponential, gaussian, points_of, running_mean, scan, smooth
from mindinsight.server.types import Doubles


def one_by_one(steps: Any, values: Any, weight: Any) -> Any:
    """Return the formula of the module as a plain loop."""
    finite = [i for i in range(len(values)) if np.isfinite(values[i])]
    gaps = [steps[b] - steps[a] for a, b in pairwise(finite)]
    positive = [gap for gap in gaps if gap > 0]
    unit = float(np.median(positive)) if positive else 1.0
    mean = total = 0.0
    result = np.array(values, float)
    for position, row in enumerate(finite):
        distance = max(gaps[position - 1], 0) / unit if position else 1.0
        keep = weight**distance
        mean = keep * mean + (1 - keep) * values[row]
        total = keep * total + (1 - keep)
        result[row] = mean / total if total else np.nan
    return result


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6) | st.just(float("nan"))), min_size=2, max_size=300
    ),
    st.floats(0.05, 0.999),
)
def test_the_scan_is_the_formula(points: Any, weight: Any) -> None:
    steps = np.cumsum([gap for gap, _ in points])
    values = np.array([value for _, value in points])
    expected = one_by_one(steps.tolist(), values.tolist(), weight)
    np.testing.assert_allclose(smooth(steps, values, weight), expected, rtol=1e-6, atol=1e-6)


def test_a_constant_stays_the_constant() -> None:
    smoothed = smooth(np.arange(10_000), np.full(10_000, 3.25, np.float32), 0.99)
    np.testing.assert_allclose(smoothed, 3.25, rtol=1e-12)


def test_it_never_leaves_the_range_of_the_values() -> None:
    values = np.random.default_rng(1).standard_normal(5000)
    smoothed = smooth(np.arange(5000), values, 0.97)
    assert smoothed.min() >= values.min()
    assert smoothed.max() <= values.max()
    assert smoothed.std() < 0.3 * values.std()


def test_a_long_gap_forgets_the_past() -> None:
    steps = np.array([0, 1, 2, 3, 1000, 1001])
    smoothed = smooth(steps, np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0]), 0.9)
    assert smoothed[4] == pytest.approx(1.0)


def test_weight_zero_is_the_recorded_curve_and_one_is_refused() -> None:
    values = np.array([1.0, np.nan, 3.0])
    assert np.array_equal(smooth(np.arange(3), values, 0.0), values, equal_nan=True)
    with pytest.raises(ValueError, match="weight"):
        smooth(np.arange(3), values, 1.0)


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
