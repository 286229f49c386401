from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.sampling import non_finite_ranges, sample_rows, step_gaps
from mindinsight.server.types import Doubles


@given(st.integers(1, 4000), st.integers(1, 200), st.integers(0, 2**32 - 1), st.booleans())
def test_extremes_ends_and_every_kind_of_break_survive(
    count: Any, buckets: Any, seed: Any, log_x: Any
) -> None:
    generator = np.random.default_rng(seed)
    x = np.cumsum(generator.integers(0, 5, count)).astype(np.float64)
    values = generator.standard_normal(count)
    values[generator.random(count) < 0.01] = np.nan
    rows = sample_rows(x, values, buckets, log_x)
    assert np.array_equal(rows, np.unique(rows))
    assert rows[0] == 0
    assert rows[-1] == count - 1
    assert len(rows) <= max(2 * buckets, 3 * buckets + 2)
    finite = np.isfinite(values)
    if finite.any():
        samples = values[rows]
        assert np.nanmin(samples) == values[finite].min()
        assert np.nanmax(samples) == values[finite].max()
    if not finite.all() and count > 2 * buckets:
        assert int(np.flatnonzero(~finite)[0]) in rows


def test_a_short_curve_is_whole() -> None:
    assert sample_rows(np.arange(100.0), np.zeros(100), 50).tolist() == list(range(100))


def test_a_single_spike_is_drawn_where_it_is() -> None:
    values = np.zeros(1_000_000, np.float32)
    values[123_456] = 80.0
    rows = sample_rows(np.arange(1_000_000.0), values, 500)
    assert 123_456 in rows
    assert len(rows) <= 1002


def test_log_buckets_keep_the_start_of_the_curve() -> None:
    x = np.arange(1.0, 100_001.0)
    values = np.sin(x)
    linear, logarithmic = (sample_rows(x, values, 100, log_x) for log_x in (False, True))
    assert (x[logarithmic] < 1000).sum() > 50 > (x[linear] < 1000).sum()


def test_an_axis_that_decreases_or_turns_keeps_its_shape() -> None:
    steps = np.arange(2000, dtype=np.float64)
    axes: list[Doubles] = [np.exp(-steps / 400), 0.1 * (1 + np.cos(steps / 300)), 1.0 - steps]
    for x in axes:
        values = np.sin(steps / 50)
        rows = sample_rows(x, values, 300)
        assert 300 < len(rows) <= 602
        assert np.diff(rows).max() <= 14
        drawn = np.interp(steps, rows, x[rows])
        np.testing.assert_allclose(drawn, x, atol=0.01 * np.ptp(x))


def test_rows_that_go_back_in_x_are_kept_in_order() -> None:
    x = np.concatenate((np.arange(5000.0), np.arange(100.0)))
    rows = sample_rows(x, np.arange(5100.0), 100)
    assert np.all(np.diff(rows) > 0)
    assert rows[-1] == 5099


def test_non_finite_values_come_as_ranges() -> None:
    values = np.array([1.0, np.nan, np.nan, np.inf, 2.0, -np.inf, np.nan], np.float32)
    ranges = non_finite_ranges(np.arange(10, 17), values)
    assert ranges == [("nan", 11, 12, 2), ("inf", 13, 13, 1), ("-inf", 15, 15, 1), ("nan", 16, 16, 1)]
    assert non_finite_ranges(np.arange(3), np.zeros(3)) == []


def test_a_gap_is_far_wider_than_the_intervals_around_it() -> None:
    regular = np.arange(200)
    assert step_gaps(np.concatenate([regular, regular + 600])) == [(199, 600)]
    assert step_gaps(np.concatenate([regular, regular + 215])) == []
    assert step_gaps(np.concatenate([regular, 200 + 100 * regular])) == []  # recorded less often from 200 on
    assert step_gaps((1.3 ** np.arange(60)).astype(np.int64) + np.arange(60)) == []  # less and less often
    assert step_gaps(np.array([*range(8), 900, 901])) == []  # too few after it to tell
    assert step_gaps(np.concatenate([regular + 1000 * n for n in range(90)]))[-1] == (88_199, 89_000)
