"""Storage of cold columns: unlinked temporary files, mapped for reading.

Columns to which nothing is appended any more need no memory of the process: the system reads their pages when
somebody looks at them, and takes them back when memory is short. The files have no name, so that nobody can
cut them short under the map, which would end the process (SIGBUS); the system frees them with the last array.
"""

from __future__ import annotations

import errno
import logging
import mmap
import os
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.files.own_files import own_folder
from mindinsight.server.ingest.filesystems import is_shared

_SEGMENT: Final = 128 << 20  # bytes of a file; it takes room on the disk only where it was written
_SMALLEST: Final = 64 << 10  # bytes that are worth moving
_ALIGNMENT: Final = 64  # bytes
_MOST_PIECES: Final = 512  # of one write; the system takes at most 1024

Array: TypeAlias = npt.NDArray[Any]

_log = logging.getLogger(__name__)


class ColdColumns:
    """Storage of cold columns in a folder; it belongs to the loader's thread, its arrays to everybody.

    Where the folder cannot be written to, is full, or lies on a file system of another machine, which may go
    away under a map, everything stays in memory.
    """

    def __init__(self, folder: Path, segment: int = _SEGMENT, smallest: int = _SMALLEST) -> None:
        self._folder = folder
        self._segment_size = segment
        self._smallest = smallest
        self._segment: _Segment | None = None
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._usable: bool | None = None  # None before the first use
        self.moved = 0  # bytes so far

    def move(self, arrays: Sequence[Array]) -> list[Array]:
        """Arrays equal to ``arrays``, in mapped files if they are worth it; else ``arrays`` themselves."""
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

    def move_bytes(self, data: bytes) -> bytes | memoryview:
        """The same for one piece of bytes."""
        array = np.frombuffer(data, np.uint8)
        moved = self.move([array])[0]
        return data if moved is array else moved.data

    def release(self) -> None:
        """Give up pages that were looked at: they come back from the system's cache at the next look."""
        for pages in list(self._maps):
            pages.madvise(mmap.MADV_DONTNEED)

    def _segment_for(self, size: int) -> _Segment | None:
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
        if self._usable is None:
            self._usable = hasattr(mmap, "MADV_DONTNEED") and not is_shared(str(self._folder))
        return self._usable

    def _give_up(self, error: OSError) -> None:
        """Keep everything in memory from now on; what was moved stays where it is."""
        self._usable, self._segment = False, None
        _log.warning("cold columns stay in memory: %s: %s", self._folder, error.strerror or error)


class _Segment:
    """One unlinked file: written at its end, mapped whole."""

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
        """Write contiguous arrays; views of the mapped file. Raises OSError when the disk is full."""
        moved: list[Array] = []
        for first in range(0, len(arrays), _MOST_PIECES):
            moved += self._write_pieces(arrays[first : first + _MOST_PIECES])
        return moved

    def _write_pieces(self, arrays: Sequence[Array]) -> list[Array]:
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
    return size + -size % _ALIGNMENT
