"""Levels of curves: no fall, rises, collapses and growth, and trainings in which there are none."""

from collections.abc import Callable

import numpy as np
import pytest

from mindinsight.server.curves.levels import (
    FEWEST,
    Change,
    Levels,
    collapse,
    constant_end,
    first_jump,
    growth,
    is_level,
    levels_of,
    non_finite,
    only_rises,
    rise_above_lowest,
    rise_below_zero,
    rise_for_good,
    run_up,
    shift_to_end,
    zero_end,
)
from mindinsight.server.types import Doubles
from tests.narrowing import require

STEPS = np.arange(400)


def of(values: Doubles, shares: bool = False) -> Levels:
    return require(levels_of(np.arange(len(values)), values, shares))


def noise(size: int, seed: int = 0) -> Doubles:
    values: Doubles = np.random.default_rng(seed).standard_normal(size)
    return values


def test_levels_are_medians_of_equal_parts_of_finite_values() -> None:
    values = np.r_[np.nan, np.arange(1.0, 101.0), np.inf]
    levels = of(values)
    assert levels.levels.tolist() == [5.5 + 10 * part for part in range(10)]
    assert (levels.begin, levels.end) == (5.5, 95.5)
    assert (levels.step_of(0), levels.part_at(6)) == (6, 0)
    assert levels.part_at(1000) == 9


def test_few_values_have_no_levels_and_twenty_have_four() -> None:
    assert levels_of(STEPS[:19], np.ones(FEWEST - 1)) is None
    assert len(of(np.ones(FEWEST)).levels) == 4
    assert levels_of(STEPS[:20], np.full(20, 1e308) * np.tile([1.0, -1.0], 10)) is None


def test_a_loss_that_does_not_fall_is_known_beside_those_that_learn() -> None:
    flat = [is_level(of(2.3 + 0.01 * noise(400, seed))) for seed in range(20)]
    assert sum(flat) >= 18
    for seed in range(20):
        assert not is_level(of(2.3 * (1 - STEPS / 4000) + 0.02 * noise(400, seed)))  # by a tenth
        assert not is_level(of(0.2 + 2 * np.exp(-STEPS / 80) + 0.01 * noise(400, seed)))
        assert not is_level(of(2.3 + 0.3 * noise(400, seed)))  # noise in which a fall would hide


def test_a_rise_has_the_lowest_level_its_step_and_the_factor() -> None:
    change = require(rise_above_lowest(of(np.abs(STEPS - 220) / 100 + 0.5)))
    assert change.step == 220
    assert (change.extreme, change.end) == (pytest.approx(0.6), pytest.approx(2.095))
    assert change.factor == change.end / change.extreme


@pytest.mark.parametrize(
    "values",
    [
        np.full(400, 2.0),
        np.geomspace(1, 1.8, 400),
        np.r_[np.full(360, 1.0), np.full(40, 5.0)],  # does not last
        np.r_[np.zeros(100), np.ones(300)],  # from zero
        -np.geomspace(1, 100, 400),
        2 * np.exp(-STEPS / 20) + np.where(STEPS > 200, 3e-3, 1e-3),  # near zero
        3 + 2 * np.sin(STEPS / 15),  # a swing
        np.r_[np.ones(399), 50.0],  # a spike at the end
    ],
)
def test_what_is_no_rise(values: Doubles) -> None:
    assert rise_above_lowest(of(values)) is None


def test_a_tenfold_rise_need_not_last() -> None:
    assert rise_above_lowest(of(np.r_[np.ones(360), np.full(40, 10.0)])) is not None
    assert rise_above_lowest(of(np.geomspace(1, 1.8, 400)), 1.3) is not None


def test_a_curve_that_only_rises_is_above_its_begin_by_a_tenth() -> None:
    assert only_rises(of(1 + STEPS / 400 + 0.02 * noise(400)))
    assert only_rises(of(STEPS / 100 - 3))
    assert not only_rises(of(1 + STEPS / 8000))  # by less
    assert not only_rises(of(np.maximum(0.0, STEPS - 60)))  # switched on
    assert not only_rises(of(np.abs(STEPS - 100.0)))
    assert not any(only_rises(of(1 + 0.2 * noise(400, seed))) for seed in range(30))


