"""Robust scales: medians with gaps, the usual change, inflation by correlation, limits of spikes."""

import numpy as np
import pytest

from mindinsight.server.curves.robust import (
    cumulated,
    expected_largest,
    inflation,
    median,
    row_medians,
    usual_change,
)

NAN = np.nan


def noise(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def test_median_of_columns_needs_two_values() -> None:
    values = np.array([[1.0, 5.0, NAN, NAN], [2.0, NAN, 7.0, NAN], [9.0, 6.0, NAN, NAN]])
    np.testing.assert_array_equal(median(values), [2.0, 5.5, NAN, NAN])


@pytest.mark.parametrize("rows", [2, 3, 8, 9])
def test_medians_are_those_of_numpy(rows: int) -> None:
    values = noise(rows, 50)
    values[0, ::3] = NAN
    if rows > 2:
        np.testing.assert_allclose(median(values), np.nanmedian(values, axis=0))
    np.testing.assert_allclose(row_medians(values), np.nanmedian(values, axis=1))


def test_row_without_a_value_has_no_median() -> None:
    np.testing.assert_array_equal(row_medians(np.array([[NAN, NAN], [3.0, NAN]])), [NAN, 3.0])


def test_usual_change_is_the_standard_deviation_of_noise() -> None:
    unit = usual_change(0.3 * noise(8, 1000), np.ones(1000))
    assert unit.shape == (8, 1000)
    np.testing.assert_allclose(np.median(unit), 0.3, rtol=0.2)


def test_usual_change_ignores_level_shifts() -> None:
    raw = 0.3 * noise(3, 1000)
    before = usual_change(raw, np.ones(1000))
    raw[1, 500:] += 100.0
    np.testing.assert_allclose(usual_change(raw, np.ones(1000)), before, rtol=0.05)


def test_usual_change_is_larger_for_a_noisy_rank_and_a_large_step() -> None:
    raw, size = 0.1 * noise(4, 400), np.ones(400)
    raw[2] *= 5
    size[100] = 10.0
    unit = usual_change(raw, size)
    assert unit[2, 50] > 3 * unit[0, 50]
    assert unit[0, 100] > 5 * unit[0, 99]


def test_usual_change_is_at_least_a_thousandth_of_the_median() -> None:
    unit = usual_change(np.zeros((3, 100)), np.full(100, 50.0))
    assert unit.min() >= 0.05
    assert unit.max() < 0.1


def test_cumulated_sums_lie_between_edges() -> None:
    values = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]])
    np.testing.assert_array_equal(cumulated(values, np.array([0, 1, 4])), [[0, 1, 10], [0, 0, 2]])


def test_inflation_is_small_for_independent_steps_and_large_for_a_random_walk() -> None:
    counts = np.full((8, 24), 50.0)

    def of(values: np.ndarray) -> float:
        return inflation(values.reshape(8, 24, 50).sum(axis=2), counts)

    independent = noise(8, 1200)
    assert 1.0 <= of(independent) < 2.0
    assert of(np.cumsum(independent, axis=1)) > 100
    assert inflation(np.zeros((2, 1)), np.ones((2, 1))) == 1.0


def test_limits_of_spikes_are_beyond_the_largest_of_normal_noise() -> None:
    for ranks in (3, 8, 64):
        scaled = np.abs(noise(ranks, 1000))
        limit, repeated = expected_largest(scaled)
        assert limit >= repeated >= 8.0 > scaled.max()
    assert expected_largest(np.abs(noise(2, 100))) == (25.0, 10.0)


def test_heavy_tails_raise_the_limit() -> None:
    heavy = np.abs(np.random.default_rng(1).standard_t(2, (8, 1000)))
    assert expected_largest(heavy)[0] > 2 * expected_largest(np.abs(noise(8, 1000)))[0]
