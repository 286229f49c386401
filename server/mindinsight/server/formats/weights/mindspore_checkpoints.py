"""Reader of MindSpore checkpoints (``.ckpt``): names, types, shapes and values of the parameters.

The file is one ``Checkpoint`` message (``checkpoint.proto``). Protobuf rejects messages of 2 GiB and copies
every byte it parses, so the fields are walked here and values stay in the file. A tensor of more than 512 MiB
is stored in sections with the same tag. A checked file ends in ``crc_num`` and a CRC-32.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from mindinsight.server.formats.arrays.element_types import Array, canonical, count_of, decode, element_type
from mindinsight.server.formats.arrays.lazy_array import Held, Scattered, Values, stored_as
from mindinsight.server.formats.file_bytes import FileBytes, allocated_bytes, length_of, opened, read_bytes
from mindinsight.server.formats.read_limits import ARRAY, CHECKPOINT, UnreadableError
from mindinsight.server.formats.sanitizer import show_name

MAX_IDLE: Final = 10_000  # fields without content; MindSpore writes none
MAX_AXES: Final = 64  # of a tensor; the limit of NumPy
MAX_TAG: Final = 65_536  # bytes of a name that are read
CRC_MARK: Final = b"crc_num"
CRC_TAIL: Final = 17  # bytes: the mark and a big-endian number of ten bytes
_UNREADABLE_FORMATS: Final = {  # first four bytes of encrypted and compressed checkpoints
    b"\xd8\x5e\x3a\x7f": "dump.encrypted",  # AES-GCM
    b"\xd9\x5e\x3a\x7f": "dump.encrypted",  # AES-CBC
    b"\x28\xb5\x2f\xfd": "dump.compressed",  # zstd
    b"\x1f\x8b\x08\x00": "dump.compressed",  # gzip
    b"\x1f\x8b\x08\x08": "dump.compressed",
}


@dataclass(slots=True)
class CheckpointTensor:
    """One tensor of a checkpoint. Its values are stored in sections, in order."""

    dtype: str  # canonical; "str" for text
    shape: tuple[int, ...]
    pieces: list[tuple[int, int]] = field(default_factory=list)  # (offset, size) in the file

    @property
    def size(self) -> int:
        """Return the size of the stored values in bytes."""
        return sum(size for _, size in self.pieces)


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """Tensors of a checkpoint by name, in the order they were saved."""

    path: Path
    tensors: dict[str, CheckpointTensor]
    checksum: int | None  # recorded CRC-32; None if there is none
    damage: tuple[UnreadableError, ...] = ()


class _Field(NamedTuple):
    """Field of a message: a varint or the span of its bytes."""

    number: int
    value: int  # of a varint field
    start: int  # of a field of bytes
    end: int


def open_checkpoint(path: Path) -> CheckpointFile:
    """List the tensors of a checkpoint.

    A truncated end is reported in ``damage``.

    Raises UnreadableError for a file that is not a checkpoint, and for an encrypted or compressed one.
    """
    with opened(path) as file:
        start = file.read(4)
        if start in _UNREADABLE_FORMATS:
            raise UnreadableError(_UNREADABLE_FORMATS[start], str(path))
        return _list_tensors(path, FileBytes(file))


def read_checkpoint(file: CheckpointFile, name: str) -> Array:
    """Read one tensor, a text as a 0-d array of characters. Raises UnreadableError."""
    tensor = file.tensors.get(name)
    if tensor is None:
        raise UnreadableError("dump.missing", f"no tensor {name[:200]}")
    ARRAY.check_size(tensor.size)
    with opened(file.path) as stream:
        pieces = [read_bytes(stream, start, size) for start, size in tensor.pieces]
    raw = pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, np.uint8), *pieces])
    if tensor.dtype == "str":
        return np.array(raw.tobytes().decode("utf-32-le", "replace"))
    dtype, shape = tensor.dtype, tensor.shape
    if dtype == "int4" and raw.size == count_of(shape):
        dtype = "int8"
    if shape == (0,) and raw.size == element_type(dtype).size(1):
        shape = ()  # how a scalar is saved in older files
    return decode(raw, dtype, shape)


def checkpoint_values(file: CheckpointFile, name: str) -> Values:
    """Return the values of one tensor, read in parts if each element takes whole bytes, otherwise whole.

    Raises UnreadableError.
    """
    tensor = file.tensors.get(name)
    if tensor is None or not tensor.pieces or tensor.dtype == "str" or tensor.shape == (0,):
        return Held(read_checkpoint(file, name))
    kind = stored_as(file.path, tensor.pieces[0][0], tensor.shape, tensor.dtype)
    if kind is None or kind.item.itemsize * count_of(tensor.shape) > tensor.size:
        return Held(read_checkpoint(file, name))
    if len(tensor.pieces) == 1:
        return kind
    return Scattered(kind.path, kind.offset, kind.shape, kind.item, kind.name, tuple(tensor.pieces))


def verify_checksum(file: CheckpointFile) -> bool | None:
    """Return whether the CRC-32 at the end matches the bytes before it, or None if it is not checked.

    A file of a remote store is not fetched for this.
    """
    if file.checksum is None:
        return None
    checksum = 0
    with opened(file.path) as stream:
        remaining = length_of(stream) - CRC_TAIL
        if allocated_bytes(stream) is None:
            return None
        while remaining > 0:
            block = stream.read(min(remaining, 1 << 24))
            if not block:
                return False
            checksum = zlib.crc32(block, checksum)
            remaining -= len(block)
    return checksum == file.checksum


def _list_tensors(path: Path, data: FileBytes) -> CheckpointFile:
    """Return the tensors of a file. Raises UnreadableError if it has none."""
    end, checksum = len(data), None
    tail = data.slice(max(end - CRC_TAIL, 0), end)
    if tail.startswith(CRC_MARK):
        checksum = int.from_bytes(tail[len(CRC_MARK) :], "big")
        end -= CRC_TAIL
    tensors: dict[str, CheckpointTensor] = {}
    damage = []
    fields = _Fields(data)
    try:
        for entry in fields.between(0, end):
            if entry.number == 1:
                _add_value(tensors, fields, entry)
    except UnreadableError as error:
        damage.append(error)
    if not tensors:
        raise UnreadableError("dump.not_checkpoint", damage[0].detail if damage else "it contains no fields")
    return CheckpointFile(path, tensors, checksum, tuple(damage))


def _add_value(tensors: dict[str, CheckpointTensor], fields: _Fields, entry: _Field) -> None:
    """Add one ``Checkpoint.Value``, or the next section of a tensor added before."""
    tag, tensors_of_value = "", []
    for part in fields.between(entry.start, entry.end):
        if part.number == 1:
            tag = show_name(fields.data.slice(part.start, min(part.end, part.start + MAX_TAG)))
        elif part.number == 2:
            tensors_of_value.append(_tensor(fields, part))
        elif part.number == 3:  # a map parameter: keys, values and states, each a tensor
            tensors_of_value += [_tensor(fields, inner) for inner in fields.between(part.start, part.end)]
    if not tensors_of_value:
        fields.count_idle(entry.start)
    for position, tensor in enumerate(tensors_of_value):
        name = tag if len(tensors_of_value) == 1 else f"{tag}.{position}"
        previous = tensors.setdefault(name, tensor)
        if previous is not tensor:
            previous.pieces += tensor.pieces


def _tensor(fields: _Fields, entry: _Field) -> CheckpointTensor:
    """Parse a tensor. Raises UnreadableError."""
    axes: list[int] = []
    dtype, pieces = "", []
    for part in fields.between(entry.start, entry.end):
        if part.number == 1:
            axes += [part.value] if part.end == 0 else _varints(fields.data, part)
            if len(axes) > MAX_AXES:
                raise UnreadableError("dump.not_checkpoint", f"a tensor of more than {MAX_AXES} axes")
        elif part.number == 2:
            dtype = canonical(show_name(fields.data.slice(part.start, min(part.end, part.start + MAX_TAG))))
        elif part.number == 3:
            pieces.append((part.start, part.end - part.start))
    return CheckpointTensor(dtype, () if dtype == "str" else tuple(axes), pieces)


class _Fields:
    """Parser of the fields of all messages of one file, with one limit for all of them."""

    def __init__(self, data: FileBytes) -> None:
        self.data = data
        self._count = 0
        self._idle = 0

    def count_idle(self, offset: int) -> None:
        """Count a field without content. Raises UnreadableError after `MAX_IDLE` of them."""
        self._idle += 1
        if self._idle > MAX_IDLE:
            detail = f"more than {MAX_IDLE} fields without content before byte {offset}"
            raise UnreadableError("dump.not_checkpoint", detail)

    def between(self, offset: int, end: int) -> Iterator[_Field]:
        """Yield the fields of a message: key, then a varint, fixed bytes, or length and bytes.

        Raises UnreadableError.
        """
        data = self.data
        while offset < end:
            self._count += 1
            CHECKPOINT.check_items(self._count)
            key, value_start = _varint(data, offset, end)
            number, wire = key >> 3, key & 7
            if not number:
                raise UnreadableError("dump.not_checkpoint", f"field number 0 at byte {offset}")
            if wire == 0:
                value, offset = _varint(data, value_start, end)
                if number > 1:
                    self.count_idle(offset)
                yield _Field(number, value, 0, 0)
                continue
            if wire not in (1, 2, 5):
                raise UnreadableError("dump.not_checkpoint", f"no field at byte {offset}")
            fixed = {1: 8, 5: 4}.get(wire)
            length, start = (fixed, value_start) if fixed else _varint(data, value_start, end)
            if start + length > end:
                detail = f"byte {offset}: {length} bytes announced, {end - start} left"
                raise UnreadableError("dump.truncated", detail)
            if not length or number > 3:
                self.count_idle(offset)
            offset = start + length
            yield _Field(number, 0, start, offset)


def _varints(data: FileBytes, entry: _Field) -> list[int]:
    """Return the varints of a packed field, a few more than MAX_AXES at most."""
    values: list[int] = []
    offset = entry.start
    while offset < entry.end and len(values) <= MAX_AXES:
        value, offset = _varint(data, offset, entry.end)
        values.append(value)
    return values


def _varint(data: FileBytes, offset: int, end: int) -> tuple[int, int]:
    """Return a varint and the offset after it. Raises UnreadableError."""
    value = 0
    for position, byte in enumerate(data.slice(offset, min(offset + 10, end))):
        value |= (byte & 0x7F) << 7 * position
        if byte < 0x80:
            return value, offset + position + 1
    raise UnreadableError("dump.truncated", f"a number at byte {offset} has no end")
