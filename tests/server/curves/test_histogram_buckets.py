from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.curves.histogram_buckets import (
    PERCENTILES,
    Bucketed,
    in_columns,
    on_edges,
    percentiles,
)


def bucketed(*histograms: Any) -> Bucketed:
    """Return histograms, each given as a list of (left, width, count)."""
    bounds = np.cumsum([0, *(len(histogram) for histogram in histograms)])
    flat = np.array(
        [bucket for histogram in histograms for bucket in histogram] or np.zeros((0, 3)), np.float64
    )
    return Bucketed(bounds, flat[:, 0], flat[:, 1], flat[:, 2].astype(np.int64))


def of(values: Any, bins: Any) -> list[Any]:
    counts, edges = np.histogram(values, bins=bins)
    return list(zip(edges[:-1], np.diff(edges), counts, strict=True))


@given(st.integers(1, 500), st.integers(1, 90), st.integers(2, 120), st.integers(0, 2**32 - 1))
def test_nothing_is_lost_or_invented_on_other_edges(size: Any, bins: Any, common: Any, seed: Any) -> None:
    values = np.random.default_rng(seed).standard_normal(size) * 10
    histogram = bucketed(of(values, bins), of(values + 3, bins))
    low, high = histogram.range()
    edges = np.linspace(low, high, common + 1)
    counts = on_edges(histogram, edges)
    np.testing.assert_allclose(counts.sum(axis=1), size)
    assert counts.min() >= -1e-9


def test_a_bucket_is_spread_evenly() -> None:
    counts = on_edges(bucketed([(0.0, 4.0, 8)]), np.array([0.0, 1.0, 2.0, 4.0]))
    assert counts.tolist() == [[2.0, 2.0, 4.0]]


def test_a_range_shows_only_what_lies_in_it() -> None:
    counts = on_edges(bucketed([(0.0, 4.0, 8)]), np.array([1.0, 2.0, 3.0]))
    assert counts.tolist() == [[2.0, 2.0]]


def test_a_constant_goes_whole_into_one_bucket() -> None:
    histogram = bucketed([(5.0, 0.0, 30)])
    assert histogram.range() == (4.5, 5.5)
    counts = on_edges(histogram, np.linspace(4.5, 5.5, 4))
    assert counts.sum() == 30
    assert np.count_nonzero(counts) == 1
    np.testing.assert_allclose(percentiles(histogram), 5.0)


def test_percentiles_are_those_of_the_values() -> None:
    values = np.random.default_rng(1).standard_normal(200_000)
    percents = percentiles(bucketed(of(values, 400)))[0]
    np.testing.assert_allclose(percents, np.percentile(values, PERCENTILES), atol=0.02)


def test_empty_outer_buckets_do_not_widen_the_percentiles() -> None:
    percents = percentiles(bucketed([(0.0, 1.0, 0), (1.0, 1.0, 10), (2.0, 1.0, 0)]))[0]
    assert percents[0] == 1.0
    assert percents[-1] == 2.0


def test_an_empty_histogram_has_no_percentiles_and_no_counts() -> None:
    histogram = bucketed([], [(0.0, 1.0, 2)])
    assert np.isnan(percentiles(histogram)[0]).all()
    assert on_edges(histogram, np.array([0.0, 1.0])).tolist() == [[0.0], [2.0]]
    assert bucketed([]).range() == (-0.5, 0.5)


def test_gaps_between_buckets_stay_empty() -> None:
    histogram = bucketed([(0.0, 1.0, 10), (9.0, 1.0, 10)])
    assert on_edges(histogram, np.array([0.0, 1.0, 5.0, 9.0, 10.0])).tolist() == [[10.0, 0.0, 0.0, 10.0]]
    percents = percentiles(histogram, (25.0, 45.0, 55.0, 75.0))[0]
    np.testing.assert_allclose(percents, [0.5, 0.9, 9.1, 9.5])


@pytest.mark.parametrize("buckets", [
    [(-np.inf, np.inf, 3), (0.0, 1.0, 4), (1.0, np.inf, 5)],
    [(-1.0, 1.0, 7), (0.0, np.inf, 5)],
    [(-np.inf, np.inf, 12)],
    [(np.nan, 1.0, 12)],
    [(-1e308, 1.7e308, 12)],
])  # fmt: skip
def test_infinite_edges_lose_no_count(buckets: Any) -> None:
    histogram = bucketed(buckets)
    low, high = histogram.range()
    assert np.isfinite([low, high]).all()
    assert on_edges(histogram, np.linspace(low, high, 11)).sum() == pytest.approx(12)
    assert np.isfinite(percentiles(histogram)).all()


def test_widths_that_overflowed_are_read_as_sizes() -> None:
    histogram = bucketed([(-128.0, -128.0, 1), (0.0, 127.0, 2)])
    low, high = histogram.range()
    assert on_edges(histogram, np.linspace(low, high, 11)).sum() == 3


def test_neighbouring_steps_are_added_up() -> None:
    counts = np.arange(12.0).reshape(4, 3)
    assert in_columns(counts, np.array([0, 1, 3])).tolist() == [[0, 1, 2], [9, 11, 13], [9, 10, 11]]


def test_outer_buckets_end_at_the_extremes() -> None:
    """Equal values have no spread, and extremes that contradict the buckets count for nothing."""
    bounds, edges = np.array([0, 1, 3, 4]), np.array([3.5, 0.0, 2.0, 5.0])
    extremes = np.array([3.5, 0.5, 0.0]), np.array([3.5, 3.0, 0.0])
    histograms = Bucketed(bounds, edges, np.array([0.01, 2.0, 2.0, 1.0]), np.array([9, 1, 1, 2]), extremes)
    result = percentiles(histograms, (0.0, 50.0, 100.0))
    np.testing.assert_allclose(result, [[3.5, 3.5, 3.5], [0.5, 2.0, 3.0], [5.0, 5.5, 6.0]])
    constant = Bucketed(bounds[:2], edges[:1], np.array([0.01]), np.array([9]), (extremes[0], extremes[1]))
    low, high = constant.range()
    np.testing.assert_allclose(on_edges(constant, np.linspace(low, high, 6)).sum(), 9)
