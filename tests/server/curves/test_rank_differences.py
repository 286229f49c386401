"""Differences of curves from their median: units, lasting stretches, spikes, and two mirrored ranks."""

import numpy as np
import pytest

from mindinsight.server.curves.rank_differences import Differences

STEPS = np.arange(10, 3010, 10)  # a point every ten steps


def healthy(ranks: int, seed: int = 0) -> np.ndarray:
    return 1.0 + 0.03 * np.random.default_rng(seed).standard_normal((ranks, len(STEPS)))


def test_differences_are_counted_in_units_of_their_usual_change() -> None:
    values = healthy(8)
    values[3, 7] = np.nan
    differences = Differences(STEPS, values)
    np.testing.assert_allclose(differences.raw, values - np.nanmedian(values, axis=0))
    np.testing.assert_allclose(differences.scaled * differences.unit, differences.raw)
    assert np.isnan(differences.scaled[3, 7])
    assert 0.5 < np.nanstd(differences.scaled) < 2


@pytest.mark.parametrize("ranks", [2, 3, 8, 32])
def test_healthy_curves_have_neither_stretches_nor_spikes(ranks: int) -> None:
    differences = Differences(STEPS, healthy(ranks))
    assert differences.lasting() == []
    assert differences.spikes([]) == []


@pytest.mark.parametrize("ranks", [3, 8, 32])
def test_a_stretch_has_its_begin_its_end_and_its_share(ranks: int) -> None:
    values = healthy(ranks)
    values[1, 100:200] *= 1.5
    ((surely, stray),) = Differences(STEPS, values).lasting()
    assert surely > 1
    assert (stray.row, stray.kind) == (1, "lasting")
    assert abs(stray.step - STEPS[100]) <= 30
    assert stray.last_step is not None
    assert abs(stray.last_step - STEPS[199]) <= 130  # blocks of twelve or thirteen points
    assert stray.relative == pytest.approx(0.5, abs=0.05)


def test_a_stretch_that_goes_on_has_no_end() -> None:
    values = healthy(8)
    values[6, 150:] *= 0.7
    ((_, stray),) = Differences(STEPS, values).lasting()
    assert (stray.row, stray.last_step) == (6, None)
    assert stray.relative == pytest.approx(-0.3, abs=0.05)


@pytest.mark.parametrize("row", [0, 1])
def test_of_two_curves_the_one_that_left_its_course_is_named(row: int) -> None:
    values = healthy(2)
    values[row, 150:] *= 0.6
    ((_, stray),) = Differences(STEPS, values).lasting()
    assert stray.row == row
    values = healthy(2)
    values[row, 60] = 9.0
    ((_, stray),) = Differences(STEPS, values).spikes([])
    assert (stray.row, stray.step) == (row, STEPS[60])


def test_regular_spikes_have_a_period_and_a_count() -> None:
    values = healthy(8)
    values[5, 20::50] = 6.0
    ((_, stray),) = Differences(STEPS, values).spikes([])
    assert (stray.row, stray.kind, stray.step) == (5, "spikes", STEPS[20])
    assert (stray.count, stray.period) == (6, 500)
    assert stray.relative == pytest.approx(5.0, abs=0.3)


def test_spikes_at_odd_steps_have_no_period() -> None:
    values = healthy(8)
    values[5, [20, 31, 150, 260]] = 6.0
    ((_, stray),) = Differences(STEPS, values).spikes([])
    assert (stray.count, stray.period) == (4, None)


def test_a_lasting_difference_is_taken_off_before_spikes_are_looked_for() -> None:
    values = healthy(8)
    values[2, 100:] *= 4.0
    differences = Differences(STEPS, values)
    lasting = [stray for _, stray in differences.lasting()]
    assert [stray.row for stray in lasting] == [2]
    assert differences.spikes(lasting) == []
    assert [stray.row for _, stray in differences.spikes([])] == [2]