def test_a_rise_below_zero_undoes_half_of_the_fall() -> None:
    change = require(rise_below_zero(of(np.interp(STEPS, [0, 200, 399], [0, -5, -1]))))
    assert change.factor == pytest.approx(0.8, abs=0.05)
    assert rise_below_zero(of(np.interp(STEPS, [0, 200, 399], [0, -5, -4]))) is None  # a fifth
    assert rise_below_zero(of(np.interp(STEPS, [0, 200, 399], [6, 1, 5]))) is None  # above zero
    assert rise_below_zero(of(-5 * (1 - np.exp(-STEPS / 60)) + 0.1 * noise(400))) is None


@pytest.mark.parametrize("deviation", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("find", [rise_above_lowest, growth])
def test_noise_is_no_rise(deviation: float, find: Callable[[Levels], Change | None]) -> None:
    curves = [np.exp(deviation * noise(400, seed)) for seed in range(30)]
    assert [find(of(values)) for values in curves] == [None] * 30


def test_a_collapse_has_its_step_and_must_last() -> None:
    accuracy = np.where(STEPS < 170, 0.9, 0.1)
    change = require(collapse(of(accuracy, shares=True)))
    assert (change.step, change.extreme, change.end) == (170, pytest.approx(0.9), pytest.approx(0.1))
    assert collapse(of(np.where((STEPS > 170) & (STEPS < 250), 0.1, 0.9), shares=True)) is None
    assert collapse(of(np.where(STEPS < 170, 0.9, 0.5), shares=True)) is None
    batches = [np.random.default_rng(seed).binomial(4, 0.5, 400) / 4 for seed in range(30)]
    assert [collapse(of(values, shares=True)) for values in batches] == [None] * 30


def test_growth_is_a_hundredfold() -> None:
    assert growth(of(np.geomspace(1, 1e4, 400))) is not None
    assert growth(of(np.geomspace(1, 90, 400))) is None
    assert growth(of(np.r_[np.zeros(100), np.ones(300)])) is None


def test_growth_up_to_a_nan_has_its_first_and_last_step() -> None:
    values = np.r_[2 - STEPS[:20] / 20, 3.0, 9.0, 27.0, 81.0, np.nan, 1e9]
    up = require(run_up(STEPS[:26] * 10, values))
    assert (up.step, up.last, up.value, up.high) == (200, 230, 81.0, 2.0)
    assert run_up(STEPS[:24], values[:24]) is None  # without a NaN
    assert run_up(STEPS[:16], values[10:]) is not None  # the ten values before it suffice
    assert run_up(STEPS[:15], values[11:]) is None
    assert run_up(STEPS[:25], np.r_[values[:22], 2.0, 81.0, np.nan]) is None  # one value falls


@pytest.mark.parametrize("deviation", [0.3, 1.0])
def test_noise_does_not_grow_up_to_a_nan(deviation: float) -> None:
    curves = [np.r_[np.exp(deviation * noise(30, seed)), np.nan] for seed in range(500)]
    assert [run_up(STEPS[:31], values) for values in curves] == [None] * 500


@pytest.mark.parametrize("size", [20, 50, 400])
@pytest.mark.parametrize("find", [first_jump, rise_for_good])
def test_noise_neither_jumps_nor_rises_for_good(find: Callable[..., object], size: int) -> None:
    curves = [np.exp(0.5 * noise(size, seed)) for seed in range(300)]
    assert [find(np.arange(size), values) for values in curves] == [None] * 300


def test_an_early_jump_is_tenfold_and_a_late_one_twofold() -> None:
    values = 1 + 0.1 * np.abs(noise(200))
    values[[30, 120]] = 20, 5
    early = require(first_jump(STEPS[:200], values))
    assert (early.step, early.before, round(early.limit, 1)) == (30, 30, round(10 * early.high, 1))
    values[30] = 8
    assert require(first_jump(STEPS[:200], values)).step == 120
    values[[5, 120]] = 1e6, 1
    assert first_jump(STEPS[:200], values) is None  # its first ten values show no noise


def test_a_rise_for_good_needs_five_values_and_none_that_comes_back() -> None:
    values = np.r_[2.0, 1.0, np.full(5, 1e3)]
    rise = require(rise_for_good(STEPS[:7], values))
    assert (rise.step, rise.high, rise.value, rise.before) == (2, 2.0, 1e3, 2)
    assert rise_for_good(STEPS[:6], values[:6]) is None
    assert rise_for_good(STEPS[:8], np.r_[values, 100.0]) is None
    assert rise_for_good(STEPS[:7], -values) is None


def test_placeholders_are_told_from_other_non_finite_values() -> None:
    nan = float("nan")
    assert non_finite(np.ones(5)) is None
    leading = require(non_finite(np.r_[nan, np.ones(5)]))
    assert (leading.leading, leading.first) == (1, None)
    half = require(non_finite(np.r_[nan, nan, nan, np.ones(3)]))
    assert (half.leading, half.first, half.last, half.lasts) == (0, 0, 2, False)
    between = np.where(np.arange(40) % 5 == 4, 1.0, nan)
    assert require(non_finite(between)).every == 5
    assert require(non_finite(np.r_[between, np.full(6, nan)])).every == 0
    lasting = require(non_finite(np.r_[nan, np.ones(30), nan, nan]))
    assert (lasting.leading, lasting.first, lasting.count, lasting.lasts) == (1, 31, 2, True)
    assert require(non_finite(np.full(4, nan))).lasts


def test_values_that_stop_changing_are_counted() -> None:
    values = noise(100)
    assert constant_end(np.r_[values, np.full(60, 0.5)]) == 60
    assert constant_end(np.r_[values, np.full(49, 0.5)]) == 0
    assert constant_end(np.r_[values, np.zeros(60)]) == 0
    assert constant_end(np.r_[values, np.full(60, np.nan)]) == 0
    assert constant_end(np.r_[values[:9], np.full(60, 0.5)]) == 0  # too few that change
    assert constant_end(np.r_[np.repeat(values, 7), np.full(60, 0.5)]) == 0
    assert constant_end(values) == constant_end(values[:0]) == 0


def test_zeros_at_the_end_are_counted_after_other_values() -> None:
    values = np.linspace(1.0, 2.0, 20)
    assert zero_end(np.r_[values, np.zeros(60)]) == 60
    assert zero_end(np.r_[values, np.zeros(49)]) == 0
    assert zero_end(np.r_[values[:9], np.zeros(60)]) == 0
    assert zero_end(np.r_[values, np.zeros(60), 1.0]) == 0
    assert zero_end(np.zeros(0)) == zero_end(np.r_[values, np.full(60, np.nan)]) == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_point_of_a_shift_is_the_first_of_the_high_values(seed: int) -> None:
    """Early noise that is larger in numbers than the rise is passed over."""
    rng = np.random.default_rng(seed)
    curve = np.exp(-np.arange(600) / 15.0) + 0.002 * np.where(np.arange(600) < 300, 1, 100)
    levels = require(levels_of(np.arange(600), curve * np.exp(0.3 * rng.standard_normal(600))))
    shift = require(shift_to_end(levels, require(rise_above_lowest(levels))))
    assert abs(shift.row - 300) <= 1
    assert shift.before < 0.01 < shift.after


def test_a_slow_rise_has_no_point() -> None:
    levels = require(levels_of(np.arange(200), np.r_[np.full(100, 1.0), np.linspace(1, 9, 100)]))
    assert shift_to_end(levels, require(rise_above_lowest(levels))) is None


def test_a_curve_that_fell_at_once_is_not_flat() -> None:
    """The first level hides a fall within its first values."""
    noise = 0.002 * np.random.default_rng(6).standard_normal(2000)
    flat = np.full(2000, 0.7) + noise
    assert is_level(require(levels_of(np.arange(2000), flat)))
    fallen = flat + 0.7 * np.exp(-np.arange(2000) / 15.0)
    assert not is_level(require(levels_of(np.arange(2000), fallen)))
