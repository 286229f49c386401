"""Outlier ranks in simulated jobs of 2 to 1 000 ranks. `benchmarks/ranks.py` has more of them."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves.bands import row_medians, rows_without_common_steps, spread_of
from mindinsight.server.curves.rank_outliers import (
    Differences,
    cumulated,
    expected_largest,
    find_outliers,
    inflation,
    median,
    usual_change,
)

RANK_DIFFERENCES_STEPS = np.arange(10, 3010, 10)  # a point every ten steps


def healthy(ranks: int, seed: int = 0) -> np.ndarray:
    return 1.0 + 0.03 * np.random.default_rng(seed).standard_normal((ranks, len(RANK_DIFFERENCES_STEPS)))


def test_differences_are_counted_in_units_of_their_usual_change() -> None:
    values = healthy(8)
    values[3, 7] = np.nan
    differences = Differences(RANK_DIFFERENCES_STEPS, values)
    np.testing.assert_allclose(differences.raw, values - np.nanmedian(values, axis=0))
    np.testing.assert_allclose(differences.scaled * differences.unit, differences.raw)
    assert np.isnan(differences.scaled[3, 7])
    assert 0.5 < np.nanstd(differences.scaled) < 2


@pytest.mark.parametrize("ranks", [2, 3, 8, 32])
def test_healthy_curves_have_neither_stretches_nor_spikes(ranks: int) -> None:
    differences = Differences(RANK_DIFFERENCES_STEPS, healthy(ranks))
    assert differences.lasting() == []
    assert differences.spikes([]) == []


@pytest.mark.parametrize("ranks", [3, 8, 32])
def test_a_stretch_has_its_begin_its_end_and_its_share(ranks: int) -> None:
    values = healthy(ranks)
    values[1, 100:200] *= 1.5
    ((surely, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).lasting()
    assert surely > 1
    assert (stray.row, stray.kind) == (1, "lasting")
    assert abs(stray.step - RANK_DIFFERENCES_STEPS[100]) <= 30
    assert stray.last_step is not None
    assert abs(stray.last_step - RANK_DIFFERENCES_STEPS[199]) <= 130  # blocks of twelve or thirteen points
    assert stray.relative == pytest.approx(0.5, abs=0.05)


def test_a_factor_is_told_as_it_is_of_a_falling_curve() -> None:
    loss = 0.4 + 3 * np.exp(-np.arange(300) / 50)
    values = loss * (1 + 0.01 * np.random.default_rng(1).standard_normal((6, 300)))
    values[4] *= 2.5
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).lasting()
    assert stray.relative == pytest.approx(1.5, abs=0.02)


def test_a_short_stretch_ends_where_it_was_planted() -> None:
    values = healthy(8)
    values[2, 130:136] *= 15
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).lasting()
    assert (stray.step, stray.last_step) == (RANK_DIFFERENCES_STEPS[130], RANK_DIFFERENCES_STEPS[135])


def test_two_curves_that_cross_differ_to_the_end() -> None:
    values = healthy(2)
    values[0] *= np.linspace(2, 0.5, 300)
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).lasting()
    assert stray.last_step is None


def test_levels_without_a_majority_are_told() -> None:
    def curves(values: np.ndarray) -> list[Any]:
        return [(RANK_DIFFERENCES_STEPS, row) for row in values]

    assert spread_of(curves(healthy(6))) is None
    halves = healthy(6)
    halves[[1, 2, 5], 150:] *= 1.4
    spread = spread_of(curves(halves))
    assert spread is not None
    assert (set(spread.order[:3]), spread.low) == ({0, 3, 4}, 3)
    assert spread.share == pytest.approx(0.4, abs=0.03)
    steps = spread_of(curves(healthy(5) * (1 + 0.1 * np.arange(5))[:, None]))
    assert steps is not None
    assert (steps.order, steps.low, round(steps.share, 1)) == ((0, 1, 2, 3, 4), 0, 0.4)
    halves[0] = np.nan
    assert spread_of(curves(halves)) is not None


def test_a_stretch_that_goes_on_has_no_end() -> None:
    values = healthy(8)
    values[6, 150:] *= 0.7
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).lasting()
    assert (stray.row, stray.last_step) == (6, None)
    assert stray.relative == pytest.approx(-0.3, abs=0.05)


@pytest.mark.parametrize("row", [0, 1])
def test_of_two_curves_neither_is_blamed_for_a_lasting_difference(row: int) -> None:
    values = healthy(2)
    values[row, 150:] *= 0.6
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).lasting()
    assert (stray.row, stray.other) == (0, 1)
    values = healthy(2)
    values[row, 60] = 9.0
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).spikes([])
    assert (stray.row, stray.step) == (row, RANK_DIFFERENCES_STEPS[60])


def test_regular_spikes_have_a_period_and_a_count() -> None:
    values = healthy(8)
    values[5, 20::50] = 6.0
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).spikes([])
    assert (stray.row, stray.kind, stray.step) == (5, "spikes", RANK_DIFFERENCES_STEPS[20])
    assert (stray.count, stray.period) == (6, 500)
    assert stray.relative == pytest.approx(5.0, abs=0.3)


def test_spikes_at_odd_steps_have_no_period() -> None:
    values = healthy(8)
    values[5, [20, 31, 150, 260]] = 6.0
    ((_, stray),) = Differences(RANK_DIFFERENCES_STEPS, values).spikes([])
    assert (stray.count, stray.period) == (4, None)


def test_a_lasting_difference_is_taken_off_before_spikes_are_looked_for() -> None:
    values = healthy(8)
    values[2, 100:] *= 4.0
    differences = Differences(RANK_DIFFERENCES_STEPS, values)
    lasting = [stray for _, stray in differences.lasting()]
    assert [stray.row for stray in lasting] == [2]
    assert differences.spikes(lasting) == []
    assert [stray.row for _, stray in differences.spikes([])] == [2]


STEPS = 300


def step_times(seed: Any, ranks: Any, noise: Any = 0.03) -> Any:
    """Return [ranks, STEPS] seconds: log-normal noise, common jitter, and a checkpoint every 100 steps."""
    generator = np.random.default_rng([seed, ranks])
    common = 0.25 * np.exp(0.02 * generator.standard_normal(STEPS))
    common[99::100] *= 4
    return common * np.exp(noise * generator.standard_normal((ranks, STEPS)))


def of(values: Any) -> Any:
    return find_outliers([(np.arange(STEPS), row.astype(np.float32)) for row in values])


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 16, 64, 1000])
def test_nobody_strays_in_a_healthy_job(ranks: int) -> None:
    for seed in range(20 if ranks < 100 else 3):
        assert of(step_times(seed, ranks)) == []


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 64])
def test_noise_that_shrinks_is_no_stray(ranks: int) -> None:
    course = 0.2 + 3 * np.exp(-np.arange(STEPS) / 80)
    for seed in range(10):
        noise = np.random.default_rng([seed, ranks]).standard_normal((ranks, STEPS))
        assert of(course * (1 + 0.05 * noise)) == []


@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 16, 64, 1000])
def test_a_rank_that_becomes_slower_is_named_with_step_and_share(ranks: int) -> None:
    for seed in range(10 if ranks < 100 else 2):
        values = step_times(seed, ranks)
        rank = seed % ranks
        values[rank, 200:] *= 1.26
        (stray,) = of(values)
        assert (stray.kind, stray.last_step) == ("lasting", None)
        assert abs(stray.step - 200) <= 3
        if ranks == 2:
            assert {stray.row, stray.other} == {0, 1}  # which of the two is wrong is unknown
        else:
            assert (stray.row, stray.other) == (rank, None)
            assert stray.relative == pytest.approx(0.26, abs=0.03)


@pytest.mark.parametrize("ranks", [2, 4, 16, 32])
def test_one_lasting_ramp_is_no_spike(ranks: int) -> None:
    steps = np.arange(STEPS)
    for seed in range(5):
        noise = 0.005 * np.random.default_rng([seed, ranks]).standard_normal((ranks, STEPS))
        values = 2 * np.exp(-steps / 80) + 0.5 + noise
        values[1, 200:] += np.minimum((steps[200:] - 200) * 0.02, 1)
        (stray,) = of(values)
        assert (stray.kind, stray.last_step) == ("lasting", None)


@pytest.mark.parametrize("ranks", [4, 16])
def test_a_spike_beside_a_ramp_is_one(ranks: int) -> None:
    values = step_times(3, ranks)
    values[1, 150:] *= 1 + 0.01 * np.minimum(np.arange(STEPS - 150), 100)
    values[1, 230] *= 6
    assert [(stray.row, stray.kind) for stray in of(values)] == [(1, "lasting"), (1, "spikes")]


@pytest.mark.parametrize("ranks", [2, 4, 8, 64])
def test_a_slow_drift_of_five_percent_is_found(ranks: int) -> None:
    hits = 0
    for seed in range(20):
        values = step_times(seed, ranks)
        values[1] *= 1 + 0.05 * np.clip((np.arange(STEPS) - 50) / 100, 0, 1)
        named = of(values)
        assert {stray.row for stray in named} <= ({0, 1} if ranks == 2 else {1})
        hits += bool(named)
    assert hits >= 19


def test_a_difference_that_ended_says_when() -> None:
    values = step_times(1, 8)
    values[5, 100:160] *= 1.5
    (stray,) = of(values)
    assert (stray.row, stray.kind) == (5, "lasting")
    assert abs(stray.step - 100) <= 3
    assert abs(stray.last_step - 160) <= 13


@pytest.mark.parametrize("ranks", [2, 4, 8, 64, 1000])
def test_regular_spikes_have_a_period(ranks: int) -> None:
    values = step_times(2, ranks)
    values[1, 10::50] *= 4
    (stray,) = of(values)
    assert (stray.row, stray.kind, stray.step, stray.count, stray.period) == (1, "spikes", 10, 6, 50)
    assert stray.relative == pytest.approx(3, abs=0.6)


@pytest.mark.parametrize("ranks", [2, 4, 64])
def test_one_spike_is_one(ranks: int) -> None:
    values = step_times(3, ranks)
    values[0, 140] *= 5
    (stray,) = of(values)
    assert (stray.row, stray.kind, stray.step, stray.count, stray.period) == (0, "spikes", 140, 1, None)


@pytest.mark.parametrize("ranks", [2, 4, 64])
def test_what_is_not_finite_on_one_rank_is_said_and_on_all_is_not(ranks: int) -> None:
    values = step_times(4, ranks)
    values[1, 120:123] = [np.nan, np.inf, np.nan]
    (stray,) = of(values)
    assert (stray.row, stray.kind, stray.step, stray.count) == (1, "not_finite", 120, 3)
    values[:, 120:123] = np.nan
    assert of(values) == []


@pytest.mark.parametrize("ranks", [2, 3, 64])
def test_a_rank_that_stopped_is_silent(ranks: int) -> None:
    curves = [(np.arange(STEPS), row) for row in step_times(5, ranks)]
    curves[1] = (np.arange(240), curves[1][1][:240])
    (stray,) = find_outliers(curves)
    assert (stray.row, stray.kind, stray.step) == (1, "silent", 239)


def test_ranks_that_are_a_few_steps_behind_are_not_silent() -> None:
    curves = [(np.arange(STEPS - rank), row[: STEPS - rank]) for rank, row in enumerate(step_times(6, 8))]
    assert find_outliers(curves) == []


def test_two_strays_of_four_are_both_named() -> None:
    values = step_times(7, 4)
    values[0, 150:] *= 2
    values[3, 30::50] *= 5
    assert {(stray.row, stray.kind) for stray in of(values)} == {(0, "lasting"), (3, "spikes")}


@pytest.mark.parametrize("levels", [(1, 1.5, 2), (1, 1.5, 5), (1, 2, 3, 4), (1, 1, 2, 3, 4)])
def test_where_the_others_do_not_agree_none_is_blamed(levels: tuple[float, ...]) -> None:
    values = step_times(5, len(levels)) * np.array(levels)[:, None]
    assert of(values) == []
    values[: len(levels) - 1] = step_times(5, len(levels))[:-1]  # the near miss: they agree
    assert [(stray.row, stray.kind) for stray in of(values)] == [(len(levels) - 1, "lasting")]


def test_each_of_three_is_named_while_the_others_agree() -> None:
    values = step_times(6, 3)
    for row in range(3):
        values[row, 100 * row : 100 * row + 50] *= 1.5
    assert [(stray.row, stray.step // 100) for stray in of(values)] == [(0, 0), (1, 1), (2, 2)]


def test_a_rank_is_compared_until_only_one_other_is_left() -> None:
    values = step_times(7, 3)
    values[1] *= 2
    values[2, 100:] = np.nan
    known = {stray.row: stray for stray in of(values) if stray.kind == "lasting"}
    assert list(known) == [1] and known[1].last_step is not None
    assert known[1].last_step <= 100


def test_equal_values_but_for_rounding_are_alike() -> None:
    values = np.sin(np.arange(STEPS) / 9) + 1e-7 * np.random.default_rng(0).standard_normal((8, STEPS))
    assert of(values) == []


@pytest.mark.parametrize("lengths", [[], [300], [300, 0], [1, 1], [3, 3, 3]])
def test_few_points_say_nothing(lengths: Any) -> None:
    assert find_outliers([(np.arange(length), np.ones(length)) for length in lengths]) == []


def test_ranks_that_record_at_other_steps_are_compared() -> None:
    generator = np.random.default_rng(8)
    curves = []
    for rank in range(6):
        steps = np.arange(rank, 3000, 10)
        values = 1 + 0.03 * generator.standard_normal(len(steps))
        curves.append((steps, np.where(steps > 2000, 2.0, 1.0) * values if rank == 2 else values))
    (stray,) = find_outliers(curves)
    assert (stray.row, stray.kind) == (2, "lasting")
    assert abs(stray.step - 2000) <= 40


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


def test_a_scalar_that_is_zero_on_most_ranks_is_judged() -> None:
    values = np.zeros((4, 1000))
    values[1, [40, 500]] = values[3, 700] = 1.0
    assert all(stray.relative is None for stray in find_outliers([(np.arange(1000), row) for row in values]))


@pytest.mark.parametrize("ranks", [3, 4, 5, 8])
def test_no_rank_of_equal_spacing_is_the_odd_one(ranks: int) -> None:
    assert of(np.arange(ranks)[:, None] * np.ones(STEPS)) == []


def test_rows_with_steps_of_their_own_are_those_of_which_half_are_nowhere_else() -> None:
    steps = np.arange(0, 1000, 10)
    assert rows_without_common_steps([steps, steps[:50], steps[20:], steps[::2]]) == set()
    assert rows_without_common_steps([steps, steps, steps + 5]) == {2}
    assert rows_without_common_steps([steps, steps + 5, steps + 5]) == {0}
    assert rows_without_common_steps([steps + rank for rank in range(3)]) == {0, 1, 2}
    assert rows_without_common_steps([steps[:0], steps, steps]) == set()
