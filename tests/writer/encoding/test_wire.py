import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.summary_pb2 import Event, LossLandscape, Summary
from mindinsight.writer.encoding import wire

int64 = st.integers(-(1 << 63), (1 << 63) - 1)


@given(int64)
def test_integers_are_what_protobuf_writes(value: Any) -> None:
    assert wire.integer(2, value) == Event(step=value).SerializeToString()


@given(st.floats())
def test_doubles_are_what_protobuf_writes(value: Any) -> None:
    assert wire.double(1, value) == Event(wall_time=value).SerializeToString()
    assert wire.double(1001, value) == Summary.Value(exact_scalar=value).SerializeToString()


@given(st.floats(width=32))
def test_floats_are_what_protobuf_writes(value: Any) -> None:
    assert wire.single(3, value) == Summary.Value(scalar_value=value).SerializeToString()


def test_a_float_out_of_range_is_refused() -> None:
    with pytest.raises(OverflowError):
        wire.single(3, 1e300)


@given(st.text(max_size=300))
def test_blocks_are_what_protobuf_writes(text: Any) -> None:
    assert wire.block(1, text.encode()) == Summary.Value(tag=text).SerializeToString()


@given(st.lists(st.integers(-(1 << 31), (1 << 31) - 1)))
def test_packed_integers_are_read_as_a_repeated_field(values: Any) -> None:
    assert list(LossLandscape.LossPath.FromString(wire.packed_integers(1, values)).intervals) == values


def test_a_view_of_memory_is_a_block() -> None:
    assert wire.block(1, memoryview(b"abc")) == struct.pack("BB", 10, 3) + b"abc"
