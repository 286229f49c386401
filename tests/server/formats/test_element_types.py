import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.formats.element_types import canonical, count_of, decode, element_type, widen_bfloat16
from mindinsight.server.formats.unreadable import UnreadableError

PLAIN = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def raw(array):
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


@given(st.data(), st.sampled_from(PLAIN), SHAPES)
def test_numpys_own_types_come_back_bit_for_bit(data, name, shape):
    array = data.draw(hnp.arrays(name, shape))
    found = decode(raw(array), name, shape)
    assert found.dtype == array.dtype
    assert found.shape == shape
    assert found.tobytes() == array.tobytes()


@given(hnp.arrays("u2", SHAPES))
def test_bfloat16_is_the_high_half_of_a_float32(halves):
    found = decode(raw(halves), "bfloat16", halves.shape)
    assert found.dtype == np.float32
    assert found.shape == halves.shape
    assert (np.frombuffer(found.tobytes(), "<u4") >> 16).tolist() == halves.reshape(-1).tolist()
    assert (np.frombuffer(found.tobytes(), "<u4") & 0xFFFF).sum() == 0


def test_widening_keeps_special_values():
    found = widen_bfloat16(np.array([0x7F80, 0xFF80, 0x8000, 0x7FC0, 0x3FC0], "<u2"))
    assert found[:2].tolist() == [math.inf, -math.inf]
    assert math.copysign(1, found[2]) == -1
    assert math.isnan(found[3])
    assert found[4] == 1.5


@given(st.lists(st.integers(-8, 7), max_size=9))
def test_int4_lies_low_nibble_first(values):
    padded = [*values, 0][: len(values) + len(values) % 2]
    packed = [(a & 15) | (b & 15) << 4 for a, b in zip(padded[::2], padded[1::2], strict=True)]
    found = decode(np.array(packed, np.uint8), "int4", (len(values),))
    assert found.dtype == np.int8
    assert found.tolist() == values


def test_uint4_and_uint1():
    assert decode(np.array([0x21, 0x0F], np.uint8), "uint4", (3,)).tolist() == [1, 2, 15]
    assert decode(np.array([0b10110000], np.uint8), "uint1", (4,)).tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("name", "pattern", "value"),
    [
        ("float8_e4m3fn", 0x7E, 448.0),  # largest finite values and least steps of the OCP specification
        ("float8_e4m3fn", 0x01, 2.0**-9),
        ("float8_e4m3fn", 0xB8, -1.0),
        ("float8_e5m2", 0x7B, 57344.0),
        ("float8_e5m2", 0x01, 2.0**-16),
        ("float8_e5m2", 0x7C, math.inf),
        ("float8_e5m2", 0xFC, -math.inf),
        ("float8_e5m2fnuz", 0x7F, 57344.0),
        ("float8_e4m3fnuz", 0x7F, 240.0),
        ("float8_e8m0fnu", 0x7F, 1.0),
        ("float8_e8m0fnu", 0x00, 2.0**-127),
        ("float4_e2m1", 0x07, 6.0),
        ("float4_e2m1", 0x01, 0.5),
        ("float4_e2m1", 0x0A, -1.0),
    ],
)
def test_small_floats(name, pattern, value):
    assert decode(np.array([pattern], np.uint8), name, (1,))[0] == value


@pytest.mark.parametrize(
    ("name", "patterns"),
    [
        ("float8_e4m3fn", [0x7F, 0xFF]),
        ("float8_e5m2", [0x7D, 0x7F, 0xFE]),
        ("float8_e5m2fnuz", [0x80]),
        ("float8_e4m3fnuz", [0x80]),
        ("float8_e8m0fnu", [0xFF]),
    ],
)
def test_what_is_no_number_among_small_floats(name, patterns):
    values = decode(np.arange(256, dtype=np.uint8), name, (256,))
    assert np.isnan(values[patterns]).all()
    assert np.isnan(values).sum() == {"float8_e4m3fn": 2, "float8_e5m2": 6}.get(name, 1)


def test_complex_numbers_of_two_halves():
    halves = np.array([1.5, -2, 0, 4], np.float16)
    assert decode(raw(halves), "complex32", (2,)).tolist() == [1.5 - 2j, 4j]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Float32", "float32"),
        ("torch.bool", "bool"),
        ("BFloat16", "bfloat16"),
        ("half", "float16"),
        ("X", "x"),
    ],
)
def test_spellings(text, name):
    assert canonical(text) == name


def test_unknown_types_are_named():
    with pytest.raises(UnreadableError, match=r"dump.unknown_dtype: hifloat8"):
        element_type("hifloat8")


def test_too_few_bytes_are_said():
    with pytest.raises(UnreadableError, match=r"dump.truncated.*needs 12 bytes, found 11"):
        decode(np.zeros(11, np.uint8), "float32", (3,))


@pytest.mark.parametrize("shape", [(-1,), (1,) * 33, (2, -3)])
def test_no_shape(shape):
    with pytest.raises(UnreadableError, match=r"dump.bad_shape"):
        count_of(shape)


def test_an_empty_array_with_an_axis_beyond_reach():
    with pytest.raises(UnreadableError, match=r"dump.bad_shape"):
        decode(np.empty(0, np.uint8), "float32", (0, 1 << 62, 1 << 62))
