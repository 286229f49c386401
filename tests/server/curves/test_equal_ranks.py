"""Ranks that diverge from equal ones. `tests/claims/situations/scalar.py` has what pages say of them."""

import numpy as np
import pytest

from mindinsight.server.curves.bands import cells
from mindinsight.server.curves.equal_ranks import diverged_from_equal
from mindinsight.server.curves.overflow_safe import unit_of
from mindinsight.server.curves.rank_anomaly import RankOutlier
from mindinsight.server.curves.rank_outliers import find_outliers

STEPS = np.arange(100)
CHANCE = np.random.default_rng(0)
LOSS = 2 * np.exp(-STEPS / 30) + 0.1 + 0.02 * CHANCE.standard_normal(100)


def mean_of(curves: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return [r, c] the curves on a grid, with magnitudes of at most 2."""
    mean = cells(curves, 1000).mean
    return mean / unit_of(mean)


def beside_equal(odd: np.ndarray, ranks: int = 8, base: np.ndarray = LOSS) -> list[RankOutlier]:
    """Return the anomalies among ``ranks`` curves, of which the third is ``odd``."""
    curves = [(STEPS, odd if rank == 2 else base) for rank in range(ranks)]
    anomalies = diverged_from_equal(curves, mean_of(curves))
    assert [anomaly.row for anomaly in find_outliers(curves)] == [anomaly.row for anomaly in anomalies]
    return anomalies


def late(odd: np.ndarray) -> np.ndarray:
    return np.where(STEPS >= 40, odd, LOSS)


@pytest.mark.parametrize("ranks", [3, 4, 8])
@pytest.mark.parametrize("factor", [0.0, 0.9, 1.001, 1.1, 3.0, 100.0, 1e300, -1.0])
def test_a_rank_of_another_factor_is_the_odd_one_since_its_first_step(ranks: int, factor: float) -> None:
    (anomaly,) = beside_equal(late(LOSS * factor), ranks)
    assert (anomaly.row, anomaly.kind, anomaly.step, anomaly.last_step) == (2, "lasting", 40, None)
    assert anomaly.relative == pytest.approx(factor - 1)


def test_growth_from_a_constant_is_told_with_its_size_at_the_end() -> None:
    grown = 3.0 + 0.5 * np.maximum(STEPS - 20.0, 0)
    (anomaly,) = beside_equal(grown, base=np.full(100, 3.0))
    assert (anomaly.row, anomaly.step) == (2, 21)
    assert anomaly.end == pytest.approx(np.median(grown[84:]) / 3 - 1, abs=0.1)


def test_a_frozen_rank_and_one_of_its_own_noise_differ() -> None:
    (frozen,) = beside_equal(late(np.full(100, LOSS[40])))
    assert (frozen.step, frozen.last_step) == (41, None)
    (noisy,) = beside_equal(LOSS + 0.02 * np.random.default_rng(1).standard_normal(100))
    assert (noisy.step, noisy.both_sides) == (0, True)
    assert noisy.relative is not None
    assert noisy.relative > 0.01


def test_a_rank_that_came_back_ends_and_may_leave_again() -> None:
    early = np.where(STEPS < 20, 1.05, 1.0)
    (anomaly,) = beside_equal(LOSS * early)
    assert (anomaly.step, anomaly.last_step) == (0, 19)
    twice = beside_equal_twice()
    assert [(anomaly.step, anomaly.last_step) for anomaly in twice] == [(10, 19), (80, None)]


def beside_equal_twice() -> list[RankOutlier]:
    odd = LOSS * np.where(((STEPS >= 10) & (STEPS < 20)) | (STEPS >= 80), 1.05, 1.0)
    curves = [(STEPS, odd if rank == 1 else LOSS) for rank in range(4)]
    return find_outliers(curves)


def test_single_steps_are_spikes_unless_they_are_as_small_as_rounding() -> None:
    (spike,) = beside_equal(LOSS * np.where(STEPS == 50, 1.05, 1.0))
    assert (spike.kind, spike.step, spike.count) == ("spikes", 50, 1)
    assert spike.relative == pytest.approx(0.05)
    (spikes,) = beside_equal(LOSS * np.where(STEPS % 10 == 5, 1.05, 1.0))
    assert (spikes.count, spikes.period) == (10, 10)
    assert beside_equal(LOSS * np.where(STEPS == 50, 1.008, 1.0)) == []


def test_a_count_that_differs_at_single_steps_is_none() -> None:
    assert beside_equal(np.where(STEPS % 30 == 7, 95.0, 100.0), base=np.full(100, 100.0)) == []


@pytest.mark.parametrize("noise", [0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3, 1e-1])
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_noise_of_all_ranks_is_none(noise: float, ranks: int) -> None:
    for seed in range(5):
        factors = 1 + noise * np.random.default_rng(seed).standard_normal((ranks, 100))
        curves = [(STEPS, LOSS * row) for row in factors]
        assert diverged_from_equal(curves, mean_of(curves)) == []
        assert find_outliers(curves) == []


def test_two_groups_have_no_odd_one() -> None:
    curves = [(STEPS, LOSS * (1 + 0.2 * (rank % 2))) for rank in range(8)]
    assert find_outliers(curves) == []
    few = [(STEPS, LOSS * (1.5 if rank in (3, 11) else 1.0)) for rank in range(16)]
    assert [anomaly.row for anomaly in find_outliers(few)] == [3, 11]


def test_only_values_of_the_same_step_are_compared() -> None:
    dropped = STEPS % 7 != 3
    curves = [(STEPS[dropped], LOSS[dropped]) if rank == 1 else (STEPS, LOSS) for rank in range(4)]
    assert find_outliers(curves) == []
    turns = [(10 * STEPS + rank, LOSS) for rank in range(4)]
    assert diverged_from_equal(turns, np.tile(LOSS, (4, 1))) == []


def test_steps_within_a_column_of_the_grid_are_named() -> None:
    steps = np.arange(100_000)
    course = 2 + np.cos(steps / 100)
    odd = course * np.where(steps >= 77_777, 1.001, 1.0)
    curves = [(steps, odd if rank == 1 else course) for rank in range(30)]
    (anomaly,) = find_outliers(curves)
    assert (anomaly.row, anomaly.step) == (1, 77_777)


def test_two_curves_that_were_equal_are_a_pair_from_the_first_difference() -> None:
    curves = [(STEPS, LOSS), (STEPS, late(LOSS * 1.02))]
    (anomaly,) = diverged_from_equal(curves, np.stack([LOSS, LOSS]))
    assert (anomaly.row, anomaly.other, anomaly.step, anomaly.last_step) == (0, 1, 40, None)
    plateau = [np.where(STEPS < 40, 0.0, np.random.default_rng(rank).random(100)) for rank in range(2)]
    assert diverged_from_equal([(STEPS, values) for values in plateau], np.stack(plateau)) == []


def test_the_largest_numbers_do_not_overflow() -> None:
    with np.errstate(all="raise", under="ignore"):
        (anomaly,) = beside_equal(np.full(100, -1.7e308), base=np.full(100, 1.7e308))
    assert anomaly.relative == pytest.approx(-2)
