"""TensorProto to arrays: every type, exact where the bytes are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import DataType, TensorProto
from mindinsight.server.formats.payloads import tensor
from mindinsight.server.formats.unreadable import UnreadableError

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NAMES = ["bool", *INTEGERS, "float16", "float32", "float64"]


def extremes(name: str) -> np.ndarray:
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.array([[True, False]])
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    special = [np.nan, np.inf, -np.inf] if dtype.kind == "f" else [1, 2, 3]
    return np.array([[limits.min, limits.max, 7], special], dtype)


def message(name: str, values: np.ndarray, **fields: Any) -> bytes:
    number = DataType.Value(f"DT_{name.upper()}")
    return TensorProto(dims=values.shape, data_type=number, **fields).SerializeToString()


@pytest.mark.parametrize("name", NAMES)
def test_raw_bytes_are_exact(name: str) -> None:
    values = extremes(name)
    result = tensor(message(name, values, raw_data=values.astype(values.dtype.newbyteorder("<")).tobytes()))
    assert (result.dtype, result.data_type, result.shape) == (name, f"DT_{name.upper()}", values.shape)
    assert result.values.dtype == values.dtype
    assert result.values.tobytes() == values.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_float_data_take_the_recorded_type_if_that_changes_nothing(name: str) -> None:
    values = np.array([0, 1, 1], name)
    result = tensor(message(name, values, float_data=values.astype(np.float32)))
    assert (result.values.dtype, result.values.tolist()) == (np.dtype(name), values.tolist())


@pytest.mark.parametrize(
    ("name", "number"),
    [("int64", 2**63), ("uint64", 2**64), ("uint8", -1), ("int8", 128), ("int32", np.nan), ("int16", 0.5)],
)
def test_float_data_out_of_the_range_of_their_type_stay_as_they_are(name: str, number: float) -> None:
    values = np.array([number, 0], np.float32)
    result = tensor(message(name, values, float_data=values))
    assert result.values.dtype == np.float32
    np.testing.assert_array_equal(result.values, values)


@pytest.mark.parametrize(
    ("field", "name", "numbers"),
    [
        ("int32_data", "int32", [-(2**31), 2**31 - 1]),
        ("int64_data", "int64", [-(2**63), 2**63 - 1]),
        ("uint64_data", "uint64", [0, 2**64 - 1]),
        ("double_data", "float64", [1e300, -0.1]),
        ("int32_data", "int8", [-128, 127]),
    ],
)
def test_other_number_fields(field: str, name: str, numbers: list[Any]) -> None:
    values = np.array(numbers, name)
    result = tensor(message(name, values, **{field: numbers}))
    assert (result.values.dtype, result.values.tolist()) == (values.dtype, numbers)


def test_bfloat16_is_widened() -> None:
    result = tensor(message("bfloat16", np.empty(2), raw_data=np.array([0x3F80, 0xC040], "<u2").tobytes()))
    assert (result.dtype, result.values.tolist()) == ("bfloat16", [1.0, -3.0])


def test_unpacked_numbers_as_older_writers_have_them() -> None:
    payload = b"\x08\x02\x10\x0b" + b"".join(b"\x1d" + np.float32(value).tobytes() for value in (1.5, -2.5))
    assert tensor(payload).values.tolist() == [1.5, -2.5]


@pytest.mark.parametrize("shape", [(), (0, 3), (1, 1, 1, 2)])
def test_shapes(shape: tuple[int, ...]) -> None:
    values = np.zeros(shape, np.float32)
    assert tensor(message("float32", values, float_data=values.ravel())).shape == shape


def test_unknown_type_keeps_its_number() -> None:
    result = tensor(TensorProto(dims=[1], data_type=321, float_data=[4.0]).SerializeToString())
    assert (result.data_type, result.values.tolist()) == ("DT_321", [4.0])


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (TensorProto(dims=[3], data_type=11, float_data=[1.0]).SerializeToString(), "payload.shape"),
        (TensorProto(dims=[-1], data_type=11).SerializeToString(), "payload.shape"),
        (TensorProto(dims=[2**62, 0], data_type=11).SerializeToString(), "payload.shape"),
        (TensorProto(dims=[1] * 100, data_type=11, float_data=[1.0]).SerializeToString(), "payload.shape"),
        (TensorProto(dims=[2], data_type=12, raw_data=b"123").SerializeToString(), "dump.truncated"),
        (TensorProto(dims=[1], data_type=321, raw_data=b"1234").SerializeToString(), "dump.unknown_dtype"),
        (b"\x08\x01\x10\x0b\x1a\x03abc", "payload.unparsable"),
        (b"\x08\x01\x1a\x7f", "payload.unparsable"),
        (b"\xff\xff", "payload.unparsable"),
    ],
)
def test_what_is_no_tensor_is_refused(payload: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        tensor(payload)
    assert caught.value.reason == reason
