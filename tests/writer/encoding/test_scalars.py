"""Scalars keep the float64 that matters; events made in bulk are those protobuf makes one by one."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event, Summary
from mindinsight.writer.encoding import scalars

steps = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 1000))
tag_sets = st.lists(st.text(min_size=1, max_size=140), min_size=1, max_size=4)
numbers = st.one_of(st.floats(), st.integers(-(1 << 70), 1 << 70).map(float), st.floats(width=32))


@st.composite
def job_lists(draw: Any) -> Any:
    several = draw(st.lists(tag_sets, min_size=1, max_size=3))
    jobs = []
    for _ in range(draw(st.integers(0, 8))):
        pairs = [part for tag in draw(st.sampled_from(several)) for part in (tag, draw(numbers))]
        jobs.append((draw(steps), draw(st.floats(allow_nan=False)), pairs, (), 0))
    return jobs


def event_by_protobuf(job: Any) -> bytes:
    step, wall, pairs, _, _ = job
    event = Event(wall_time=wall, step=step)
    for tag, number in zip(pairs[::2], pairs[1::2], strict=True):
        with np.errstate(over="ignore"):
            narrow = float(np.float32(number))
        value = event.summary.value.add(tag=tag, scalar_value=narrow)
        odd = abs(number) > scalars.LARGEST or 0 < abs(number) < scalars.SMALLEST
        if odd and math.isfinite(number) and narrow != number:
            value.exact_scalar = number
    return event.SerializeToString()


def without_nan_payload(job: Any) -> tuple[Any, ...]:
    step, wall, pairs, items, cost = job
    return step, wall, [math.nan if part != part else part for part in pairs], items, cost


@given(job_lists())
def test_records_are_those_of_protobuf(jobs: Any) -> None:
    jobs = [without_nan_payload(job) for job in jobs]
    assert scalars.encode(jobs) == [encode_record(event_by_protobuf(job)) for job in jobs]


def test_ten_scalars_a_step_take_at_most_26_bytes_a_point() -> None:
    tags = [f"metrics/{name}" for name in "abcdefghij"]
    pairs = [part for tag in tags for part in (tag, 0.1)]
    (record,) = scalars.encode([(123456, 1.7e9, pairs, (), 0)])
    assert len(record) / 10 <= 26


@given(st.text(min_size=1, max_size=20), st.floats())
def test_a_scalar_is_its_float32_or_exactly_itself(tag: Any, number: Any) -> None:
    value = Summary.Value.FromString(scalars.scalar(tag, number))
    assert value.tag == tag
    with np.errstate(over="ignore"):
        np.testing.assert_equal(np.float32(value.scalar_value), np.float32(number))
    if value.HasField("exact_scalar"):
        assert value.exact_scalar == number


@pytest.mark.parametrize("number", [2.0**24 + 1, 1e300, -1e300, 1e-300, 5e-324, 1.7e9 + 0.123, 2.0**53 - 1])
def test_a_scalar_float32_would_visibly_change_is_kept_exactly(number: Any) -> None:
    assert Summary.Value.FromString(scalars.scalar("t", number)).exact_scalar == number


@pytest.mark.parametrize("number", [0.1, 0.0, 2.0**24, 2.0**30, math.inf, -math.inf, math.nan, 2.0**-126])
def test_other_scalars_take_no_more_than_a_float32(number: Any) -> None:
    assert not Summary.Value.FromString(scalars.scalar("t", number)).HasField("exact_scalar")


@pytest.mark.parametrize(("value", "number"), [(3, 3.0), (True, 1.0), ([2.5], 2.5), (np.array([[7]]), 7.0)])
def test_a_scalar_is_the_one_number_in_a_value(value: Any, number: float) -> None:
    assert scalars.number("t", value) == number


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ([1, 2], ValueError, "one element"),
        (10**400, ValueError, "larger than any float64"),
        (1j, TypeError, "complex"),
        ("3", TypeError, "expected numbers"),
    ],
)
def test_anything_else_is_no_scalar(value: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        scalars.number("t", value)


class Element:
    """An array of one element, such as frameworks have, that counts its conversions."""

    def __init__(self, content: Any) -> None:
        self.content = content
        self.conversions = 0

    def item(self) -> Any:
        if isinstance(self.content, Exception):
            raise self.content
        return self.content

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.conversions += 1
        return np.ones(2)


@pytest.mark.parametrize("content", [0.25, 3, True, float("inf")])
def test_one_element_is_taken_without_converting_the_array(content: Any) -> None:
    element = Element(content)
    assert scalars.number("loss", element) == content
    assert element.conversions == 0


@pytest.mark.parametrize("content", [RuntimeError("2 elements cannot be converted"), 1j, None])
def test_what_is_no_single_number_is_named(content: Any) -> None:
    with pytest.raises(ValueError, match="'loss' must have one element"):
        scalars.number("loss", Element(content))
