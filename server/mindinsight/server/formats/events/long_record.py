"""Reader of one long record: its checksum and its fields in blocks, without holding it in memory.

A record may have 2 GiB, nearly all of it the payload of one tensor, picture or graph. The payload is needed
only when somebody looks, so the fields around it are read and the payload is passed over.
"""

from __future__ import annotations

import struct
from typing import IO, Final, TypeAlias, overload

import google_crc32c
import numpy as np

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE
from mindinsight.server.formats.budgets import EVENT
from mindinsight.server.formats.events.checksums import masked
from mindinsight.server.formats.events.chunk import RecordBatch
from mindinsight.server.formats.events.records import Records
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.formats.events.sequential import Remarks, read_sequentially
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.types import Damage

_BLOCK: Final = 1 << 16  # bytes held while fields are read
_CHECKED: Final = 1 << 22  # bytes held while the checksum is computed
_MOST_ZEROS: Final = 1 << 26  # bytes
_CRC: Final = struct.Struct("<I")
_EMPTY: Final = np.empty(0, np.int64)

LongRecord: TypeAlias = tuple[Records, list[RecordBatch], Remarks]


class RecordBytes:
    """A framed record in a file, indexed and sliced like ``bytes``; one block of it is in memory.

    Raises ``UnreadableError`` when more is asked for than the budget of an event has, and EOFError where the
    file became shorter.
    """

    def __init__(self, file: IO[bytes], offset: int, size: int) -> None:
        self._file, self._offset, self._size = file, offset, size
        self._start, self._block = 0, b""
        self._lookups = self._copied = 0

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> bytes: ...
    def __getitem__(self, index: int | slice, /) -> int | bytes:
        if isinstance(index, slice):
            start, end, _ = index.indices(self._size)
            self._copied += max(end - start, 0)
            EVENT.check_size(self._copied)
            return self._read(start, max(end - start, 0))
        self._lookups += 1
        EVENT.check_items(self._lookups)
        if not 0 <= index - self._start < len(self._block):
            self._start, self._block = index, self._read(index, min(_BLOCK, self._size - index))
        return self._block[index - self._start]

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(self._offset + start)
        block = self._file.read(size)
        if len(block) < size:
            raise EOFError(f"{len(block)} of {size} bytes")
        return block


def read_long_record(file: IO[bytes], offset: int, size: int, schema: Schema) -> LongRecord | None:
    """What the record of ``size`` payload bytes at ``offset`` holds; it is record 0, offsets count from it.

    The file was seen to hold all of it. None while its checksum and all behind it are zero: space that is
    allocated and not written yet.
    """
    framed = HEADER_SIZE + size + FOOTER_SIZE
    file.seek(offset + HEADER_SIZE)
    crc = _crc(file, size)
    footer = file.read(FOOTER_SIZE)
    if footer != _CRC.pack(masked(np.array([crc], np.uint32))[0]):
        if not any(footer) and _is_zero_to_end(file):
            return None
        return Records(_EMPTY, _EMPTY, (Damage(0, framed, "damage.body_crc"),), framed), [], Remarks()
    record = Records(np.array([0]), np.array([size]), (), framed)
    try:
        batches, remarks = read_sequentially(
            RecordBytes(file, offset, framed), record.starts, record.sizes, np.array([0]), schema
        )
    except UnreadableError:
        return record, [], Remarks((Damage(0, framed, "damage.many_values"),))
    except EOFError:  # cut short meanwhile
        return None
    return record, batches, remarks


def _is_zero_to_end(file: IO[bytes]) -> bool:
    """Whether only zeros are left of the file; not of one with more of them than are looked at."""
    for _ in range(_MOST_ZEROS // _CHECKED):
        block = file.read(_CHECKED)
        if block.count(0) < len(block) or not block:
            return not block
    return False


def _crc(file: IO[bytes], size: int) -> int:
    """CRC-32C of the next ``size`` bytes."""
    crc = 0
    while size and (piece := file.read(min(size, _CHECKED))):
        crc = google_crc32c.extend(crc, piece)
        size -= len(piece)
    return crc
