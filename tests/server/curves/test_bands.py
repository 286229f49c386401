from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.claims import sentence
from mindinsight.server.curves.bands import band, cells, continued, median, non_finite_members, one_per_job


def test_equal_steps_are_averaged_step_by_step() -> None:
    curves = [(np.arange(4), np.array([1.0, 2.0, 3.0, 4.0])), (np.arange(4), np.array([3.0, 2.0, 5.0, 0.0]))]
    whole = band(cells(curves, 100))
    assert whole.steps.tolist() == [0, 1, 2, 3]
    assert whole.mean.tolist() == [2.0, 2.0, 4.0, 2.0]
    assert whole.low.tolist() == [1.0, 2.0, 3.0, 0.0]
    assert whole.high.tolist() == [3.0, 2.0, 5.0, 4.0]
    assert whole.deviation.tolist() == [1.0, 0.0, 1.0, 2.0]
    assert whole.curves.tolist() == [2, 2, 2, 2]


def test_quartiles_stay_within_the_range_where_the_deviation_leaves_it() -> None:
    curves = [(np.arange(1), np.array([value])) for value in (1.0, 1.1, 1.2, 3.0)]
    whole = band(cells(curves, 10))
    assert whole.mean[0] - whole.deviation[0] < whole.low[0]
    assert whole.median[0] == pytest.approx(1.15)
    assert (whole.lower[0], whole.upper[0]) == pytest.approx((1.075, 1.65))


def test_quartiles_of_one_curve_and_of_values_whose_difference_overflows() -> None:
    huge = 1.7e308
    curves = [(np.arange(2), np.array([5.0, -huge])), (np.array([1]), np.array([huge]))]
    whole = band(cells(curves, 10))
    assert (whole.lower[0], whole.median[0], whole.upper[0]) == (5.0, 5.0, 5.0)
    assert (whole.lower[1], whole.median[1], whole.upper[1]) == pytest.approx((-huge / 2, 0.0, huge / 2))


@given(st.integers(1, 6), st.integers(1, 500), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_a_column_holds_what_its_steps_hold(number: Any, length: Any, columns: Any, seed: Any) -> None:
    generator = np.random.default_rng(seed)
    curves = []
    for _ in range(number):
        steps = np.unique(generator.integers(0, 10_000, length))
        curves.append((steps, generator.standard_normal(len(steps))))
    grid = cells(curves, columns)
    assert grid.mean.shape == (number, len(grid.steps))
    assert len(grid.steps) <= max(columns, 1)
    edges = np.append(grid.steps, np.iinfo(np.int64).max)
    for row, (steps, values) in enumerate(curves):
        for column in range(len(grid.steps)):
            here = values[(steps >= edges[column]) & (steps < edges[column + 1])]
            if len(here):
                np.testing.assert_allclose(grid.mean[row, column], here.mean(), atol=1e-12)
                assert grid.low[row, column] == here.min()
                assert grid.high[row, column] == here.max()
            else:
                assert np.isnan(grid.mean[row, column])


def test_a_curve_that_ends_early_leaves_the_mean_of_the_others() -> None:
    grid = cells([(np.arange(2), np.array([1.0, 1.0])), (np.arange(4), np.array([3.0, 3.0, 5.0, 5.0]))], 10)
    whole = band(grid)
    assert whole.mean.tolist() == [2.0, 2.0, 5.0, 5.0]
    assert whole.curves.tolist() == [2, 2, 1, 1]


def test_non_finite_values_are_counted_and_left_out() -> None:
    grid = cells([(np.arange(3), np.array([1.0, np.nan, 3.0])), (np.arange(3), np.ones(3))], 10)
    assert grid.bad.tolist() == [[0, 1, 0], [0, 0, 0]]
    assert band(grid).mean.tolist() == [1.0, 1.0, 2.0]


def test_no_curves() -> None:
    grid = cells([], 10)
    assert band(grid).mean.tolist() == []


def test_the_median_leaves_out_curves_without_a_value_and_does_not_overflow() -> None:
    nan = float("nan")
    curves = [
        (np.arange(4), np.array([1.0, nan, nan, 1.7e308])),
        (np.arange(4), np.array([2.0, 5.0, nan, 1.5e308])),
        (np.arange(4), np.array([9.0, 7.0, nan, nan])),
    ]
    np.testing.assert_array_equal(median(cells(curves, 10)), [2.0, 6.0, nan, 1.6e308])


def uneven() -> Any:
    """One curve from 0 to 9, one with every third step up to 6, one without values."""
    long = (np.arange(10), np.arange(10, dtype=np.float32))
    short = (np.array([0, 3, 6]), np.array([10, 13, 16], np.float32))
    return cells([long, short, (np.arange(0), np.zeros(0, np.float32))], 10)


def test_the_mean_of_a_group_does_not_jump_between_steps_or_at_an_end() -> None:
    grid, reaching = continued(uneven(), "hold")
    assert reaching.tolist() == [2] * 7 + [1] * 3
    assert band(grid).mean.tolist() == [5, 6, 7, 8, 9, 10, 11, 11.5, 12, 12.5]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_curve_that_diverged_keeps_no_last_value(value: float) -> None:
    steps = np.arange(4)
    diverged = np.array([3, 3, value, value], np.float32)
    grid, reaching = continued(cells([(steps, np.ones(4, np.float32)), (steps, diverged)], 10), "hold")
    assert reaching.tolist() == [2, 2, 1, 1]
    assert band(grid).mean.tolist() == [2, 2, 1, 1]


def test_ended_curves_are_dropped_or_only_common_steps_are_taken() -> None:
    assert band(continued(uneven(), "drop")[0]).mean.tolist() == [5, 6, 7, 8, 9, 10, 11, 7, 8, 9]
    mean = band(continued(uneven(), "common")[0]).mean
    assert mean[:7].tolist() == [5, 6, 7, 8, 9, 10, 11]
    assert np.isnan(mean[7:]).all()


def test_the_ranks_of_a_job_are_one_curve() -> None:
    curves = [(np.arange(2), np.array([value, value], np.float32)) for value in (0, 2, 11)]
    grid = one_per_job(cells(curves, 2), ["./job", "./job", "./single"])
    assert grid.mean.tolist() == [[1, 1], [11, 11]]
    assert (grid.low[0].tolist(), grid.high[0].tolist()) == ([0, 0], [2, 2])
    assert band(grid).mean.tolist() == [6, 6]


TENS = np.arange(0, 50, 10)
WELL = np.ones(5)


def texts(*members: object) -> list[str]:
    curves = [(TENS, np.array(values, np.float64)) for values in members]
    return [sentence(claim) for claim in non_finite_members([f"run_{n}" for n in range(len(curves))], curves)]


def test_a_member_that_diverges_is_named_with_the_step_from_which_it_does_not_count() -> None:
    assert texts(WELL, WELL) == []
    end = "is NaN or infinite from step 30 on and does not count in the mean from there."
    assert texts(WELL, [1, 1, 1, np.nan, np.inf]) == [f"run_1 {end}"]
    many = texts([np.nan] * 5, [1, 1, 1, 1, np.nan], WELL)
    assert many[0].startswith("2 runs are NaN or infinite up to their end, the first from step 0 on")
    assert many[0].endswith(": run_0, run_1.")


def test_values_between_finite_ones_are_interpolated() -> None:
    gap = "has NaN or infinite values, the first at step 10; the mean interpolates between its finite ones."
    assert texts(WELL, [1, np.nan, 1, 1, 1]) == [f"run_1 {gap}"]
    assert len(texts([1, np.inf, 1, 1, np.nan])) == 2
