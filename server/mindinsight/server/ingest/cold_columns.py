"""Storage of cold columns: unlinked temporary files, mapped for reading, and files of values with a name.

Columns that are complete need no memory of the process. The system reads their pages on access and reclaims
them when memory is short. The files have no name, so no other process can truncate them under the map, which
would end the process (SIGBUS). The system frees them with the last array.

Values of large tables go to files with a name, section by section while the event file is read. Nothing maps
these files. The index cache refers to their sections, so that a restart reads no values before a client asks.
"""

from __future__ import annotations

import errno
import logging
import mmap
import os
import time
import weakref
import zlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.errors import Gone
from mindinsight.server.files.own_files import open_own, own_folder
from mindinsight.server.ingest.filesystems import is_shared

_SEGMENT: Final = 128 << 20  # bytes of a file, which is sparse until it is written
_MIN_SIZE: Final = 64 << 10  # bytes; fewer are not worth a system call
_ALIGNMENT: Final = 64  # bytes
_MAX_PIECES: Final = 512  # buffers of one write; the system accepts at most 1024 (IOV_MAX)
_MAX_WRITE: Final = 4 << 20  # bytes of a section that are written at a time
_CRC: Final = 4  # bytes of a checksum

Array: TypeAlias = npt.NDArray[Any]

_log = logging.getLogger(__name__)


