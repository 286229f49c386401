"""Rises of few values, of epochs, and by little. Sentences about them are in tests/claims/situations."""

import numpy as np
import pytest

from mindinsight.server.curves.signs.validation_rises import rise_of_epochs, rise_of_few, steady_rise
from tests.narrowing import require
from tests.server.curves.test_levels import noise

EPOCHS = np.arange(15)


def test_a_rise_of_few_values_is_found() -> None:
    values = 0.5 + np.exp(-EPOCHS / 2) + np.maximum(0, EPOCHS - 5) * 0.06 + 0.02 * noise(15)
    change = require(rise_of_few(EPOCHS, values))
    assert change.factor > 1.5
    assert 3 <= change.step <= 7
    assert rise_of_few(EPOCHS[:11], values[:11]) is None  # too few
    assert rise_of_few(EPOCHS, values[::-1]) is None
    assert rise_of_few(EPOCHS, -values) is None


@pytest.mark.parametrize("deviation", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("size", [12, 15, 19])
def test_few_values_of_noise_seldom_rise(size: int, deviation: float) -> None:
    steps = np.arange(size)
    curves = [np.exp(deviation * noise(size, seed)) for seed in range(500)]
    assert sum(rise_of_few(steps, values) is not None for values in curves) <= 3


def test_a_rise_of_epochs_has_no_fall_between() -> None:
    values = np.array([1.4, 1.2, 1.1, 1.3, 1.6, 1.9, 2.2, 2.6])
    change = require(rise_of_epochs(EPOCHS[:8], values))
    assert (change.extreme, change.step, change.end) == (1.1, 2, 2.6)
    assert rise_of_epochs(EPOCHS[:6], values[:6]) is None  # three values after the lowest
    assert rise_of_epochs(EPOCHS[:8], values[[0, 1, 2, 3, 5, 4, 6, 7]]) is None
    assert rise_of_epochs(EPOCHS[:8], np.minimum(values, 1.6)) is None  # it does not rise on


@pytest.mark.parametrize("deviation", [0.2, 0.5])
def test_epochs_of_noise_seldom_rise(deviation: float) -> None:
    curves = [np.exp(deviation * noise(8, seed)) for seed in range(1000)]
    assert sum(rise_of_epochs(EPOCHS[:8], values) is not None for values in curves) <= 12


def test_a_steady_rise_is_found_below_half_of_the_level() -> None:
    steps = np.arange(15)
    values = 0.5 + np.exp(-steps) + np.maximum(0, steps - 5) * 0.012
    change = require(steady_rise(steps, values))
    assert change.step in range(4, 8)
    assert 1.1 < change.factor < 1.3
    assert steady_rise(steps[:11], values[:11]) is None  # too few
    assert steady_rise(steps, values[::-1]) is None
    assert steady_rise(steps, -values) is None
    short = 0.5 + np.exp(-steps) + np.maximum(0, steps - 10) * 0.05  # four values after the lowest one
    assert steady_rise(steps, short) is None
    dip = values.copy()
    dip[10:13] = dip[12:9:-1]  # three pairs of nine values descend
    assert steady_rise(steps, dip) is not None
    dip[6:13] = dip[12:5:-1]
    assert steady_rise(steps, dip) is None


def test_noise_around_a_level_rises_steadily_in_fewer_than_one_of_300_curves() -> None:
    generator = np.random.default_rng(3)
    for count in (12, 19, 60):
        curves = np.exp(0.3 * generator.standard_normal((1000, count)))
        assert sum(steady_rise(np.arange(count), values) is not None for values in curves) <= 3
