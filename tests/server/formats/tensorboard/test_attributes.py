"""Attributes of TensorFlow's nodes as MindSpore's values: each field of AttrValue, alone and in a list."""

import struct

import pytest

from mindinsight.proto.graph_pb2 import ValueProto
from mindinsight.server.formats.tensorboard.attributes import add_attribute, list_shapes, read_type
from mindinsight.server.formats.tensorboard.wire_writer import integer, message, varint

SHAPE = message(2, integer(1, 2)) + message(2, integer(1, -1))


def single(number: float) -> bytes:
    return varint(4 << 3 | 5) + struct.pack("<f", number)


def read(data: bytes) -> ValueProto:
    value = ValueProto()
    add_attribute(value, data, 0, len(data))
    return value


def test_numbers_and_flags_keep_their_type() -> None:
    assert read(integer(3, -7)).int_val == -7
    assert read(single(0.5)).float_val == 0.5
    assert read(integer(5, 1)).bool_val is True


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (message(2, b"SAME"), "SAME"),
        (message(2, b"\xff"), "\\xff"),
        (integer(6, 1), "float32"),
        (integer(6, 99), "99"),
        (message(7, SHAPE), "[2, -1]"),
        (message(8, integer(1, 1) + message(2, SHAPE)), "float32 [2, -1]"),
        (message(10, message(1, b"cond_true")), "cond_true"),
        (message(10, b""), ""),
    ],
)
def test_the_others_become_text(data: bytes, expected: str) -> None:
    assert read(data).str_val == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (message(2, b"a") + message(2, b"b"), ["a", "b"]),
        (message(3, varint(1) + varint(-2)), ["1", "-2"]),  # packed
        (integer(3, 1) + integer(3, -2), ["1", "-2"]),
        (message(4, struct.pack("<2f", 0.1, 2)), ["0.100000001", "2"]),
        (message(5, varint(1) + varint(0)), ["True", "False"]),
        (message(6, varint(3)), ["int32"]),
        (message(7, SHAPE) + message(7, b""), ["[2, -1]", "[]"]),
    ],
)
def test_lists_are_texts_packed_or_not(data: bytes, expected: list[str]) -> None:
    assert list(read(message(1, data)).str_vals) == expected


def test_a_list_without_end_is_cut() -> None:
    assert len(read(message(1, message(3, b"\x01" * 5000))).str_vals) == 1000


def test_shapes_and_types_of_outputs() -> None:
    shapes = message(1, message(7, SHAPE) + message(7, b""))
    assert list_shapes(shapes, 0, len(shapes)) == [(2, -1), ()]
    assert read_type(integer(6, 19), 0, 2) == "DT_FLOAT16"
    assert read_type(b"", 0, 0) == ""
