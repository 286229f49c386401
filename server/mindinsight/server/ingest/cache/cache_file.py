"""Format of a cache file: for each run a block of arrays, and an index behind them.

Layout::

    header   8 bytes magic, format number (u32), zero (u32)
    body     for each run a block of arrays (store/array_block.py)
    index    JSON: for each run where its body lies, its CRC-32, and what its owner noted
    footer   offset, size and CRC-32 of the index (u64, u64, u32), format number (u32), 8 bytes magic

Everything is checked when it is read; nothing is executed. Byte order is the machine's: a pack stays on
the machine that wrote it.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from mindinsight.server.files.own_files import open_own
from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.store.array_block import Array, ArrayBlock, ArrayPosition, array_at

FORMAT: Final = 6
_MAGIC: Final = b"MIcache\n"
_HEADER: Final = struct.Struct("=8sII")
_FOOTER: Final = struct.Struct("=QQII8s")


class StaleError(Exception):
    """The bytes are not a pack of this format, or not the ones that were written."""


class CacheFileWriter:
    """Writes a pack under a temporary name and gives it its own name when it is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")
        self._temporary.unlink(missing_ok=True)  # of a server with this number that was killed
        descriptor = open_own(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._file: IO[bytes] = os.fdopen(descriptor, "wb", buffering=1 << 20)
        self._file.write(_HEADER.pack(_MAGIC, FORMAT, 0))
        self._index: dict[str, Any] = {}
        self._offset = _HEADER.size  # of the current run
        self._begin_run()

    def array(self, array: Array) -> ArrayPosition:
        """Write one array of the current run, once however often it comes; where it lies."""
        if id(array) not in self._written:
            self._written[id(array)] = (array, self._block.append(array))
        return self._written[id(array)][1]

    def run(self, name: str, note: Any) -> None:
        """End a run: the arrays since the last one are its own; ``note`` is kept as JSON."""
        size = self._block.size
        self._index[name] = [self._offset, size, self._crc, note]
        self._offset += size
        self._begin_run()

    def finish(self) -> None:
        """Make the pack visible."""
        index = json.dumps(self._index, separators=(",", ":")).encode()
        self._file.write(index)
        self._file.write(_FOOTER.pack(self._offset, len(index), zlib.crc32(index), FORMAT, _MAGIC))
        self._file.close()
        self._temporary.replace(self._path)

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def _begin_run(self) -> None:
        self._block, self._crc = ArrayBlock(self._write), 0
        self._written: dict[int, tuple[Array, ArrayPosition]] = {}  # by the identity of the array

    def _write(self, data: bytes | memoryview) -> None:
        self._file.write(data)
        self._crc = zlib.crc32(data, self._crc)


@dataclass(frozen=True, slots=True)
class _Entry:
    offset: int
    size: int
    crc: int
    note: Any


class CacheFile:
    """A pack that was read: its notes are in memory, its arrays are fetched run by run."""

    def __init__(self, path: Path) -> None:
        """Raises StaleError for anything that is not a whole pack of this format, OSError without access."""
        self._file = os.fdopen(open_own(path, os.O_RDONLY), "rb", buffering=0)
        try:
            self._entries: Mapping[str, _Entry] = _read_index(self._file)
        except BaseException:
            self._file.close()
            raise

    @property
    def runs(self) -> frozenset[str]:
        return frozenset(self._entries)

    def note(self, run: str) -> Any:
        return self._entries[run].note

    def body(self, run: str, cold: ColdColumns | None = None) -> Body:
        """The arrays of one run; raises StaleError when they are not the ones that were written.

        They are read and not mapped: a map of a file that somebody cuts short ends the process. ``cold``
        holds them in a file that nobody else can open.
        """
        entry = self._entries[run]
        self._file.seek(entry.offset)
        data = self._file.read(entry.size)
        if zlib.crc32(data) != entry.crc:
            raise StaleError(run)
        return Body(data if cold is None else cold.move_bytes(data))

    def close(self) -> None:
        self._file.close()


class Body:
    """The arrays of one run: views of one piece of memory."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = data

    def array(self, position: Sequence[Any]) -> Array:
        """A read-only array; raises StaleError for a position outside."""
        try:
            return array_at(self._data, ArrayPosition(*position))
        except (ValueError, TypeError) as error:
            raise StaleError(str(error)) from error


def _read_index(file: IO[bytes]) -> dict[str, _Entry]:
    size = os.fstat(file.fileno()).st_size
    if size < _HEADER.size + _FOOTER.size:
        raise StaleError("too short")
    file.seek(size - _FOOTER.size)
    at, length, crc, number, magic = _FOOTER.unpack(file.read(_FOOTER.size))
    if magic != _MAGIC or number != FORMAT or at + length + _FOOTER.size != size:
        raise StaleError("another format")
    file.seek(at)
    index = file.read(length)
    if zlib.crc32(index) != crc:
        raise StaleError("damaged")
    entries = {name: _Entry(*entry) for name, entry in json.loads(index).items()}
    if any(min(entry.offset, entry.size) < 0 or entry.offset + entry.size > at for entry in entries.values()):
        raise StaleError("a run outside of the body")
    return entries
