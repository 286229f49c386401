"""Reader of MindSpore checkpoints (``.ckpt``): names, types, shapes and values of the parameters.

The file is one ``Checkpoint`` message (``checkpoint.proto``). Protobuf rejects messages of 2 GiB and copies
every byte it parses, so the fields are walked here and values stay in the file. A tensor of more than 512 MiB
is stored in sections with the same tag. A checked file ends in ``crc_num`` and a CRC-32.
"""

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from mindinsight.server.formats.arrays.element_types import Array, canonical, count_of, decode, element_type
from mindinsight.server.formats.arrays.lazy_array import Held, Scattered, Values, stored_as
from mindinsight.server.formats.file_bytes import FileBytes, allocated_bytes, length_of, opened, read_bytes
from mindinsight.server.formats.read_limits import ARRAY, CHECKPOINT, UnreadableError, unreadable
from mindinsight.server.formats.sanitizer import show_name
from mindinsight.server.formats.wire_format import (
    CutError,
    UnparsableError,
    message_fields,
    read_size,
    read_varint,
)

# Keys (number and wire type) of fields of Checkpoint, Value and TensorProto. Axes are packed or not.
_VALUE, _TAG, _TENSOR, _MAP = 1 << 3 | 2, 1 << 3 | 2, 2 << 3 | 2, 3 << 3 | 2
_DIMS, _TYPE, _CONTENT = (1 << 3, 1 << 3 | 2), 2 << 3 | 2, 3 << 3 | 2
MAX_UNUSED: Final = 10_000  # fields of a file without a tensor; MindSpore writes none
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
    """MindSpore checkpoint: its tensors by name, in the order they were saved."""

    path: Path
    tensors: dict[str, CheckpointTensor]
    checksum: int | None  # recorded CRC-32; None if there is none
    damage: tuple[UnreadableError, ...] = ()


def open_checkpoint(path: Path) -> CheckpointFile:
    """List the tensors of a checkpoint. Raises UnreadableError for a file that is not a checkpoint, and
    for an encrypted or compressed one. A truncated end is reported in ``damage``."""
    with opened(path) as file:
        start = file.read(4)
        if start in _UNREADABLE_FORMATS:
            raise UnreadableError(_UNREADABLE_FORMATS[start], str(path))
        return _list_tensors(path, FileBytes(file, CHECKPOINT))


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
    Raises UnreadableError."""
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
    Raises UnreadableError if the file cannot be opened. A file of a remote store is not fetched for this."""
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
    damage, unused = [], 0
    try:
        with (
            unreadable("dump.not_checkpoint", path.name, UnparsableError),
            unreadable("dump.truncated", path.name, CutError, EOFError),
        ):
            for key, start, stop in message_fields(data, 0, end):
                unused += not (key == _VALUE and _add_value(tensors, data, start, stop))
                if unused > MAX_UNUSED:
                    raise UnparsableError(f"{unused} fields without a tensor before byte {stop}")
    except UnreadableError as error:
        damage.append(error)
    if not tensors and _begins_value(data, end):
        raise UnreadableError("dump.truncated", f"{path.name}: the first tensor is incomplete")
    if not tensors:
        raise UnreadableError("dump.not_checkpoint", damage[0].detail if damage else "")
    return CheckpointFile(path, tensors, checksum, tuple(damage))


def _begins_value(data: FileBytes, end: int) -> bool:
    """Return True if a file begins with a value that is longer than the file and has a printable tag."""
    try:
        key, at = read_size(data, 0, end)
        size, at = read_size(data, at, end)
        tag, at = read_size(data, at, end) if at + size > end else (0, at)
        length, at = read_size(data, at, end)
        name = data.slice(at, min(at + min(length, MAX_TAG), end)).decode()
    except ValueError:  # no message, or no text
        return False
    return (key, tag) == (_VALUE, _TAG) and name.isprintable()


def _add_value(tensors: dict[str, CheckpointTensor], data: FileBytes, start: int, end: int) -> int:
    """Add one ``Checkpoint.Value``, or the next section of the last tensor, and return the number of tensors
    added."""
    tag, tensors_of_value = "", []
    for key, first, last in message_fields(data, start, end):
        if key == _TAG:
            tag = show_name(data.slice(first, min(last, first + MAX_TAG)))
        elif key == _TENSOR:
            tensors_of_value.append(_tensor(data, first, last))
        elif key == _MAP:  # keys, values and states of a map parameter, each a tensor
            parts = message_fields(data, first, last)
            tensors_of_value += [_tensor(data, begin, stop) for part, begin, stop in parts if part & 7 == 2]
    for position, tensor in enumerate(tensors_of_value):
        name = tag if len(tensors_of_value) == 1 else f"{tag}.{position}"
        previous = tensors.setdefault(name, tensor)
        if previous is not tensor:
            previous.pieces += tensor.pieces
    return len(tensors_of_value)


def _tensor(data: FileBytes, start: int, end: int) -> CheckpointTensor:
    """Parse a tensor. Raises UnreadableError."""
    axes: list[int] = []
    dtype, pieces = "", []
    for key, first, last in message_fields(data, start, end):
        if key in _DIMS:
            while first < last:
                axis, first = read_varint(data, first, last)  # noqa: PLW2901
                axes.append(axis)
                if len(axes) > MAX_AXES:
                    raise UnreadableError("dump.not_checkpoint", f"a tensor of more than {MAX_AXES} axes")
        elif key == _TYPE:
            dtype = canonical(show_name(data.slice(first, min(last, first + MAX_TAG))))
        elif key == _CONTENT:
            pieces.append((first, last - first))
    return CheckpointTensor(dtype, () if dtype == "str" else tuple(axes), pieces)
