"""Decoder of TensorProto, whole or in parts."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import DataType, TensorProto
from mindinsight.server.formats.arrays.element_types import Array, count_of, decode
from mindinsight.server.formats.arrays.lazy_array import Held, Stored, Values, stored_as
from mindinsight.server.formats.file_bytes import FileBytes, opened
from mindinsight.server.formats.read_limits import Limits, UnreadableError, unreadable
from mindinsight.server.formats.wire_format import Octets, UnparsableError, message_fields

# Keys of the fields of fixed width, packed (as all known writers do) and not packed.
FLOATS: Final = (3 << 3 | 2, 3 << 3 | 5)
DOUBLES: Final = (6 << 3 | 2, 6 << 3 | 1)
RAW: Final = (8 << 3 | 2,)
_TENSOR_BLOCKS: Final = {*FLOATS, *DOUBLES, *RAW}
_NUMPY_TYPES: Final = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    + ("float16", "float32", "float64")
)
_INTEGERS: Final = ("int32_data", "int64_data", "uint64_data")


@dataclass(frozen=True, slots=True)
class Tensor:
    """Tensor with the recorded shape and, where that is lossless, the recorded type.

    MindSpore records every type as float32. Numbers that float32 rounded, or moved beyond the range of their
    own type, stay float32. Types that NumPy lacks are widened (bfloat16 to float32).
    """

    values: npt.NDArray[Any]
    data_type: str  # DT_FLOAT32, DT_BFLOAT16, ...; the number for a type that is not known

    @property
    def dtype(self) -> str:
        """Return the NumPy name of the recorded type."""
        return self.data_type.removeprefix("DT_").lower()

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the recorded shape."""
        return self.values.shape


def tensor(payload: bytes) -> Tensor:
    """Decode a tensor message. Raises UnreadableError, also if shape and data contradict each other.
    ``raw_data`` takes precedence over number fields, because it is exact."""
    with unreadable("payload.unparsable", "tensor", UnparsableError, DecodeError):
        rest, spans = _split(payload, 0, len(payload))
        message = TensorProto.FromString(rest)
    blocks = [(key, payload[start:end]) for key, start, end in spans]
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
    """Return an array reshaped. Raises UnreadableError for shapes that NumPy lacks: 2**62 x 0, a hundred
    axes."""
    with unreadable("payload.shape", f"tensor of shape {shape}", ValueError):
        return flat.reshape(shape)


def _split(data: Octets, at: int, end: int) -> tuple[bytes, list[tuple[int, int, int]]]:
    """Return a tensor message without its blocks of numbers, and key, start and end of each block."""
    rest, blocks = [], []
    for key, start, stop in message_fields(data, at, end):
        if key in _TENSOR_BLOCKS:
            blocks.append((key, start, stop))
        else:
            rest.append(data[at:stop])
        at = stop
    return b"".join(rest), blocks


def _joined(blocks: list[tuple[int, bytes]], keys: tuple[int, ...]) -> bytes:
    """Return the joined bytes of the blocks with one of the keys."""
    return b"".join(block for key, block in blocks if key in keys)


def _numbers(message: TensorProto, blocks: list[tuple[int, bytes]]) -> npt.NDArray[Any]:
    """Return the numbers of a tensor from the first field that holds some. Raises UnreadableError."""
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
    """Return the name of a data type, or ``DT_`` and its number if it is unknown."""
    try:
        return str(DataType.Name(number))
    except ValueError:
        return f"DT_{number}"


def as_recorded(flat: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Return ``flat`` cast to the type ``name`` if every number stays the same, otherwise unchanged."""
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


WHOLE: Final = 8 << 20  # bytes up to which a message is read whole
MAX_WHOLE: Final = 256 << 20  # bytes of one that must be, because its numbers are in several sections
# Bytes of keys and lengths in a message that is read in parts, whose numbers are packed.
_KEYS: Final = 1 << 12
_BLOCKS: Final = {FLOATS[0]: "float32", DOUBLES[0]: "float64", RAW[0]: ""}


@dataclass(frozen=True, slots=True)
class Recorded:
    """Recorded tensor whose values are read from the file in parts, when they are used. Reading may raise
    UnreadableError at any time, because files change."""

    values: Values
    data_type: str  # DT_FLOAT32, DT_BFLOAT16, ...; the number for a type that is not known

    @property
    def dtype(self) -> str:
        """Return the NumPy name of the recorded type."""
        return self.data_type.removeprefix("DT_").lower()


@dataclass(frozen=True, slots=True)
class _Cast:
    """Lazy cast of numbers that are stored in a wider type than the recorded one."""

    stored: Stored
    dtype: np.dtype[np.generic]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the stored values."""
        return self.stored.shape

    def pieces(self) -> Iterator[Array]:
        """Yield all elements in parts, cast."""
        return (piece.astype(self.dtype) for piece in self.stored.pieces())

    def part(self, window: Sequence[slice | int]) -> Array:
        """Return a part of the array, cast."""
        return self.stored.part(window).astype(self.dtype)


def recorded(path: Path, offset: int, size: int) -> Recorded:
    """Return the tensor of the message at ``offset`` in a file, read in parts if it is large. Raises
    UnreadableError, also if shape and data contradict each other."""
    with opened(path) as file:
        if size > WHOLE:
            lazy = _by_parts(file, path, offset, size)
            if lazy is not None:
                return lazy
        if size > MAX_WHOLE:
            raise UnreadableError("dump.too_large", f"a tensor of {size} bytes that cannot be read in parts")
        file.seek(offset)
        payload = file.read(size)
    return recorded_whole(payload)


def recorded_whole(payload: bytes) -> Recorded:
    """Decode the tensor message in memory. Raises UnreadableError."""
    whole = tensor(payload)
    return Recorded(Held(whole.values), whole.data_type)


def _by_parts(file: IO[bytes], path: Path, offset: int, size: int) -> Recorded | None:
    """Return a lazy tensor, or None if its numbers are not one section of the file."""
    data = FileBytes(file, Limits("tensor", WHOLE, _KEYS))
    with unreadable("payload.unparsable", "tensor", UnparsableError, DecodeError, EOFError):
        try:
            rest, spans = _split(data, offset, offset + size)
        except UnreadableError:  # numbers one by one, or too much beside them
            return None
        message = TensorProto.FromString(rest)
    blocks = [(key, start, end - start) for key, start, end in spans if end > start]
    if len(blocks) != 1 or message.int32_data or message.int64_data or message.uint64_data:
        return None
    (key, start, length), shape, name = blocks[0], tuple(message.dims), type_name(message.data_type)
    kind = _BLOCKS.get(key, "") or name.removeprefix("DT_").lower()
    values = stored_as(path, start, shape, kind) if key in _BLOCKS else None
    if values is None:
        return None
    needed = count_of(shape) * values.item.itemsize
    if needed > length or (needed != length and key != RAW[0]):
        raise UnreadableError("payload.shape", f"tensor of shape {shape} in {length} bytes of {kind}")
    return Recorded(values if key == RAW[0] else _in_its_type(values, name), name)


def _in_its_type(values: Stored, name: str) -> Values:
    """Return lazy values cast to the recorded type if that changes no number, otherwise as stored."""
    kinds = {as_recorded(piece, name).dtype for piece in values.pieces()} if name != "DT_FLOAT32" else set()
    narrower = len(kinds) == 1 and kinds != {values.dtype}
    return _Cast(values, kinds.pop()) if narrower else values
