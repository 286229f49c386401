"""Rises at both ends of a curve, and slower steps. Sentences about them are in tests/claims/situations."""

import numpy as np
import pytest

from mindinsight.server.curves.levels import levels_of
from mindinsight.server.curves.signs.rises import early_rise, escape, late_rise, slowdown

STEPS = np.arange(2000, dtype=np.int64)


def loss(seed: int = 0, noise: float = 0.05) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal(len(STEPS))
    return (0.3 + 2 * np.exp(-STEPS / 300)) * np.exp(noise * drawn)


@pytest.mark.parametrize("share", [0.01, 0.02, 0.05, 0.1, 0.18])
def test_a_rise_within_the_last_fifth_is_dated(share: float) -> None:
    values, begin = loss(), round(len(STEPS) * (1 - share))
    values[begin:] *= np.exp(np.linspace(0, 4, len(STEPS) - begin))
    rise = late_rise(STEPS, values)
    assert rise is not None
    assert begin <= rise.step <= begin + share * len(STEPS) / 2
    assert rise.end > 3 * rise.high


@pytest.mark.parametrize("seed", range(40))
def test_heavy_noise_and_a_mild_rise_are_none(seed: int) -> None:
    heavy = np.random.default_rng(seed).pareto(2.0, len(STEPS)) + 1
    assert late_rise(STEPS, heavy) is None
    values = loss(seed, 0.2)
    values[1900:] *= np.linspace(1, 2, 100)
    assert late_rise(STEPS, values) is None


def test_a_begin_that_explodes_and_ends_high_is_told_from_one_that_falls() -> None:
    values = loss()
    values[:8] = 2.3, 900, 1e6, 1e5, 1e4, 4000, 2000, 1000
    early = levels_of(STEPS, values)
    assert early is not None and early_rise(early) is None  # it comes back below its first value
    high = levels_of(STEPS, np.where(STEPS > 7, values + 20, values))
    assert high is not None
    rise = early_rise(high)
    assert rise is not None and (rise.begin, rise.peak, rise.step) == (2.3, 1e6, 2)


def test_only_a_loss_without_a_bound_escapes() -> None:
    noise = 0.05 * np.random.default_rng(1).standard_normal(len(STEPS))
    runs_away, density = -np.exp(STEPS / 150) + noise, 3 - 90 * (1 - np.exp(-STEPS / 500)) + noise
    assert (escape(levels_of(STEPS, runs_away)) or 0) < -1e4  # type: ignore[arg-type]
    assert escape(levels_of(STEPS, density)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("factor", [1.6, 2.5, 10.0])
def test_slower_steps_are_dated(factor: float) -> None:
    seconds = 0.1 * np.exp(0.1 * np.random.default_rng(2).standard_normal(len(STEPS)))
    seconds[1200:] *= factor
    slow = slowdown(STEPS, seconds)
    assert slow is not None
    assert abs(slow.step - 1200) <= 5
    assert slow.after / slow.before == pytest.approx(factor, rel=0.05)


def test_checkpoints_and_a_third_more_are_no_slowdown() -> None:
    seconds = 0.1 * np.exp(0.1 * np.random.default_rng(3).standard_normal(len(STEPS)))
    assert slowdown(STEPS, np.where(STEPS % 50 == 49, 20, 1) * seconds) is None
    assert slowdown(STEPS, np.where(STEPS > 900, 1.3, 1) * seconds) is None
    assert slowdown(STEPS, np.where((STEPS > 900) & (STEPS < 1300), 3, 1) * seconds) is None
