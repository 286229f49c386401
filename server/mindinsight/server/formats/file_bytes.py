"""Reader of files that may still be written. Files are read and never mapped into memory.

Touching the missing part of a truncated mapped file ends the process with SIGBUS (mmap(2)), and a file of a
training may be truncated at any time. A read only returns fewer bytes.
"""

import os
from io import BufferedReader, UnsupportedOperation
from pathlib import Path
from typing import IO, Final, cast, overload

import numpy as np
import numpy.typing as npt

from mindinsight.server.cancellation import claim
from mindinsight.server.files.opener import LinkError, SpecialFileError, open_stream
from mindinsight.server.formats.read_limits import ARRAY, Limits, UnreadableError

MAX_HOLES: Final = 16 << 30  # bytes that are read also from a file of holes: some ten seconds
_PER_WRITTEN: Final = 1000  # bytes for each one on disk; a file system that packs zeros is far from that
MAX_LINE: Final = 1 << 20  # bytes of one line
_BLOCK: Final = 1 << 16  # bytes read at a time


def opened(path: str | Path) -> IO[bytes]:
    """Open a regular file and return it as a binary file for reading. Raises UnreadableError if it is
    missing, a link or a special file, if access is denied, or if nearly all of it are holes, which were never
    written and take hours to read."""
    try:
        file = open_stream(path)
    except LinkError as error:
        raise UnreadableError("dump.link", str(path)) from error
    except SpecialFileError as error:
        raise UnreadableError("dump.not_a_file", str(path)) from error
    except PermissionError as error:
        raise UnreadableError("dump.permission", str(path)) from error
    except OSError as error:
        raise UnreadableError("dump.missing", f"{path}: {error.strerror}") from error
    allocated = allocated_bytes(file)
    if allocated is not None and (length := length_of(file)) > max(MAX_HOLES, _PER_WRITTEN * allocated):
        file.close()
        raise UnreadableError("dump.holes", f"{length} bytes, of which {allocated} were written")
    return file


def length_of(file: IO[bytes]) -> int:
    """Return the length of an open file in bytes, and seek to its beginning."""
    end = file.seek(0, 2)
    file.seek(0)
    return end


def read_bytes(file: IO[bytes], offset: int, size: int) -> npt.NDArray[np.uint8]:
    """Return the [size] bytes from ``offset`` on, read-only uint8. Raises UnreadableError if the file is
    too short or became shorter, or if memory runs out. Memory is allocated only after the length of the
    file has been checked."""
    length = file.seek(0, 2)
    if offset + size > length:
        raise UnreadableError("dump.truncated", f"{length} / {offset + size} B")
    ARRAY.check_size(size)
    claim(size)
    file.seek(offset)
    try:
        values = _read_array(file, size)
    except MemoryError as error:
        raise UnreadableError("dump.too_large", f"no memory for {size} bytes") from error
    if len(values) < size:
        raise UnreadableError("dump.truncated", f"the file became shorter: {len(values)} of {size} bytes")
    values.flags.writeable = False
    return values


def allocated_bytes(file: IO[bytes]) -> int | None:
    """Return the number of bytes allocated on disk for an open file, or None for one of a remote store."""
    try:
        return os.fstat(file.fileno()).st_blocks * 512
    except UnsupportedOperation:
        return None


def _read_array(file: IO[bytes], size: int) -> npt.NDArray[np.uint8]:
    """Return the next ``size`` bytes of a file, fewer at its end."""
    if size <= _BLOCK:  # a small file is in the buffer by now, and fromfile duplicates the descriptor
        return np.frombuffer(file.read(size), np.uint8)
    try:
        file.fileno()
    except UnsupportedOperation:  # fetched as it is read
        values = np.empty(size, np.uint8)
        return values[: cast("BufferedReader", file).readinto(values.data)]
    return np.fromfile(file, np.uint8, size)


class FileBytes:
    """Open file that is indexed and sliced like ``bytes``, or read as a file. One block is in memory."""

    def __init__(self, file: IO[bytes], limits: Limits | None = None) -> None:
        """Limit access by index: to ``limits.items`` single bytes, and to slices of ``limits.size`` bytes in
        all."""
        self._file, self._limits = file, limits
        self._length = file.seek(0, 2)
        self._start = self._lookups = self._copied = 0
        self._block = b""
        file.seek(0)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> bytes: ...
    def __getitem__(self, index: int | slice, /) -> int | bytes:
        """Return a byte or a slice. Raises UnreadableError beyond the limits, EOFError beyond the end."""
        if isinstance(index, slice):
            start, end, _ = index.indices(self._length)
            self._copied += max(end - start, 0)
            if self._limits:
                self._limits.check_size(self._copied)
            piece = self.slice(start, end)
            if len(piece) < end - start:
                raise EOFError(f"{len(piece)} of {end - start} bytes")
            return piece
        self._lookups += 1
        if self._limits:
            self._limits.check_items(self._lookups)
        if not 0 <= index - self._start < len(self._block) and not self.slice(index, index + 1):
            raise EOFError(f"no byte {index}")
        return self._block[index - self._start]

    def slice(self, start: int, end: int) -> bytes:
        """Return the bytes from ``start`` to before ``end``, fewer at the end of the file. Moves ``tell``."""
        end = min(end, self._length)
        if end - start > _BLOCK:
            self._file.seek(start)
            return self._file.read(end - start)
        if not self._start <= start <= end <= self._start + len(self._block):
            self._file.seek(start)
            self._start, self._block = start, self._file.read(min(_BLOCK, self._length - start))
        return self._block[start - self._start : max(end, start) - self._start]

    def read(self, size: int) -> bytes:
        """Return the next bytes, b"" at the end of the file. Allocates at most the bytes that are left,
        whatever ``size`` states."""
        return self._file.read(size if size <= _BLOCK else min(size, max(0, self._length - self.tell())))

    def readline(self) -> bytes:
        """Return the next line, at most its first ``MAX_LINE`` bytes."""
        return self._file.readline(MAX_LINE)

    def tell(self) -> int:
        """Return the position in the file."""
        return self._file.tell()
