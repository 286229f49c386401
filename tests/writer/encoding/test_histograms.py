import sys
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.writer.encoding.histograms import (
    bucket_count,
    bucket_edges,
    count,
    given_histogram,
    histogram,
    mindspore_histogram,
)
from tests.narrowing import require

numbers = st.floats(allow_nan=False, allow_infinity=False)
extremes = st.sampled_from([0.0, 5e-324, 1e-310, 1.0, 1e300, 1.7976931348623157e308, -1.7976931348623157e308])
finite = hnp.arrays(np.float64, st.integers(1, 200), elements=numbers | extremes)


@pytest.mark.parametrize(
    ("elements", "buckets"),
    [
        (1, 2),
        (5, 2),
        (6, 3),
        (10, 3),
        (11, 2),
        (30, 4),
        (880, 89),
        (881, 90),
        (10**6, 90),
    ],
)
def test_the_number_of_buckets_is_mindspores(elements: Any, buckets: int) -> None:
    assert bucket_count(elements) == buckets


@given(finite)
def test_a_bucket_holds_what_lies_between_its_edges(values: Any) -> None:
    counted = histogram(values)
    assert (np.diff(counted.edges) > 0).all()
    for index, count_ in enumerate(counted.counts):
        inside = (values >= counted.edges[index]) & (values < counted.edges[index + 1])
        if index == len(counted.counts) - 1:
            inside |= values == counted.edges[-1]
        assert count_ == inside.sum()


@given(finite)
def test_no_element_is_outside_the_edges(values: Any) -> None:
    counted = histogram(values)
    assert counted.edges[0] <= values.min() <= values.max() <= counted.edges[-1]
    assert counted.counts.sum() == values.size == counted.count


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (5.0, 5.0),
        (0.0, 0.0),
        (0.0, 5e-324),
        (1.0, 1.0 + 2.3e-16),
        (-1.79e308, 1.79e308),
        (1e308, 1e308),
        (-1e300, -1e300),
    ],
)
def test_edges_grow_in_every_range(low: float, high: Any) -> None:
    edges = bucket_edges(low, high, 90)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()


def test_equal_values_get_half_a_unit_to_either_side() -> None:
    counted = histogram(np.full(30, 5.0, np.float32))
    assert (counted.edges[0], counted.edges[-1], len(counted.counts)) == (4.5, 5.5, 4)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(4, np.uint8),
        np.zeros(4, np.bool_),
        np.array([True, False]),
        np.array([-128, 127, 3], np.int8),
        np.array([0, (1 << 64) - 1], np.uint64),
    ],
)
def test_integers_and_bools_are_counted_with_even_buckets(values: Any) -> None:
    counted = histogram(values)
    assert counted.counts.sum() == values.size
    np.testing.assert_allclose(np.diff(counted.edges), np.diff(counted.edges)[0])


def test_what_is_not_finite_is_counted_apart() -> None:
    counted = histogram(np.array([1.0, np.nan, np.inf, -np.inf, np.inf, 3.0], np.float32))
    assert (counted.count, counted.nan, counted.positive_infinity, counted.negative_infinity) == (6, 1, 2, 1)
    assert (counted.low, counted.high, counted.total) == (1.0, 3.0, 4.0)


@pytest.mark.parametrize("values", [np.array([]), np.array([np.nan, np.inf])])
def test_without_a_finite_element_there_are_no_buckets(values: Any) -> None:
    counted = histogram(values)
    assert (counted.low, counted.high, counted.total) == (None, None, None)
    assert len(counted.counts) == len(counted.edges) == 0


def test_many_elements_are_counted_like_few() -> None:
    values = np.random.default_rng(0).normal(size=(400, 500)).astype(np.float32)
    counted = histogram(values)
    expected, _ = np.histogram(values.astype(np.float64), counted.edges)
    np.testing.assert_array_equal(counted.counts, expected)
    np.testing.assert_allclose(require(counted.total), values.sum(dtype=np.float64))


ODD = {
    "any scale": lambda rng, size: rng.standard_normal(size) * 10.0 ** rng.integers(-300, 300),
    "far from zero": lambda rng, size: 1e9 + rng.standard_normal(size) * 10.0 ** rng.integers(-9, 3),
    "few values": lambda rng, size: rng.integers(-5, 5, size).astype(float),
    "on the edges": lambda rng, size: np.linspace(-1, 1, size) * 10.0 ** rng.integers(-5, 5),
    "the largest": lambda rng, size: rng.uniform(-1, 1, size) * sys.float_info.max,
}


@pytest.mark.parametrize("kind", ODD)
def test_counts_are_those_of_a_search_among_the_edges(kind: str) -> None:
    rng = np.random.default_rng(7)
    for size in rng.integers(1, 400, 60).tolist():
        values = ODD[kind](rng, size)
        made = histogram(values)
        bucket = np.searchsorted(made.edges, values, side="right") - 1
        expected = np.bincount(np.clip(bucket, 0, len(made.counts) - 1), minlength=len(made.counts))
        assert made.counts.tolist() == expected.tolist()


doubles = hnp.arrays(np.float64, st.integers(1, 50), elements=st.floats())


@given(doubles)
def test_every_element_is_in_a_bucket_or_nan(values: Any) -> None:
    counted = count(values)
    assert counted.counts.sum() + counted.nan == counted.count == values.size
    assert (np.diff(counted.limits) > 0).all()
    assert len(counted.counts) == len(counted.limits) or not counted.counts.sum()


@given(doubles, st.integers(1, 40))
def test_mindspores_form_has_the_same_buckets(values: Any, most: Any) -> None:
    counted = count(values, None, most)
    converted = mindspore_histogram(counted)
    assert converted.counts.sum() == counted.counts.sum()
    assert (converted.count, converted.nan) == (values.size, int(np.isnan(values).sum()))
    finite = values[np.isfinite(values)]
    assert (converted.low, converted.high) == ((finite.min(), finite.max()) if finite.size else (None, None))
    if converted.counts.size:
        assert len(converted.edges) == converted.counts.size + 1
        assert np.isfinite(converted.edges).all() and (np.diff(converted.edges) > 0).all()


def test_the_first_bucket_begins_at_the_minimum_that_was_given() -> None:
    raw = given_histogram((-2.0, 3.0), (3, 1.0, 14.0), [0.0, 1.0, 3.0], [1, 0, 2])
    assert mindspore_histogram(raw).edges.tolist() == [-2.0, 0.0, 1.0, 3.0]
    unknown = given_histogram((float("nan"), 3.0), (1, 1.0, 1.0), [0.0, 1.0], [1, 0])
    assert mindspore_histogram(unknown).edges.tolist() == [-1.0, 0.0]
    lowest = given_histogram((-float("inf"), 3.0), (1, 1.0, 1.0), [0.0, 1.0], [1, 0])
    assert mindspore_histogram(lowest).edges.tolist() == [-sys.float_info.max, 0.0]


@pytest.mark.parametrize("counts", [[0.5], [-1.0]])
def test_counts_that_are_no_whole_numbers_are_refused(counts: Any) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        mindspore_histogram(given_histogram((0.0, 1.0), (1, 1.0, 1.0), [1.0], counts))


def test_a_limit_of_no_buckets_is_one() -> None:
    assert len(count(np.arange(9.0), most=0).counts) <= len(count(np.arange(9.0), most=1).counts)
