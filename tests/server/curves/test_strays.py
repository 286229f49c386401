"""Which rank strays, and how: simulated jobs of 2 to 1 000 ranks. `benchmarks/ranks.py` has more of them."""

from typing import Any

import numpy as np
import pytest

from mindinsight.server.curves.strays import strays

STEPS = 300


def step_times(seed: Any, ranks: Any, noise: Any = 0.03) -> Any:
    """[ranks, STEPS] seconds: log-normal noise, common jitter, and a checkpoint every 100 steps."""
    generator = np.random.default_rng([seed, ranks])
    common = 0.25 * np.exp(0.02 * generator.standard_normal(STEPS))
    common[99::100] *= 4
    return common * np.exp(noise * generator.standard_normal((ranks, STEPS)))


def of(values: Any) -> Any:
    return strays([(np.arange(STEPS), row.astype(np.float32)) for row in values])


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
    (stray,) = strays(curves)
    assert (stray.row, stray.kind, stray.step) == (1, "silent", 239)


def test_ranks_that_are_a_few_steps_behind_are_not_silent() -> None:
    curves = [(np.arange(STEPS - rank), row[: STEPS - rank]) for rank, row in enumerate(step_times(6, 8))]
    assert strays(curves) == []


def test_two_strays_of_four_are_both_named() -> None:
    values = step_times(7, 4)
    values[0, 150:] *= 2
    values[3, 30::50] *= 5
    assert {(stray.row, stray.kind) for stray in of(values)} == {(0, "lasting"), (3, "spikes")}


def test_equal_values_but_for_rounding_are_alike() -> None:
    values = np.sin(np.arange(STEPS) / 9) + 1e-7 * np.random.default_rng(0).standard_normal((8, STEPS))
    assert of(values) == []


@pytest.mark.parametrize("lengths", [[], [300], [300, 0], [1, 1], [3, 3, 3]])
def test_few_points_say_nothing(lengths: Any) -> None:
    assert strays([(np.arange(length), np.ones(length)) for length in lengths]) == []


def test_ranks_that_record_at_other_steps_are_compared() -> None:
    generator = np.random.default_rng(8)
    curves = []
    for rank in range(6):
        steps = np.arange(rank, 3000, 10)
        values = 1 + 0.03 * generator.standard_normal(len(steps))
        curves.append((steps, np.where(steps > 2000, 2.0, 1.0) * values if rank == 2 else values))
    (stray,) = strays(curves)
    assert (stray.row, stray.kind) == (2, "lasting")
    assert abs(stray.step - 2000) <= 40
