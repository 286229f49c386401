"""Decoder of TensorProto: an array with the type and shape it was recorded with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import DataType, TensorProto
from mindinsight.server.formats.arrays.element_types import decode
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

# Fields of fixed width, packed (as everybody writes them) and not: (number, wire type) in the bytes.
FLOATS: Final = (3 << 3 | 2, 3 << 3 | 5)
DOUBLES: Final = (6 << 3 | 2, 6 << 3 | 1)
RAW: Final = (8 << 3 | 2,)
_BLOCKS: Final = {*FLOATS, *DOUBLES, *RAW}
_NUMPY_TYPES: Final = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    + ("float16", "float32", "float64")
)
_INTEGERS: Final = ("int32_data", "int64_data", "uint64_data")


@dataclass(frozen=True, slots=True)
class Tensor:
    """``values`` has the recorded shape and, where that loses nothing, the recorded type.

    MindSpore keeps every type as float32: numbers that float32 has rounded or pushed beyond the range of
    their own type stay float32. Types that NumPy lacks are widened (bfloat16 to float32).
    """

    values: npt.NDArray[Any]
    data_type: str  # DT_FLOAT32, DT_BFLOAT16, ...; the number for a type that is not known

    @property
    def dtype(self) -> str:
        """The recorded type as NumPy calls it."""
        return self.data_type.removeprefix("DT_").lower()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape


def tensor(payload: bytes) -> Tensor:
    """Decode a tensor message; ``raw_data`` takes precedence over number fields, as it is exact.

    Raises UnreadableError, also when shape and data do not agree.
    """
    try:
        rest, blocks = _split(payload)
        message = TensorProto.FromString(rest)
    except (UnparsableError, DecodeError) as error:
        raise UnreadableError("payload.unparsable", f"tensor: {error}") from error
    shape, name = tuple(message.dims), type_name(message.data_type)
    if any(axis < 0 for axis in shape):
        raise UnreadableError("payload.shape", f"tensor of shape {shape}")
    raw = _joined(blocks, RAW)
    if raw:
        values = decode(np.frombuffer(raw, np.uint8), name.removeprefix("DT_").lower(), shape)
        return Tensor(values, name)
    flat = _numbers(message, blocks)
    if flat.size != math.prod(shape):
        raise UnreadableError("payload.shape", f"tensor of shape {shape} with {flat.size} elements")
    return Tensor(_in_shape(as_recorded(flat, name), shape), name)


def _in_shape(flat: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """NumPy has no array of 2**62 x 0 elements, nor one with a hundred dimensions."""
    try:
        return flat.reshape(shape)
    except ValueError as error:
        raise UnreadableError("payload.shape", f"tensor of shape {shape}: {error}") from error


def _split(payload: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
    """Split a message into the part to be parsed and its large blocks of numbers."""
    rest, blocks, at = [], [], 0
    for key, start, end in message_fields(payload, 0, len(payload)):
        if key in _BLOCKS:
            blocks.append((key, payload[start:end]))
        else:
            rest.append(payload[at:end])
        at = end
    return b"".join(rest), blocks


def _joined(blocks: list[tuple[int, bytes]], keys: tuple[int, ...]) -> bytes:
    return b"".join(block for key, block in blocks if key in keys)


def _numbers(message: TensorProto, blocks: list[tuple[int, bytes]]) -> npt.NDArray[Any]:
    """The one of the number fields that holds something."""
    for keys, dtype in ((FLOATS, "<f4"), (DOUBLES, "<f8")):
        block = _joined(blocks, keys)
        if len(block) % np.dtype(dtype).itemsize:
            raise UnreadableError("payload.unparsable", f"tensor: {len(block)} bytes of {dtype}")
        if block:
            return np.frombuffer(block, dtype)
    for name in _INTEGERS:
        numbers = getattr(message, name)
        if numbers:
            return np.array(numbers, name.removesuffix("_data"))
    return np.empty(0, np.float32)


def type_name(number: int) -> str:
    try:
        return str(DataType.Name(number))
    except ValueError:
        return f"DT_{number}"


def as_recorded(flat: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """``flat`` in the type called ``name``, if every number is the same in it."""
    lower = name.removeprefix("DT_").lower()
    if lower not in _NUMPY_TYPES:
        return flat
    if np.dtype(lower).kind in "iu":
        limits = np.iinfo(lower)
        if not np.all((flat >= limits.min) & (flat < float(limits.max) + 1)):
            return flat
    with np.errstate(over="ignore"):
        cast = flat.astype(lower)
    return cast if np.array_equal(cast, flat, equal_nan=True) else flat
