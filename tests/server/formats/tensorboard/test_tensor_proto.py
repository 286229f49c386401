"""Tensors of TensorFlow: content and lists of every type, lists cut short, shapes that do not fit."""

import struct

import numpy as np
import pytest

from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.tensorboard.tensor_proto import (
    TYPES,
    numbers,
    shape_of,
    single_number,
    tensor_fields,
)
from mindinsight.writer.encoding.wire import block as message
from mindinsight.writer.encoding.wire import integer, varint


def shape(*sizes: int) -> bytes:
    return b"".join(message(2, integer(1, size)) for size in sizes)


def tensor(dtype: int, sizes: tuple[int, ...], body: bytes) -> bytes:
    return integer(1, dtype) + message(2, shape(*sizes)) + body


def read(data: bytes) -> np.ndarray:
    return numbers(data, tensor_fields(data, 0, len(data)))


@pytest.mark.parametrize("dtype", [number for number, (kind, _) in TYPES.items() if kind != "O"])
def test_content_is_the_numbers_bit_for_bit(dtype: int) -> None:
    values = np.arange(6).astype(TYPES[dtype][0])
    array = read(tensor(dtype, (2, 3), message(4, values.tobytes())))
    assert (array.dtype, array.tobytes()) == (values.dtype, values.tobytes())


@pytest.mark.parametrize(
    ("dtype", "field", "content", "expected"),
    [
        (1, 5, struct.pack("<2f", 1.5, -2), [1.5, -2]),
        (2, 6, struct.pack("<2d", 1e300, 0), [1e300, 0]),
        (3, 7, varint(7) + varint(-1), [7, -1]),
        (9, 10, varint(1 << 40) + varint(-5), [1 << 40, -5]),
        (10, 11, varint(1) + varint(0), [True, False]),
        (8, 9, struct.pack("<4f", 1, 2, 3, 4), [1 + 2j, 3 + 4j]),
        (19, 13, varint(0x3C00) + varint(0xC000), [1, -2]),
        (19, 13, varint(0x3F800000) + varint(0xC0000000), [1, -2]),  # torch puts the bits of float32 there
        (14, 13, varint(0x3F80) + varint(0xC000), [0x3F80, 0xC000]),
    ],
)
def test_lists_of_values(dtype: int, field: int, content: bytes, expected: list[complex]) -> None:
    assert read(tensor(dtype, (2,), message(field, content))).tolist() == expected


def test_a_list_goes_on_with_its_last_value_and_an_empty_one_is_zeros() -> None:
    data = tensor(1, (2, 2), message(5, struct.pack("<2f", 1, 7)))
    assert read(data).tolist() == [1, 7, 7, 7]
    assert read(tensor(3, (3,), b"")).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (tensor(1, (3,), message(4, bytes(8))), "payload.shape"),
        (tensor(1, (1,), message(5, bytes(8))), "payload.shape"),
        (tensor(1, (-1,), b""), "payload.shape"),
        (tensor(7, (1,), message(8, b"text")), "payload.shape"),
        (tensor(99, (1,), b""), "payload.shape"),
        (tensor(2, (1 << 40,), b""), "payload.too_large"),
    ],
)
def test_what_does_not_fit_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        read(data)
    assert raised.value.reason == reason


def test_sizes_that_are_not_known_and_those_left_out() -> None:
    data = shape(-1, 3) + message(2, b"")
    assert shape_of(data, 0, len(data)) == (-1, 3, 0)


def test_a_single_number_is_where_it_lies_or_what_it_is() -> None:
    data = tensor(1, (), message(4, struct.pack("<f", 2.5)))
    span = single_number(data, tensor_fields(data, 0, len(data)))
    assert isinstance(span, tuple)
    assert struct.unpack("<f", data[slice(*span)]) == (2.5,)
    for dtype, body, expected in (
        (3, message(7, varint(-4)), -4.0),
        (14, message(4, b"\x80\x3f"), 1.0),
        (1, message(4, bytes(8)), None),
    ):
        data = tensor(dtype, (), body)
        assert single_number(data, tensor_fields(data, 0, len(data))) == expected
