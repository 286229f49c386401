import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mindinsight.server.formats.arrays.element_types import (
    canonical,
    count_of,
    decode,
    element_type,
    widen_bfloat16,
)
from mindinsight.server.formats.read_limits import UnreadableError

PLAIN = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


def raw(array: Any) -> Any:
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


@given(st.data(), st.sampled_from(PLAIN), SHAPES)
def test_numpys_own_types_come_back_bit_for_bit(data: Any, name: Any, shape: Any) -> None:
    array = data.draw(hnp.arrays(name, shape))
    result = decode(raw(array), name, shape)
    assert result.dtype == array.dtype
    assert result.shape == shape
    assert result.tobytes() == array.tobytes()


@given(hnp.arrays("u2", SHAPES))
def test_bfloat16_is_the_high_half_of_a_float32(halves: Any) -> None:
    result = decode(raw(halves), "bfloat16", halves.shape)
    assert result.dtype == np.float32
    assert result.shape == halves.shape
    assert (np.frombuffer(result.tobytes(), "<u4") >> 16).tolist() == halves.reshape(-1).tolist()
    assert (np.frombuffer(result.tobytes(), "<u4") & 0xFFFF).sum() == 0


def test_widening_keeps_special_values() -> None:
    result = widen_bfloat16(np.array([0x7F80, 0xFF80, 0x8000, 0x7FC0, 0x3FC0], "<u2"))
    assert result[:2].tolist() == [math.inf, -math.inf]
    assert math.copysign(1, result[2]) == -1
    assert math.isnan(result[3])
    assert result[4] == 1.5


@given(st.lists(st.integers(-8, 7), max_size=9))
def test_int4_lies_low_nibble_first(values: Any) -> None:
    padded = [*values, 0][: len(values) + len(values) % 2]
    packed = [(a & 15) | (b & 15) << 4 for a, b in zip(padded[::2], padded[1::2], strict=True)]
    result = decode(np.array(packed, np.uint8), "int4", (len(values),))
    assert result.dtype == np.int8
    assert result.tolist() == values


def test_uint4_and_uint1() -> None:
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
def test_small_floats(name: str, pattern: int, value: Any) -> None:
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
def test_what_is_no_number_among_small_floats(name: str, patterns: Any) -> None:
    values = decode(np.arange(256, dtype=np.uint8), name, (256,))
    assert np.isnan(values[patterns]).all()
    assert np.isnan(values).sum() == {"float8_e4m3fn": 2, "float8_e5m2": 6}.get(name, 1)


def test_complex_numbers_of_two_halves() -> None:
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
def test_spellings(text: str, name: str) -> None:
    assert canonical(text) == name


def test_unknown_types_are_named() -> None:
    with pytest.raises(UnreadableError, match=r"dump.unknown_dtype: int2"):
        element_type("int2")


def test_too_few_bytes_are_said() -> None:
    with pytest.raises(UnreadableError, match=r"dump.truncated.*needs 12 bytes, found 11"):
        decode(np.zeros(11, np.uint8), "float32", (3,))


@pytest.mark.parametrize("shape", [(-1,), (1,) * 33, (2, -3)])
def test_no_shape(shape: Any) -> None:
    with pytest.raises(UnreadableError, match=r"dump.bad_shape"):
        count_of(shape)


def test_an_empty_array_with_an_axis_beyond_reach() -> None:
    with pytest.raises(UnreadableError, match=r"dump.bad_shape"):
        decode(np.empty(0, np.uint8), "float32", (0, 1 << 62, 1 << 62))


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        *[(0x00, 0.0), (0x01, 2.0**-22), (0x07, 2.0**-16), (0x08, 1.0), (0x09, 1.125), (0x0F, 1.875)],
        *[(0x10, 2.0), (0x17, 3.75), (0x18, 0.5), (0x1F, 0.9375), (0x20, 4.0), (0x30, 0.25), (0x40, 16.0)],
        *[(0x50, 2.0**-4), (0x5F, 1.75 * 2.0**-7), (0x60, 256.0), (0x6D, 1.5 * 2.0**14), (0x6E, 2.0**15)],
        *[(0x70, 2.0**-8), (0x7F, 1.5 * 2.0**-15), (0x6F, math.inf), (0xEF, -math.inf), (0x88, -1.0)],
    ],
)
def test_hifloat8(pattern: Any, value: Any) -> None:
    assert decode(np.array([pattern], np.uint8), "hifloat8", (1,)).tolist() == [value]


def test_hifloat8_has_one_nan_one_zero_and_no_value_twice() -> None:
    values = decode(np.arange(256, dtype=np.uint8), "HiFloat8", (256,))
    assert np.flatnonzero(np.isnan(values)).tolist() == [0x80]
    assert np.flatnonzero(values == 0).tolist() == [0]
    assert len(np.unique(values[~np.isnan(values)])) == 255
    np.testing.assert_array_equal(values[0x81:], -values[1:0x80])


@pytest.mark.parametrize(
    ("name", "pattern", "value"),
    [
        *[("float6_e3m2", 0x01, 0.0625), ("float6_e3m2", 0x04, 0.25), ("float6_e3m2", 0x1F, 28)],
        *[("float6_e2m3", 0x01, 0.125), ("float6_e2m3", 0x1F, 7.5), ("float6_e2m3", 0x3F, -7.5)],
        ("float6_e3m2", 0xE1, -0.0625),  # the two high bits say nothing
    ],
)
def test_floats_of_six_bits_take_a_byte_each(name: Any, pattern: Any, value: Any) -> None:
    assert decode(np.array([pattern], np.uint8), name, (1,)).tolist() == [value]


def test_float4_e1m2_counts_in_quarters() -> None:
    result = decode(np.array([0x10, 0x72, 0x9F], np.uint8), "float4_e1m2", (6,))
    assert result.tolist() == [0, 0.25, 0.5, 1.75, -1.75, -0.25]


@pytest.mark.parametrize("name", ["int2", "uint2", "variant", "string_ref"])
def test_types_whose_bytes_nobody_describes_are_named_and_not_guessed(name: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        decode(np.zeros(8, np.uint8), name, (2,))
    assert (raised.value.reason, raised.value.detail) == ("dump.unknown_dtype", name)
