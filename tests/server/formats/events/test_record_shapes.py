"""Shapes of records: equal for records that differ in their data alone."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats.events.event_fields import MINDSPORE
from mindinsight.server.formats.events.record_shapes import is_like, record_shape


def payload(step: int, *tags: str, number: float = 1.5, wall: float = 1.7e9) -> bytes:
    event = Event(wall_time=wall, step=step)
    for tag in tags:
        event.summary.value.add(tag=tag, scalar_value=number)
    return event.SerializeToString()


@pytest.mark.parametrize("step", [0, 1, 127, 128, 16_383, 16_384, -1, 2**62])
def test_a_shape_tells_the_step_and_where_the_numbers_lie(step: int) -> None:
    data = payload(step, "loss", "rate", number=0.75)
    shape = record_shape(data, MINDSPORE)
    assert shape is not None
    assert shape.step_of(data) == step
    spans = [(item.tag, data[item.at : item.at + item.size]) for item in shape.event.values]
    assert spans == [(b"loss", struct.pack("<f", 0.75)), (b"rate", struct.pack("<f", 0.75))]
    assert is_like(data, shape)


def test_records_of_one_shape_are_known_by_it() -> None:
    first = record_shape(payload(200, "loss", "rate"), MINDSPORE)
    assert first is not None
    assert record_shape(payload(300, "loss", "rate", number=-2, wall=1.6e9), MINDSPORE) is first
    for other in (payload(100, "loss", "rate"), payload(200, "loss", "late"), payload(200, "loss")):
        assert record_shape(other, MINDSPORE) is not first
        assert not is_like(other, first)


def test_bits_of_the_data_are_no_part_of_a_shape() -> None:
    shape = record_shape(payload(200, "loss"), MINDSPORE)
    assert shape is not None
    data = bytearray(payload(200, "loss"))
    for at, bits in enumerate(shape.mask.tolist()):
        for bit in range(8):
            data[at] ^= 1 << bit
            assert is_like(bytes(data), shape) == (not bits >> bit & 1)
            data[at] ^= 1 << bit


@pytest.mark.parametrize("cut", range(1, 30))
def test_what_is_no_whole_event_has_no_shape_or_another(cut: int) -> None:
    data = payload(200, "loss")
    shape = record_shape(data, MINDSPORE)
    assert shape is not None
    other = record_shape(data[:-cut], MINDSPORE)
    assert other is None or len(other.mask) == len(data) - cut


def test_a_tag_that_comes_twice_is_no_shape() -> None:
    assert record_shape(payload(1, "loss", "loss"), MINDSPORE) is None
    assert record_shape(np.arange(60, dtype=np.uint8).tobytes(), MINDSPORE) is None