class ValueFile:
    """File of values, appended section by section by one process, and read on demand by any thread."""

    def __init__(self, path: Path, lost: set[ValueFile]) -> None:
        """Create a file that may not exist yet. It adds itself to ``lost`` when it cannot be read."""
        self.path = path
        self._lost = lost
        self._end = 0

    def append(self, tags: Mapping[str, int], values: Array) -> ValueSection:
        """Write rows of ``values`` [k, n], each followed by its CRC-32, and return their section. Raises
        OSError. ``tags`` has the index in ``values`` of each tag."""
        count, length = values.shape
        flags = os.O_WRONLY | (os.O_APPEND if self._end else os.O_CREAT | os.O_EXCL)
        with os.fdopen(open_own(self.path, flags), "wb", buffering=0) as file:
            section = ValueSection(self, self._end, length, values.dtype.newbyteorder("<"), tags)
            octets = length * values.dtype.itemsize
            at_a_time = max(_MAX_WRITE // octets, 1)
            for first in range(0, count, at_a_time):
                rows = np.ascontiguousarray(values[first : first + at_a_time], section.dtype)
                lines = np.empty((len(rows), octets + _CRC), np.uint8)
                lines[:, :octets] = rows.view(np.uint8).reshape(len(rows), octets)
                sums = np.array([zlib.crc32(row) for row in rows], "<u4")
                lines[:, octets:] = sums.view(np.uint8).reshape(-1, _CRC)
                left = lines.reshape(-1).data
                while left:
                    left = left[file.write(left) :]
            self._end = file.seek(0, os.SEEK_END)
        return section

    def damage(self, reason: object) -> Gone:
        """Record that the file cannot be read, and return the error to raise."""
        self._lost.add(self)
        return Gone(f"{self.path.name}: {reason}")


class ValueSection(NamedTuple):
    """Section of a `ValueFile`: consecutive values of a group of tags."""

    file: ValueFile
    offset: int
    length: int  # values of each tag
    dtype: np.dtype[Any]  # little-endian
    tags: Mapping[str, int]  # row of each tag

    @property
    def row_size(self) -> int:
        """Return the number of bytes of one tag's values and their checksum."""
        return self.length * self.dtype.itemsize + _CRC

    def is_complete(self) -> bool:
        """Return True if the file is long enough for the rows of all tags. Raises OSError without a file."""
        end = self.offset + len(self.tags) * self.row_size
        return self.offset >= 0 and self.length > 0 and self.file.path.lstat().st_size >= end

    def read(self, descriptor: int, tag: str) -> Array:
        """Return the values of a tag from the open file ``descriptor``. Raises Gone if they are damaged,
        KeyError for a tag that the section lacks, OSError if they cannot be read."""
        data = os.pread(descriptor, self.row_size, self.offset + self.tags[tag] * self.row_size)
        if len(data) < self.row_size or zlib.crc32(data[:-_CRC]) != int.from_bytes(data[-_CRC:], "little"):
            raise self.file.damage("damaged")
        return np.frombuffer(data, self.dtype, self.length)


@dataclass(frozen=True, slots=True)
class TagValues:
    """Reader of the values of one tag on disk, in sections, oldest first."""

    sections: tuple[ValueSection, ...]
    tag: str
    count: int

    def read(self, first: int) -> list[Array]:
        """Return the values from row ``first`` on, in chunks. Raises Gone if they cannot be read."""
        chunks: list[Array] = []
        with ExitStack() as stack:
            descriptors: dict[ValueFile, int] = {}
            row = self.count
            for section in reversed(self.sections):
                if row <= first:
                    break
                row -= section.length
                try:
                    if section.file not in descriptors:
                        descriptors[section.file] = open_own(section.file.path, os.O_RDONLY)
                        stack.callback(os.close, descriptors[section.file])
                    values = section.read(descriptors[section.file], self.tag)
                except OSError as error:
                    raise section.file.damage(error.strerror) from error
                chunks.append(values[max(first - row, 0) :])
        return chunks[::-1]


class ColdColumns:
    """Storage of columns and values in files of a folder, so that they need no memory of the process.

    Only the loader's thread moves columns, and any thread reads them.

    All columns stay in memory if the folder cannot be written to, is full, or is on a file system of another
    machine, which may disappear under a map.
    """

    def __init__(
        self,
        folder: Path,
        segment: int = _SEGMENT,
        smallest: int = _MIN_SIZE,
        values: Path | None = None,
    ) -> None:
        """Create the storage. ``values`` is the folder for files of scalar values, or None to write none."""
        self._folder = folder
        self._values_folder = values
        self._full = values is None  # no further values can be stored
        self.lost: set[ValueFile] = set()  # files that could not be read
        self.created: set[ValueFile] = set()  # files of this process
        self._segment_size = segment
        self._smallest = smallest
        self._segment: _Segment | None = None
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._usable: bool | None = None  # None before the first use
        self.moved = 0  # bytes so far

    def move(self, arrays: Sequence[Array]) -> list[Array]:
        """Return equal arrays in mapped files, or ``arrays`` if these are small or the files cannot be
        used."""
        size = sum(_padded(array.nbytes) for array in arrays)
        segment = self._segment_for(size)
        if segment is None:
            return list(arrays)
        try:
            moved = segment.write(arrays)
        except OSError as error:
            self._give_up(error)
            return list(arrays)
        self.moved += size
        return moved

    def store(self, tags: Mapping[str, int], values: Array, file: ValueFile | None) -> ValueSection | None:
        """Write ``values`` [k, n] to a file and return their section, or None if they stay in memory.
        Without ``file`` it is a new one. ``tags`` has the index in ``values`` of each tag."""
        if self._full or self._values_folder is None:
            return None
        try:
            if file is None:
                own_folder(self._values_folder.parent)
                own_folder(self._values_folder)
                file = self.value_file(f"{time.time_ns():020}.values")
                self.created.add(file)
            return file.append(tags, values)
        except OSError as error:
            self._full = True
            _log.warning("cannot store columns, keeping them in memory: %s", error.strerror or error)
            return None

    def value_file(self, name: str) -> ValueFile:
        """Return the file of values with this name. Raises ValueError without a folder or for a path."""
        if self._values_folder is None or Path(name).name != name:
            raise ValueError(name)
        return ValueFile(self._values_folder / name, self.lost)

    def release(self) -> None:
        """Release the memory of mapped pages. The next access reads them from the system's cache again."""
        for pages in list(self._maps):
            pages.madvise(mmap.MADV_DONTNEED)

    def _segment_for(self, size: int) -> _Segment | None:
        """Return a mapped file with room for ``size`` bytes, or None if the columns stay in memory."""
        if size < self._smallest or not self._is_usable():
            return None
        if self._segment is None or self._segment.room < size:
            try:
                self._segment = _Segment(self._folder, max(self._segment_size, size))
            except OSError as error:
                self._give_up(error)
                return None
            self._maps.add(self._segment.pages)
        return self._segment

    def _is_usable(self) -> bool:
        """Return True if the folder can hold mapped files."""
        if self._usable is None:
            self._usable = hasattr(mmap, "MADV_DONTNEED") and not is_shared(str(self._folder))
        return self._usable

    def _give_up(self, error: OSError) -> None:
        """Keep further columns in memory. Moved columns stay in their files."""
        self._usable, self._segment = False, None
        _log.warning(
            "cannot write cold columns to %s, keeping them in memory: %s",
            self._folder,
            error.strerror or error,
        )


class _Segment:
    """Unlinked file that is appended to and mapped whole."""

    def __init__(self, folder: Path, size: int) -> None:
        from tempfile import mkstemp  # few servers hold this much

        own_folder(folder)
        self._descriptor, path = mkstemp(dir=folder, prefix=".")
        weakref.finalize(self, os.close, self._descriptor)  # the map has a descriptor of its own
        Path(path).unlink()
        os.truncate(self._descriptor, size)
        self.pages = mmap.mmap(self._descriptor, size, access=mmap.ACCESS_READ)
        self._end = 0
        self.room = size

    def write(self, arrays: Sequence[Array]) -> list[Array]:
        """Write contiguous arrays, and return views of the mapped file. Raises OSError if the disk
        is full."""
        moved: list[Array] = []
        for first in range(0, len(arrays), _MAX_PIECES):
            moved += self._write_pieces(arrays[first : first + _MAX_PIECES])
        return moved

    def _write_pieces(self, arrays: Sequence[Array]) -> list[Array]:
        """Write arrays with one system call, and return their views in the mapped file. Raises OSError if the
        disk is full."""
        pieces: list[Any] = []
        positions: list[int] = []
        end = self._end
        for array in arrays:
            positions.append(end)
            padding = _padded(array.nbytes) - array.nbytes
            pieces += [np.ascontiguousarray(array).view(np.uint8).data, bytes(padding)]
            end += _padded(array.nbytes)
        _write_all(self._descriptor, pieces, self._end, end - self._end)
        self._end, self.room = end, self.room - (end - self._end)
        return [
            np.frombuffer(self.pages, array.dtype, len(array), position)
            for array, position in zip(arrays, positions, strict=True)
        ]


def _write_all(descriptor: int, pieces: Sequence[Any], offset: int, size: int) -> None:
    """Write all buffers to a file at an offset, in several writes if necessary. Raises OSError if the disk is
    full."""
    written = os.pwritev(descriptor, pieces, offset)
    if written == size:
        return
    rest = memoryview(b"".join(pieces))[written:]  # the system may write less at a time, or the disk is full
    while rest:
        count = os.pwrite(descriptor, rest, offset + size - len(rest))
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[count:]


def _padded(size: int) -> int:
    """Return the size with padding."""
    return size + -size % _ALIGNMENT
