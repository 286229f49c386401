"""Fields of a message and varints, against what protobuf's own rules say."""

from collections.abc import Callable

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats.wire_format import (
    FAR,
    MAX_SIZE,
    UnparsableError,
    last_field,
    message_fields,
    read_varint,
    signed,
    unaligned,
    varints,
)
from mindinsight.writer.encoding import wire

INT64 = st.integers(-(2**63), 2**63 - 1)


@settings(max_examples=30)
@given(st.lists(INT64, min_size=1, max_size=20))
def test_varints_at_once_are_those_read_alone(numbers: list[int]) -> None:
    encoded = [wire.varint(number) for number in numbers]
    data = b"".join(encoded)
    begins = np.cumsum([0, *map(len, encoded[:-1])])
    values, after = varints(np.frombuffer(data, np.uint8), begins)
    assert values.tolist() == numbers
    assert after.tolist() == [begin + len(octets) for begin, octets in zip(begins, encoded, strict=True)]
    alone = [read_varint(data, begin, len(data)) for begin in begins.tolist()]
    assert [(signed(value), end) for value, end in alone] == list(zip(numbers, after.tolist(), strict=True))


def test_a_varint_without_an_end_is_no_number() -> None:
    data = b"\x80" * 11
    assert varints(np.frombuffer(data, np.uint8), np.array([0]))[1].tolist() == [FAR]
    for end in (3, 11):
        with pytest.raises(UnparsableError):
            read_varint(data, 0, end)


def overlong(number: int, size: int) -> bytes:
    """Return a varint of more bytes than it needs."""
    return bytes(number >> 7 * at & 0x7F | (at < size - 1) << 7 for at in range(size))


@pytest.mark.parametrize("size", range(2, 11))
@pytest.mark.parametrize("within", [lambda data: data, lambda data: b"\x7b" + data + b"\x7c"])
def test_keys_and_sizes_have_five_bytes_at_most_as_by_protobuf(
    size: int, within: Callable[[bytes], bytes]
) -> None:
    key, length = overlong(14 << 3, size) + b"\1", b"\x72" + overlong(2, size) + b"ab"
    for data in map(within, (key, length)):
        if size <= MAX_SIZE:
            Event.FromString(data)
            list(message_fields(data, 0, len(data)))
            continue
        with pytest.raises(DecodeError):
            Event.FromString(data)
        with pytest.raises(UnparsableError):
            list(message_fields(data, 0, len(data)))
    value = b"\x70" + overlong(2, size)
    assert list(message_fields(value, 0, len(value))) == [(0x70, 1, size + 1)]
    ends = varints(np.frombuffer(overlong(2, size), np.uint8), np.array([0]), MAX_SIZE)[1]
    assert ends.tolist() == [size if size <= MAX_SIZE else FAR]


@pytest.mark.parametrize("inside", [b"\x05abcd", b"\x00\x01", b"\x03\x04"])
def test_a_field_of_number_zero_is_passed_over_in_a_group_as_by_protobuf(inside: bytes) -> None:
    data = b"\x1b" + inside + b"\x1c"
    assert list(message_fields(data, 0, len(data))) == []
    with pytest.raises(UnparsableError, match="field number"):
        list(message_fields(inside, 0, len(inside)))


def test_fields_have_keys_and_spans_and_groups_are_passed_over() -> None:
    group = b"\x1b" + wire.integer(1, 5) + b"\x1c"  # field 3
    data = wire.integer(1, 300) + group + wire.block(2, b"abc") + wire.double(4, 1.0)
    fields = list(message_fields(data, 0, len(data)))
    assert [key for key, _, _ in fields] == [1 << 3, 2 << 3 | 2, 4 << 3 | 1]
    assert [data[start:end] for _, start, end in fields][:2] == [b"\xac\x02", b"abc"]


def test_the_last_of_equal_fields_counts() -> None:
    data = wire.block(1, b"a") + wire.block(1, b"bc")
    span = last_field(data, 0, len(data), 1 << 3 | 2)
    assert span is not None
    assert data[slice(*span)] == b"bc"
    assert last_field(data, 0, len(data), 2 << 3 | 2) is None


@pytest.mark.parametrize(
    "data",
    [
        b"\x0a\x05abc",  # longer than the message
        b"\x09abc",  # a double of three bytes
        b"\x0e",  # wire type 6
        b"\x00\x01",  # field 0
        b"\x1c",  # the end of a group that has not begun
        b"\x1b\x24",  # the end of another group
        b"\x1b",  # a group without end
        b"\x1b" * 101,
    ],
)
def test_what_is_no_message_is_an_error(data: bytes) -> None:
    with pytest.raises(UnparsableError):
        list(message_fields(data, 0, len(data)))


def test_numbers_are_seen_at_every_offset() -> None:
    assert unaligned(bytes([1, 2, 3, 4, 5]), "<u4").tolist() == [0x04030201, 0x05040302]
    assert unaligned(b"abc", "<u4").tolist() == []
