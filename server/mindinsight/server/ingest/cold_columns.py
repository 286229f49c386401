"""Storage of cold columns: unlinked temporary files, mapped for reading.

Columns that are complete need no memory of the process. The system reads their pages on access and reclaims
them when memory is short. The files have no name, so no other process can truncate them under the map, which
would end the process (SIGBUS). The system frees them with the last array.
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

_SEGMENT: Final = 128 << 20  # bytes of a file, which is sparse until it is written
_MIN_SIZE: Final = 64 << 10  # bytes; fewer are not worth a system call
_ALIGNMENT: Final = 64  # bytes
_MAX_PIECES: Final = 512  # buffers of one write; the system accepts at most 1024 (IOV_MAX)

Array: TypeAlias = npt.NDArray[Any]

_log = logging.getLogger(__name__)


class ColdColumns:
    """Storage of cold columns in a folder.

    Only the loader's thread moves columns, and any thread reads them.

    All columns stay in memory if the folder cannot be written to, is full, or is on a file system of another
    machine, which may disappear under a map.
    """

    def __init__(self, folder: Path, segment: int = _SEGMENT, smallest: int = _MIN_SIZE) -> None:
        self._folder = folder
        self._segment_size = segment
        self._smallest = smallest
        self._segment: _Segment | None = None
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()
        self._usable: bool | None = None  # None before the first use
        self.moved = 0  # bytes so far

    def move(self, arrays: Sequence[Array]) -> list[Array]:
        """Return equal arrays in mapped files if they are large enough, otherwise ``arrays`` themselves."""
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

    def release(self) -> None:
        """Release pages that were read. The next access reads them from the system's cache again."""
        for pages in list(self._maps):
            pages.madvise(mmap.MADV_DONTNEED)

    def _segment_for(self, size: int) -> _Segment | None:
        """Return a segment with room for ``size`` bytes, or None if the columns stay in memory."""
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
        """Write contiguous arrays. Return views of the mapped file. Raises OSError if the disk is full."""
        moved: list[Array] = []
        for first in range(0, len(arrays), _MAX_PIECES):
            moved += self._write_pieces(arrays[first : first + _MAX_PIECES])
        return moved

    def _write_pieces(self, arrays: Sequence[Array]) -> list[Array]:
        """Write arrays with one system call. Raises OSError if the disk is full."""
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
    """Write all buffers at an offset. Raises OSError if the disk is full."""
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
