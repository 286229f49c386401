"""Jumps of curves: where a loss spikes, and what is none: trends, noise, and too few values before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.levels import BEFORE, first_jump, is_constant
from mindinsight.server.types import Doubles
from tests.narrowing import require


def curve(length: int = 300, seed: int = 0) -> Doubles:
    noise = np.random.default_rng(seed).standard_normal(length)
    values: Doubles = 1 + np.exp(-np.arange(length) / 60) + 0.05 * noise
    return values


def test_the_first_jump_has_its_step_value_and_the_range_before() -> None:
    values = curve()
    values[[200, 250]] = 9.0, 30.0
    jump = first_jump(np.arange(300) * 10, values)
    assert jump is not None
    assert (jump.step, jump.value) == (2000, 9.0)
    assert (jump.low, jump.high) == (values[150:200].min(), values[150:200].max())


@pytest.mark.parametrize(
    "values",
    [
        curve(),
        curve()[::-1],  # a loss that rises slowly
        np.r_[np.full(100, 2.0), np.full(100, 9.0)],  # equal values have no known noise
        np.r_[curve(BEFORE), 9.0][1:],  # five times as much, with 49 values before
        np.r_[curve(9), 40.0],
        np.r_[curve(100), 1.4 * curve(100)],  # a step of 40 %
        np.r_[-curve(100), 0.0],  # up to zero, and not to twice the size
        np.r_[curve(100), 0.01, curve(100)],  # downwards
        np.zeros(0),
    ],
)
def test_what_is_no_jump(values: Doubles) -> None:
    assert first_jump(np.arange(len(values)), values) is None


def test_values_that_are_not_finite_are_passed_over() -> None:
    values = np.r_[curve(100), np.nan, np.inf, 50.0]
    jump = first_jump(np.arange(len(values)), values)
    assert jump is not None
    assert (jump.step, jump.value) == (102, 50.0)


def test_normal_noise_is_no_jump_and_heavy_tails_hardly_ever_are() -> None:
    random = np.random.default_rng(3)
    steps = np.arange(40_000)
    assert first_jump(steps, 10 + random.standard_normal(len(steps))) is None
    heavy = [first_jump(steps[:2000], 10 + random.standard_t(4, 2000)) for _ in range(20)]
    assert sum(known is not None for known in heavy) <= 1


@given(st.lists(st.floats(width=32), max_size=120))
def test_any_values_have_an_answer(values: list[float]) -> None:
    jump = first_jump(np.arange(len(values)), np.array(values, np.float32))
    assert jump is None or jump.value > jump.high > jump.low


@pytest.mark.parametrize("deviation", [0.3, 0.5, 1.0])
def test_norms_that_spread_by_factors_hardly_ever_have_a_jump(deviation: float) -> None:
    random = np.random.default_rng(4)
    curves = [np.exp(deviation * random.standard_normal(2000)) for _ in range(30)]
    assert sum(first_jump(np.arange(2000), values) is not None for values in curves) <= 1


def test_a_spike_stands_out_of_values_that_spread_by_a_factor_of_thirty() -> None:
    values = np.random.default_rng(5).uniform(0.01, 0.3, 300)
    values[200] = 6.0
    assert require(first_jump(np.arange(300), values)).step == 200
    values[200] = 1.0  # 3.4 times the largest
    assert first_jump(np.arange(300), values) is None


def test_equal_values_are_constant_and_nan_is_not() -> None:
    assert is_constant(np.full(20, 0.5))
    assert not is_constant(np.full(19, 0.5))
    assert not is_constant(np.full(20, np.nan))
    assert not is_constant(np.r_[np.full(30, 0.5), 0.25])


def test_three_times_the_value_is_a_jump_in_noise_of_five_percent() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        values = (0.5 + 2 * np.exp(-np.arange(2000) / 400)) * (1 + 0.05 * random.standard_normal(2000))
        values[1500] *= 3
        spike = first_jump(np.arange(2000), values)
        assert spike is not None
        assert spike.step == 1500


@pytest.mark.parametrize("tail", [2.0, 3.0])
def test_a_tail_that_is_heavy_throughout_explains_its_largest_values(tail: float) -> None:
    random = np.random.default_rng(6)
    curves = [0.5 * (1 + random.pareto(tail, 1200)) for _ in range(20)]
    curves += [1 + 0.5 * np.abs(random.standard_t(tail, 1200)) for _ in range(20)]
    assert sum(first_jump(np.arange(1200), values) is not None for values in curves) <= 4


def test_a_spike_stands_out_of_a_heavy_tail() -> None:
    values = 1 + 0.5 * np.abs(np.random.default_rng(7).standard_t(3, 1200))
    values[900] = 1000.0
    spike = require(first_jump(np.arange(1200), values))
    assert (spike.step, spike.again) == (900, 0)
    assert spike.high < spike.limit < 1000


def test_jumps_at_equal_distances_are_counted() -> None:
    values = np.tile(np.r_[curve(100), 4 * curve(100)], 4)
    jump = require(first_jump(np.arange(800), values))
    assert (jump.step, jump.again, jump.every) == (100, 4, 200)
    values[550] = 90.0  # between two of them
    assert require(first_jump(np.arange(800), values)).again == 0
