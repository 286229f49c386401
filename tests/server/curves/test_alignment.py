"""Alignment of two curves that should agree: the last agreeing step and the onset of the divergence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.server.curves.alignment import (
    Alignment,
    Growth,
    align,
    find_change,
    find_divergence,
    relative_to_nearby,
)
from mindinsight.server.types import Doubles
from tests.narrowing import require

STEPS = np.arange(600)
BASE = 0.2 + 3 * np.exp(-STEPS / 150)


def aligned(relative: Doubles, tolerance: float = 1e-3) -> Alignment:
    return align(STEPS, BASE * (1 + relative), STEPS, BASE, tolerance)


def test_equal_curves_are_identical_and_nearly_equal_ones_agree() -> None:
    assert aligned(np.zeros(600)).verdict == "identical"
    near = aligned(np.full(600, 1e-5))
    assert (near.verdict, near.agrees_to, near.beyond) == ("agrees", 599, None)
    assert near.largest == pytest.approx(1e-5)


def test_a_drift_begins_before_it_is_beyond_the_tolerance() -> None:
    noise = 1e-4 * np.random.default_rng(0).standard_normal(600)
    slow = aligned(2e-5 * np.maximum(STEPS - 300, 0) + noise)
    assert slow.verdict == "drifts"
    assert slow.onset is not None
    assert abs(slow.onset - 300) <= 25
    assert slow.agrees_to is not None
    assert slow.onset < slow.agrees_to
    assert slow.beyond == slow.agrees_to + 1
    assert 330 <= slow.beyond <= 360


def test_an_onset_a_few_steps_before_the_tolerance_is_that_step() -> None:
    """An onset is known no nearer, and a sentence, a column and a headline name one step."""
    drift = 1e-4 * np.maximum(STEPS - 300, 0) + 1e-4 * np.random.default_rng(0).standard_normal(600)
    result = aligned(drift)
    assert result.onset == result.beyond == require(result.agrees_to) + 1
    assert 305 <= result.onset <= 320


def test_a_constant_difference_is_a_factor_and_a_wide_noise_is_noise() -> None:
    scaled = aligned(np.full(600, 0.01))
    assert (scaled.verdict, scaled.factor, scaled.onset) == ("scaled", pytest.approx(1.01), None)
    assert aligned(0.01 + 0.002 * np.random.default_rng(3).standard_normal(600)).verdict == "apart"
    assert aligned(np.full(600, -1.0)).verdict == "apart"
    spikes = np.where(STEPS % 97 == 5, 0.01, 0.0)
    assert aligned(spikes).verdict == "noise"


def test_what_is_finite_in_one_curve_only_is_named_with_its_step() -> None:
    broken = BASE.copy()
    broken[400] = np.nan
    result = align(STEPS, broken, STEPS, BASE, 1e-3)
    assert (result.verdict, result.beyond, result.agrees_to, result.broken) == ("not_finite", 400, 399, 400)
    assert result.onset is None  # it passes
    assert align(STEPS, broken, STEPS, broken, 1e-3).verdict == "identical"
    broken[400:] = np.nan
    assert align(STEPS, broken, STEPS, BASE, 1e-3).onset == 400


def test_curves_are_compared_at_the_steps_both_have() -> None:
    assert align(STEPS[::2], BASE[::2], STEPS[1::2], BASE[1::2], 1e-3).verdict == "no_steps"
    result = align(STEPS[::3], BASE[::3], STEPS, BASE, 1e-3)
    assert (result.verdict, result.shared) == ("identical", 200)


def test_a_baseline_that_crosses_zero_is_no_divergence() -> None:
    wave = np.sin(STEPS / 20 + 0.01)
    result = align(STEPS, wave + 1e-5, STEPS, wave, 1e-3)
    near = int((np.abs(wave) < 1e-2).sum())
    assert (result.verdict, result.onset, result.over, result.absolute) == ("noise", None, near, False)


@pytest.mark.parametrize("factor", [1.0015, 1.5, 0.5])
def test_a_difference_is_a_share_of_the_baseline_at_its_step(factor: float) -> None:
    noisy = BASE + 0.02 * np.random.default_rng(4).standard_normal(600)
    step = int(np.argmin(noisy))  # farther from its neighbours than its own size is
    result = align(STEPS, np.where(step == STEPS, factor * noisy, noisy), STEPS, noisy, 1e-3)
    assert result.largest == pytest.approx(abs(factor - 1))
    assert (result.beyond, result.over) == (step, 1)


def test_nothing_begins_while_two_curves_are_equal() -> None:
    for seed in range(20):
        walk = np.cumsum(0.01 * np.random.default_rng(seed).standard_normal(600)) * (STEPS >= 30)
        result = align(STEPS, BASE * np.exp(walk), STEPS, BASE, 1e-3)
        assert (result.verdict, result.onset, result.beyond, result.noise) == ("drifts", 30, 30, 0)


@settings(max_examples=25, deadline=None)
@given(onset=st.floats(0.15, 0.8), size=st.floats(5, 50), seed=st.integers(0, 1000))
def test_a_step_of_several_noise_levels_is_found_where_it_is(onset: float, size: float, seed: int) -> None:
    begin = int(onset * len(STEPS))
    noise = np.random.default_rng(seed).standard_normal(len(STEPS))
    result = aligned(1e-3 * (noise + size * (begin <= STEPS)))
    assert result.verdict == "drifts"
    assert result.onset is not None
    assert abs(result.onset - begin) <= 0.02 * len(STEPS)


@settings(max_examples=25, deadline=None)
@given(values=st.lists(st.floats(width=64), min_size=1, max_size=40), seed=st.integers(0, 9))
def test_any_values_have_a_verdict(values: list[float], seed: int) -> None:
    steps = np.arange(len(values))
    other = np.random.default_rng(seed).permutation(values)
    result = align(steps, np.array(values), steps, other, 1e-3)
    assert result.shared == len(values)
    assert result.largest is None or np.isfinite(result.largest)


def test_differences_of_the_largest_numbers_are_finite() -> None:
    large = np.array([1.7e308, -1.7e308, 0.0])
    assert np.isfinite(relative_to_nearby(large, -large)).all()
    assert relative_to_nearby(np.zeros(0), np.zeros(0)).shape == (0,)


def test_few_steps_and_the_last_step_are_no_noise() -> None:
    assert align(STEPS[:3], np.array([3.0, 3, 4]), STEPS[:3], np.full(3, 3.0), 1e-3).verdict == "differs"
    assert aligned(np.where(STEPS % 100 == 99, 0.01, 0.0)).verdict == "differs"


def test_without_a_finite_pair_no_difference_is_usual_or_largest() -> None:
    result = align(STEPS, np.full(600, np.nan), STEPS, BASE, 1e-3)
    assert (result.verdict, result.largest, result.noise) == ("not_finite", None, None)


def test_one_point_at_the_end_is_no_divergence_and_a_difference_that_ended_is_none() -> None:
    last = aligned(np.where(STEPS == 599, 0.5, 0.0))
    assert (last.verdict, last.onset) == ("differs", None)
    ended = aligned(np.where((STEPS >= 200) & (STEPS < 250), 0.3, 0.0))
    assert (ended.verdict, ended.onset, ended.beyond, ended.last_beyond) == ("returns", None, 200, 249)
    assert aligned(np.where(STEPS >= 550, 0.3, 0.0)).onset == 550


def test_a_difference_that_grows_from_the_first_step_on_is_said_to_grow() -> None:
    chance = np.random.default_rng(2)
    high = 1.7 + 0.6 * np.exp(-STEPS / 150)
    low = 0.2 + 2.1 * np.exp(-STEPS / 150)
    curves = [curve + 0.02 * chance.standard_normal(600) for curve in (high, low)]
    result = align(STEPS, curves[0], STEPS, curves[1], 1e-3)
    assert (result.verdict, result.beyond) == ("grows", 0)
    assert result.onset is not None
    assert result.onset <= 12
    shares = np.abs(curves[0] / curves[1] - 1)
    growth = require(result.growth)
    assert growth == Growth(0, 74, growth.early, 525, 599, growth.late)
    assert growth.early == pytest.approx(np.median(shares[:75]))
    assert growth.late == pytest.approx(np.median(shares[525:]))
    assert result.typical == pytest.approx(np.median(shares))
    same = align(STEPS, curves[1], STEPS, low + 0.02 * chance.standard_normal(600), 1e-3)
    assert (same.verdict, same.growth) == ("apart", None)  # of a falling loss noise is a growing share


def test_few_steps_before_a_change_do_not_say_what_was_usual() -> None:
    noise = 0.01 * np.random.default_rng(1).standard_normal(600)
    result = aligned(noise + np.where(STEPS >= 3, 0.4, 0.2))
    assert (result.verdict, result.onset) == ("apart", None)
    assert aligned(noise + np.where(STEPS >= 60, 0.4, 0.2)).onset == pytest.approx(60, abs=3)


def test_the_typical_difference_is_of_all_finite_steps() -> None:
    step = aligned(np.where(STEPS >= 200, 0.3, 0.0))
    assert (step.onset, step.noise, step.typical) == (200, 0, pytest.approx(0.3))
    broken = np.where(STEPS == 100, np.nan, BASE * np.where(STEPS >= 50, 1.3, 1))
    result = align(STEPS, broken, STEPS, BASE, 1e-3)
    assert (result.verdict, result.onset, result.broken) == ("not_finite", 50, 100)
    assert result.typical == pytest.approx(0.3)


LENGTH = 400


def noise(seed: int) -> Doubles:
    return np.random.default_rng(seed).standard_normal(LENGTH)


def since(onset: int) -> Doubles:
    return np.maximum(np.arange(LENGTH) - onset, 0).astype(np.float64)


def test_noise_alone_is_no_change() -> None:
    assert [find_change(noise(seed), 1e-6) for seed in range(40)] == [None] * 40


@pytest.mark.parametrize("onset", [50, 200, 320])
@pytest.mark.parametrize(
    ("size", "power"), [(4.0, 0.0), (0.2, 1.0), (0.01, 2.0)], ids=["step", "ramp", "bend"]
)
def test_the_onset_is_found_to_a_few_percent(onset: int, size: float, power: float) -> None:
    errors = []
    for seed in range(5):
        course = np.where(since(onset) > 0, size * since(onset) ** power, 0.0)
        change = find_change(course + noise(seed), 1e-6)
        assert change is not None
        errors.append(abs(change.onset - onset))
    assert np.median(errors) <= 0.03 * LENGTH


def test_an_episode_is_a_change() -> None:
    course = noise(1)
    course[100:140] += 6
    change = find_change(course, 1e-6)
    assert change is not None
    assert abs(change.onset - 100) <= 4


def test_what_stays_below_the_floor_is_none() -> None:
    assert find_change(1e-9 * since(100), 1e-3) is None


def test_few_rows_and_constants_say_nothing() -> None:
    assert find_change(np.arange(15.0), 1e-6) is None
    assert find_change(np.full(LENGTH, 3.0), 1e-6) is None


def test_a_difference_that_becomes_larger_to_both_sides_departs() -> None:
    noise = np.random.default_rng(0).standard_normal(LENGTH)
    noise[240:] *= 10
    change = find_divergence(noise * 1e-4, 1e-6)
    assert change is not None
    assert abs(change.onset - 240) <= 8


def test_two_curves_that_come_together_do_not_part() -> None:
    noise = 1e-4 * np.random.default_rng(0).standard_normal(LENGTH)
    falling = np.where(np.arange(LENGTH) < 200, 0.01, 0.0)
    assert find_divergence(falling + noise, 1e-6) is None
    change = find_divergence(falling[::-1] + noise, 1e-6)
    assert change is not None
    assert abs(change.onset - 200) <= 2


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    gap=st.floats(-0.4, 0.4),
    growth=st.floats(-0.5, 0.5),
    onset=st.floats(0.0, 0.9),
)
def test_a_verdict_does_not_depend_on_which_curve_is_the_baseline(
    seed: int, gap: float, growth: float, onset: float
) -> None:
    noise = 0.04 * np.random.default_rng(seed).standard_normal((2, len(STEPS)))
    grown = growth * np.maximum(STEPS / len(STEPS) - onset, 0)
    run, base = BASE * np.exp(noise[0] + gap + grown), BASE * np.exp(noise[1])
    here, there = (align(STEPS, *pair, 1e-6) for pair in ((run, STEPS, base), (base, STEPS, run)))
    assert (here.verdict, here.onset, here.broken_in) == (there.verdict, there.onset, there.broken_in)


def test_a_gap_that_grows_is_found_from_both_sides() -> None:
    noise = 0.04 * np.random.default_rng(0).standard_normal((2, len(STEPS)))
    run, base = BASE * np.exp(noise[0]), BASE * np.exp(noise[1] + 0.15 + 0.15 * (STEPS > 200))
    for pair in ((run, STEPS, base), (base, STEPS, run)):
        result = align(STEPS, *pair, 1e-3)
        assert result.verdict == "drifts"
        assert abs((result.onset or 0) - 200) < 30
