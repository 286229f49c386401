"""Lazy reader of a recorded tensor in its event file: described at once, its numbers read on demand.

A message may hold two gigabytes of numbers. They lie in one stretch, as they are in memory, so a part of
them is read like a part of a file; only messages up to ``WHOLE`` bytes are read as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import numpy as np
from google.protobuf.message import DecodeError

from mindinsight.proto.graph_pb2 import TensorProto
from mindinsight.server.formats.arrays.element_types import Array, count_of
from mindinsight.server.formats.arrays.stored import Held, Stored, Values, stored_as
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.payloads.tensors import DOUBLES, FLOATS, RAW, as_recorded, tensor, type_name
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, read_varint

WHOLE: Final = 8 << 20  # bytes of a message that is read as one
MOST: Final = 256 << 20  # bytes of one that must be, because its numbers are packed or in several stretches
_KEY: Final = 20  # bytes a key and a length take at most
_FIELDS: Final = 256  # of a message that is read by parts
_BLOCKS: Final = {FLOATS[0]: "float32", DOUBLES[0]: "float64", RAW[0]: ""}


@dataclass(frozen=True, slots=True)
class Recorded:
    """Lazy tensor, read by parts. Reading may raise ``UnreadableError`` at any time: files change."""

    values: Values
    data_type: str  # DT_FLOAT32, DT_BFLOAT16, ...; the number for a type that is not known

    @property
    def dtype(self) -> str:
        """The recorded type as NumPy calls it."""
        return self.data_type.removeprefix("DT_").lower()


@dataclass(frozen=True, slots=True)
class _Block:
    """Number field of a message: its key, offset and size in the file."""

    key: int
    at: int
    size: int


@dataclass(frozen=True, slots=True)
class _Cast:
    """Lazy cast of numbers that are stored in a wider type than they were recorded in."""

    stored: Stored
    dtype: np.dtype[np.generic]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.stored.shape

    def pieces(self) -> Iterator[Array]:
        return (piece.astype(self.dtype) for piece in self.stored.pieces())

    def part(self, window: Sequence[slice | int]) -> Array:
        return self.stored.part(window).astype(self.dtype)


def recorded(path: Path, offset: int, size: int) -> Recorded:
    """Open the tensor of a message in a file. Raises UnreadableError, also when shape and data disagree."""
    with opened(path) as file:
        if size > WHOLE:
            lazy = _by_parts(file, path, offset, size)
            if lazy is not None:
                return lazy
        if size > MOST:
            raise UnreadableError("dump.too_large", f"a tensor of {size} bytes that cannot be read by parts")
        file.seek(offset)
        payload = file.read(size)
    return recorded_whole(payload)


def recorded_whole(payload: bytes) -> Recorded:
    """The tensor of a message in memory. Raises UnreadableError."""
    whole = tensor(payload)
    return Recorded(Held(whole.values), whole.data_type)


def _by_parts(file: IO[bytes], path: Path, offset: int, size: int) -> Recorded | None:
    """None where its numbers do not lie in one stretch."""
    try:
        rest, blocks = _fields(file, offset, offset + size)
        message = TensorProto.FromString(rest)
    except (UnparsableError, DecodeError) as error:
        raise UnreadableError("payload.unparsable", f"tensor: {error}") from error
    if len(blocks) != 1 or message.int32_data or message.int64_data or message.uint64_data:
        return None
    (block,), shape, name = blocks, tuple(message.dims), type_name(message.data_type)
    kind = _BLOCKS[block.key] or name.removeprefix("DT_").lower()
    values = stored_as(path, block.at, shape, kind)
    if values is None:
        return None
    needed = count_of(shape) * values.item.itemsize
    if needed > block.size or (needed != block.size and block.key != RAW[0]):
        raise UnreadableError("payload.shape", f"tensor of shape {shape} in {block.size} bytes of {kind}")
    return Recorded(values if block.key == RAW[0] else _in_its_type(values, name), name)


def _fields(file: IO[bytes], at: int, end: int) -> tuple[bytes, list[_Block]]:
    """The message without its stretches of numbers, and these; nothing where there is more to it."""
    message = b""
    blocks: list[_Block] = []
    while at < end and len(blocks) < _FIELDS:
        file.seek(at)
        head = file.read(min(_KEY, end - at))
        key, inner = read_varint(head, 0, len(head))
        if key & 7 == 2:
            length, inner = read_varint(head, inner, len(head))
            after = at + inner + length
        elif key & 7 == 0:
            after = at + read_varint(head, inner, len(head))[1]
        else:  # numbers one by one, or nothing that we know
            return b"", []
        if after > end:
            raise UnparsableError("field too long")
        if key in _BLOCKS:
            blocks.append(_Block(key, at + inner, after - at - inner))
        elif after - at + len(message) > WHOLE:
            return b"", []
        else:
            file.seek(at)
            message += file.read(after - at)
        at = after
    return message, [block for block in blocks if block.size]


def _in_its_type(values: Stored, name: str) -> Values:
    """As ``as_recorded`` has it: in the type it was recorded with, if every number is the same in it."""
    kinds = {as_recorded(piece, name).dtype for piece in values.pieces()} if name != "DT_FLOAT32" else set()
    narrower = len(kinds) == 1 and kinds != {values.dtype}
    return _Cast(values, kinds.pop()) if narrower else values
