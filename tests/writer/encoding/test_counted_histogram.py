import sys
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.writer.encoding.counted_histogram import count, given_histogram, mindspore_histogram

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
