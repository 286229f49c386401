"""Finite values of any size: what is computed of them is finite, right where it can be, and warns of nothing.

Warnings are errors in these tests.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mindinsight.server.curves.bands import band, cells
from mindinsight.server.curves.correlations import association
from mindinsight.server.curves.curve_statistics import difference, range_statistics
from mindinsight.server.curves.histogram_buckets import Bucketed, on_edges, percentiles
from mindinsight.server.curves.overflow_safe import LARGEST, even_edges, interpolate, subtract
from mindinsight.server.curves.rank_outliers import find_outliers
from mindinsight.server.curves.sampling import sample_rows
from mindinsight.server.curves.smoothing import smooth
from mindinsight.server.v1.lineages import targets_answer
from mindinsight.server.v1.payload_routes import HistogramColumns, common_edges, rebin
from tests.narrowing import require

HUGE = 1.7e308
FINITE = st.floats(allow_nan=False, allow_infinity=False)
EXTREME = st.sampled_from([HUGE, -HUGE, LARGEST, -LARGEST, 5e-324, 0.0, -0.0, 1e200, 1.0]) | FINITE
COLUMN = st.lists(EXTREME, min_size=1, max_size=40).map(np.array)
FARTHEST = np.array([-(2**63), 0, 2**63 - 1])


def test_statistics_of_huge_values() -> None:
    facts = range_statistics(np.arange(4), np.array([HUGE, -HUGE, HUGE, -HUGE]))
    assert (facts["mean"], facts["deviation"]) == (0.0, HUGE)
    assert facts["slope"] == pytest.approx(-0.4 * HUGE)
    assert range_statistics(np.arange(3), np.full(3, HUGE))["mean"] == pytest.approx(HUGE)


@given(COLUMN)
@example(np.full(3, LARGEST))
def test_statistics_are_finite_and_the_mean_lies_between_the_extremes(values: Any) -> None:
    facts = range_statistics(np.arange(len(values)), values)
    assert np.isfinite([require(facts["deviation"]), facts["slope"] or 0.0]).all()
    slack = np.abs(values).max() * 1e-15
    low, mean, high = (require(facts[name]) / 2 for name in ("min", "mean", "max"))
    assert low - slack - 1e-320 <= mean <= high + slack + 1e-320


def test_a_difference_beyond_all_numbers_is_the_largest_number() -> None:
    steps = np.arange(3)
    compared = difference(steps, np.array([HUGE, 1.0, HUGE]), steps, np.array([-HUGE, 1e-320, 0.0]), 0.1)
    assert compared.difference.tolist() == [LARGEST, 1.0, HUGE]
    assert compared.relative.tolist() == [2.0, LARGEST, np.inf]


@given(COLUMN)
def test_relative_differences_are_finite_where_the_baseline_is_not_zero(values: Any) -> None:
    steps = np.arange(len(values))
    base = values[::-1].copy()
    compared = difference(steps, values, steps, base, 0.0)
    assert np.isfinite(compared.difference).all()
    assert np.isfinite(compared.relative[base != 0]).all()


@given(COLUMN, COLUMN)
def test_bands_are_finite_and_the_mean_lies_within(left: Any, right: Any) -> None:
    grid = cells([(np.arange(len(values)), values) for values in (left, right)], 5)
    whole = band(grid)
    for column in (whole.mean, whole.deviation, whole.low, whole.high):
        assert np.isfinite(column).all()
    slack = 1e-15 * np.maximum(np.abs(whole.low), np.abs(whole.high)) / 2
    assert (whole.mean / 2 >= whole.low / 2 - slack - 1e-320).all()
    assert (whole.mean / 2 <= whole.high / 2 + slack + 1e-320).all()


def test_small_values_beside_huge_ones_keep_their_mean_and_deviation() -> None:
    curves = [(np.arange(2), np.array([HUGE, 1e-5])), (np.arange(2), np.array([HUGE, 3e-5]))]
    whole = band(cells(curves, 10))
    assert whole.mean.tolist() == [HUGE, 2e-5]
    assert whole.deviation[1] == pytest.approx(1e-5)


def test_steps_as_far_apart_as_they_can_be() -> None:
    grid = cells([(FARTHEST, np.ones(3))], 2)
    assert grid.steps.tolist() == [-(2**63), 0]
    assert cells([(FARTHEST, np.ones(3))], 1).steps.tolist() == [-(2**63)]
    (silent,) = find_outliers([(FARTHEST, np.ones(3)), (FARTHEST[:1], np.ones(1))])
    assert (silent.row, silent.kind, silent.step) == (1, "silent", -(2**63))


@given(COLUMN, st.floats(0.01, 0.999))
def test_a_smoothed_curve_stays_within_the_extremes(values: Any, weight: Any) -> None:
    smoothed = smooth(np.arange(len(values)), values, weight)
    slack = np.abs(values).max() / 2 * 1e-12
    assert (
        np.abs(smoothed / 2 - values.min() / 4 - values.max() / 4)
        <= values.max() / 4 - values.min() / 4 + slack + 1e-300
    ).all()


@pytest.mark.parametrize("log_x", [False, True])
def test_an_axis_that_takes_in_all_numbers_is_divided_evenly(log_x: bool) -> None:
    x = np.linspace(-0.5, 0.5, 1000) * 2 * LARGEST
    rows = sample_rows(x, np.zeros(1000), 10, log_x)
    assert (rows[0], rows[-1]) == (0, 999)
    assert len(rows) >= 10
    ends = np.concatenate(([-np.inf], x, [np.inf]))
    assert {0, 1001} <= set(sample_rows(ends, np.zeros(1002), 10, log_x).tolist())


def test_edges_over_all_numbers() -> None:
    assert even_edges(-LARGEST, LARGEST, 3).tolist() == [-LARGEST, 0.0, LARGEST]
    assert even_edges(1.0, 2.0, 3).tolist() == [1.0, 1.5, 2.0]


@given(st.lists(st.tuples(EXTREME, EXTREME.map(abs), st.integers(0, 2**40)), min_size=1, max_size=20))
@example([(5e-324, 2.225073858507e-311, 1)])
@example([(1.0, 1.0, 1), (1.0, 1.0, 0), (-1.0, 1.0, 0)])
@example([(HUGE, HUGE, 0), (HUGE, HUGE, 1), (5e-324, 5e-324, 1)])
@example([(1.7e308, 1.7e308, 0), (1.7e308, 1.7e308, 0), (5e-324, 0.0, 1)])
@example([(1.7e308, 1.7e308, 1), (1.7e308, 5e-324, 0), (-1.7e308, 1.7e308, 0)])
@settings(deadline=None)
def test_buckets_of_any_size_are_put_on_edges(buckets: Any) -> None:
    left, width, counts = (np.array(column) for column in zip(*buckets, strict=True))
    bucketed = Bucketed(np.array([0, len(left)]), left.astype(float), width.astype(float), counts)
    least, most = bucketed.range()
    on = on_edges(bucketed, even_edges(least, most, 8))
    assert np.isfinite([least, most]).all()
    assert np.isfinite(on).all()
    if counts.any():
        assert on.sum() == pytest.approx(counts.sum())
        assert np.isfinite(percentiles(bucketed)).all()


def test_a_histogram_over_all_numbers_in_the_old_interface() -> None:
    histogram = HistogramColumns(
        np.array([-HUGE, 0.0]), np.array([HUGE, HUGE]), np.array([5.0, 5.0]), -HUGE, HUGE
    )
    rows = rebin(histogram, common_edges([histogram]))
    assert np.isfinite(rows).all()
    assert sum(count for *_, count in rows) >= 10


@pytest.mark.parametrize("size", [HUGE, 1e200, 1e-200, 5e-324])
def test_an_association_does_not_depend_on_the_unit(size: Any) -> None:
    numbers = [size * share for share in (0.0, 1.0, 1.0, 0.0)]
    assert association(numbers, np.array(numbers)) == pytest.approx(1.0)
    assert association(["a", "b", "b", "a"], np.array(numbers)) == pytest.approx(1.0)


def test_targets_of_the_old_interface_with_huge_values() -> None:
    rows = [
        {"summary_dir": f"./{number}", "loss": value, "metric/a": -value}
        for number, value in enumerate((HUGE, -HUGE, 1.0))
    ]
    answer = targets_answer(rows)
    assert all(np.isfinite(target["buckets"]).all() for target in answer["targets"])
    assert sum(count for *_, count in answer["targets"][0]["buckets"]) == 3


@pytest.mark.parametrize("size", [HUGE, 1e160, 1e-200])
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_strays_do_not_depend_on_the_unit(size: Any, ranks: int) -> None:
    values = np.exp(0.03 * np.random.default_rng(ranks).standard_normal((ranks, 300)))
    values[1, 200:] *= 1.5
    values /= values.max()
    steps = np.arange(300)
    plain = find_outliers([(steps, row) for row in values])
    pair = (0, 1) if ranks == 2 else (1, None)  # of two, neither is blamed
    assert [(stray.row, stray.other, stray.kind) for stray in plain] == [(*pair, "lasting")]
    (scaled,) = find_outliers([(steps, row * size) for row in values])
    assert (scaled.row, scaled.kind, scaled.step) == (plain[0].row, plain[0].kind, plain[0].step)
    assert scaled.relative == pytest.approx(plain[0].relative)


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_a_spike_over_nothing_has_no_share(ranks: int) -> None:
    values = np.zeros((ranks, 300))
    values[1, 100] = 1e10
    outliers = find_outliers([(np.arange(300), row) for row in values])
    assert [(outlier.step, outlier.relative) for outlier in outliers] == [(100, None)]


@given(COLUMN, EXTREME)
def test_a_difference_is_finite_and_keeps_what_is_not(values: Any, start: Any) -> None:
    assert np.isfinite(subtract(values, start)).all()
    assert np.isnan(subtract(np.array([np.nan]), start)).all()
    assert np.isinf(subtract(np.array([np.inf]), start)).all()


def test_values_between_subnormal_places_are_finite() -> None:
    x, y = np.array([0.0, 1e-311, 1e-311, 1.0]), np.array([0.0, 10.0, 20.0, 30.0])
    at = np.array([-1.0, 0.0, 5e-312, 1e-311, 0.5, 2.0])
    assert interpolate(at, x, y) == pytest.approx([0.0, 0.0, 5.0, 20.0, 25.0, 30.0])
