"""Recorded tensors by parts: the same values as read whole, without ever being held whole."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import DataType, TensorProto
from mindinsight.server.formats.arrays.lazy_array import Held
from mindinsight.server.formats.payloads.tensor_payloads import recorded, tensor
from mindinsight.server.formats.read_limits import UnreadableError

BEFORE = b"what else is in the file"
MODULE = "mindinsight.server.formats.payloads.tensor_payloads"


@pytest.fixture
def by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages of any size are read by parts, where they can be."""
    monkeypatch.setattr(f"{MODULE}.WHOLE", 16)


def message(name: str, shape: tuple[int, ...], **fields: Any) -> bytes:
    number = DataType.Value(f"DT_{name.upper()}")
    return TensorProto(dims=shape, data_type=number, **fields).SerializeToString()


def written(folder: Path, payload: bytes) -> tuple[Path, int, int]:
    path = folder / "events"
    path.write_bytes(BEFORE + payload + BEFORE)
    return path, len(BEFORE), len(payload)


VALUES = np.arange(60, dtype=np.float32).reshape(3, 4, 5) - 7
MESSAGES = {
    "floats": message("float32", VALUES.shape, float_data=VALUES.ravel()),
    "raw": message("float32", VALUES.shape, raw_data=VALUES.tobytes()),
    "doubles": message("float64", VALUES.shape, double_data=VALUES.ravel() / 3),
    "integers as floats": message("int32", VALUES.shape, float_data=VALUES.ravel()),
    "too large for their type": message("uint8", VALUES.shape, float_data=VALUES.ravel()),
    "half": message("float16", VALUES.shape, raw_data=VALUES.astype(np.float16).tobytes()),
    "bfloat16": message("bfloat16", VALUES.shape, raw_data=VALUES.tobytes()[2:122]),
    "one number": message("float32", (), float_data=[1.5] * 1) + b"\x22\x00" * 20,
    "nothing after the shape": message("float32", (0, 3)) + b"\x22\x00" * 20,
    "packed integers": message("int64", (40,), int64_data=range(40)),
    "one by one": b"\x08\x06\x10\x0b" + b"\x1d\x00\x00\x80\x3f" * 6,
    "two stretches": message("float32", (8,), float_data=range(4))
    + TensorProto(float_data=range(4)).SerializeToString(),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_parts_are_those_of_the_whole(tmp_path: Path, by_parts: None, name: str) -> None:
    payload = MESSAGES[name]
    known = tensor(payload)
    result = recorded(*written(tmp_path, payload))
    assert (result.dtype, result.data_type, result.values.shape) == (
        known.dtype,
        known.data_type,
        known.shape,
    )
    assert result.values.dtype == known.values.dtype
    np.testing.assert_array_equal(result.values.part([slice(None)] * len(known.shape)), known.values)
    flat = np.concatenate([np.empty(0, known.values.dtype), *result.values.pieces()])
    np.testing.assert_array_equal(flat, known.values.ravel())


@pytest.mark.parametrize("name", ["floats", "raw", "doubles", "integers as floats", "half", "bfloat16"])
def test_what_lies_in_one_stretch_is_not_read_whole(tmp_path: Path, by_parts: None, name: str) -> None:
    result = recorded(*written(tmp_path, MESSAGES[name]))
    assert not isinstance(result.values, Held)
    window = (1, slice(None, None, 2), slice(4, 1, -1))
    np.testing.assert_array_equal(result.values.part(window), tensor(MESSAGES[name]).values[window])


@pytest.mark.parametrize(
    "payload",
    [
        message("float32", (7, 9), float_data=VALUES.ravel()),
        message("float32", (2**62, 0), float_data=VALUES.ravel()),
        message("float32", (-60,), float_data=VALUES.ravel()),
        message("float64", (60,), raw_data=VALUES.tobytes()),
        message("float32", VALUES.shape, float_data=VALUES.ravel())[:-3],
        b"\x1a\xff\xff\xff\xff\x0f" + b"0" * 40,
        b"\xff" * 40,
    ],
)
def test_what_is_no_tensor_is_refused(tmp_path: Path, by_parts: None, payload: bytes) -> None:
    with pytest.raises(UnreadableError):
        recorded(*written(tmp_path, payload))


def test_a_message_that_is_too_large_to_be_read_whole_is_refused(
    tmp_path: Path, by_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MODULE}.MAX_WHOLE", 32)
    with pytest.raises(UnreadableError, match="too_large"):
        recorded(*written(tmp_path, MESSAGES["packed integers"]))
    assert recorded(*written(tmp_path, MESSAGES["floats"])).values.shape == VALUES.shape


def test_a_file_that_is_gone_or_cut_short_is_said(tmp_path: Path, by_parts: None) -> None:
    path, offset, size = written(tmp_path, MESSAGES["floats"])
    result = recorded(path, offset, size)
    with path.open("r+b") as file:
        file.truncate(offset + 20)
    with pytest.raises(UnreadableError, match="truncated"):
        list(result.values.pieces())
    path.unlink()
    with pytest.raises(UnreadableError, match="missing"):
        recorded(path, offset, size)


@pytest.mark.slow
def test_a_gigabyte_takes_no_gigabyte(tmp_path: Path) -> None:
    """A file with a hole: as long as it says, and all zeros."""
    shape = (512, 1024, 512)
    size = math.prod(shape) * 4
    head = TensorProto(dims=shape, data_type=DataType.Value("DT_FLOAT32")).SerializeToString() + b"\x1a"
    length = size
    while length >= 0x80:
        head, length = head + bytes([length & 0x7F | 0x80]), length >> 7
    head += bytes([length])
    path = tmp_path / "events"
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    tracemalloc.start()
    try:
        result = recorded(path, 0, len(head) + size)
        assert result.values.part((511, slice(1000, None), slice(None, None, 100))).shape == (24, 6)
        assert result.values.part((slice(None), 5, slice(3))).shape == (512, 3)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NAMES = ["bool", *INTEGERS, "float16", "float32", "float64"]


def extremes(name: str) -> np.ndarray:
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.array([[True, False]])
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    special = [np.nan, np.inf, -np.inf] if dtype.kind == "f" else [1, 2, 3]
    return np.array([[limits.min, limits.max, 7], special], dtype)


def message_of_tensors(name: str, values: np.ndarray, **fields: Any) -> bytes:
    number = DataType.Value(f"DT_{name.upper()}")
    return TensorProto(dims=values.shape, data_type=number, **fields).SerializeToString()


@pytest.mark.parametrize("name", NAMES)
def test_raw_bytes_are_exact(name: str) -> None:
    values = extremes(name)
    result = tensor(
        message_of_tensors(name, values, raw_data=values.astype(values.dtype.newbyteorder("<")).tobytes())
    )
    assert (result.dtype, result.data_type, result.shape) == (name, f"DT_{name.upper()}", values.shape)
    assert result.values.dtype == values.dtype
    assert result.values.tobytes() == values.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_float_data_take_the_recorded_type_if_that_changes_nothing(name: str) -> None:
    values = np.array([0, 1, 1], name)
    result = tensor(message_of_tensors(name, values, float_data=values.astype(np.float32)))
    assert (result.values.dtype, result.values.tolist()) == (np.dtype(name), values.tolist())


@pytest.mark.parametrize(
    ("name", "number"),
    [("int64", 2**63), ("uint64", 2**64), ("uint8", -1), ("int8", 128), ("int32", np.nan), ("int16", 0.5)],
)
def test_float_data_out_of_the_range_of_their_type_stay_as_they_are(name: str, number: float) -> None:
    values = np.array([number, 0], np.float32)
    result = tensor(message_of_tensors(name, values, float_data=values))
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
    result = tensor(message_of_tensors(name, values, **{field: numbers}))
    assert (result.values.dtype, result.values.tolist()) == (values.dtype, numbers)


def test_bfloat16_is_widened() -> None:
    result = tensor(
        message_of_tensors("bfloat16", np.empty(2), raw_data=np.array([0x3F80, 0xC040], "<u2").tobytes())
    )
    assert (result.dtype, result.values.tolist()) == ("bfloat16", [1.0, -3.0])


def test_unpacked_numbers_as_older_writers_have_them() -> None:
    payload = b"\x08\x02\x10\x0b" + b"".join(b"\x1d" + np.float32(value).tobytes() for value in (1.5, -2.5))
    assert tensor(payload).values.tolist() == [1.5, -2.5]


@pytest.mark.parametrize("shape", [(), (0, 3), (1, 1, 1, 2)])
def test_shapes(shape: tuple[int, ...]) -> None:
    values = np.zeros(shape, np.float32)
    assert tensor(message_of_tensors("float32", values, float_data=values.ravel())).shape == shape


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
def test_what_is_no_tensor_is_refused_of_tensors(payload: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        tensor(payload)
    assert caught.value.reason == reason
