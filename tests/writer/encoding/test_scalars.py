"""Scalar events made in bulk are byte for byte the events protobuf makes one by one."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.writer.encoding import scalars, values

steps = st.one_of(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 1000))
tag_sets = st.lists(st.text(min_size=1, max_size=140), min_size=1, max_size=4)
numbers = st.one_of(st.floats(), st.integers(-(1 << 70), 1 << 70).map(float), st.floats(width=32))


@st.composite
def job_lists(draw):
    several = draw(st.lists(tag_sets, min_size=1, max_size=3))
    jobs = []
    for _ in range(draw(st.integers(0, 8))):
        pairs = [part for tag in draw(st.sampled_from(several)) for part in (tag, draw(numbers))]
        jobs.append((draw(steps), draw(st.floats(allow_nan=False)), pairs, (), 0))
    return jobs


def event_by_protobuf(job):
    step, wall, pairs, _, _ = job
    event = Event(wall_time=wall, step=step)
    for tag, number in zip(pairs[::2], pairs[1::2], strict=True):
        with np.errstate(over="ignore"):
            narrow = float(np.float32(number))
        value = event.summary.value.add(tag=tag, scalar_value=narrow)
        odd = abs(number) > values.LARGEST or 0 < abs(number) < values.SMALLEST
        if odd and math.isfinite(number) and narrow != number:
            value.exact_scalar = number
    return event.SerializeToString()


def without_nan_payload(job):
    step, wall, pairs, items, cost = job
    return step, wall, [math.nan if part != part else part for part in pairs], items, cost


@given(job_lists())
def test_records_are_those_of_protobuf(jobs):
    jobs = [without_nan_payload(job) for job in jobs]
    assert scalars.encode(jobs) == [encode_record(event_by_protobuf(job)) for job in jobs]


def test_ten_scalars_a_step_take_at_most_26_bytes_a_point():
    tags = [f"metrics/{name}" for name in "abcdefghij"]
    pairs = [part for tag in tags for part in (tag, 0.1)]
    (record,) = scalars.encode([(123456, 1.7e9, pairs, (), 0)])
    assert len(record) / 10 <= 26
