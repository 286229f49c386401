"""Recorded tensors by parts: the same values as read whole, without ever being held whole."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import DataType, TensorProto
from mindinsight.server.formats.arrays.stored import Held
from mindinsight.server.formats.payloads import recorded, tensor
from mindinsight.server.formats.unreadable import UnreadableError

BEFORE = b"what else is in the file"
MODULE = "mindinsight.server.formats.payloads.by_parts"


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
    monkeypatch.setattr(f"{MODULE}.MOST", 32)
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
