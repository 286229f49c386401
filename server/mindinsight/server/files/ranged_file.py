"""Large files of a remote store, of which only those blocks are fetched that somebody reads.

Beside a local copy lie, for each such file, a sparse file of its size and a map with a byte for each block. A
block counts when its byte is set, which is done after its content was written. When all are there the sparse
file takes the place of the placeholder.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mindinsight.server.files.file_lock import locked
from mindinsight.server.files.own_files import open_own
from mindinsight.server.files.placeholders import (
    PIECE,
    ROOM,
    WAIT,
    Catalogue,
    Fetcher,
    Wanted,
    fetcher_of,
    find_placeholder,
    finish,
    part_path,
    store_failure,
)
from mindinsight.server.files.remote_store import StoreError

LARGE: Final = 64 << 20  # bytes from which on a file is not fetched whole
BLOCK: Final = 256 << 10  # bytes


def open_ranges(path: str) -> RangedFile | None:
    """The placeholder at this absolute path as a file whose blocks are fetched when they are read.

    None where there is none. Raises OSError where the workspace cannot be written to.
    """
    placeholder = find_placeholder(path)
    if placeholder is None:
        return None
    copy, catalogue, (wanted, *_) = placeholder
    return RangedFile(copy, wanted, fetcher_of(catalogue.url()), catalogue)


class RangedFile(io.RawIOBase):
    """Read-only file of which blocks are fetched; reading raises OSError for what the store does not give.

    It has no descriptor that others could read from: there would be zeros where nothing was fetched yet.
    """

    def __init__(self, copy: Path, wanted: Wanted, store: Fetcher, catalogue: Catalogue) -> None:
        super().__init__()
        self._copy, self._wanted, self._store, self._catalogue = copy, wanted, store, catalogue
        self._size = wanted.file.size
        self._at = 0
        self._noted = False  # whether the catalogue knows that it takes room
        part = part_path(copy, wanted.path, wanted.file)
        self._part = part.with_name(f"{part.name}.ranges")
        blocks = -(-self._size // BLOCK)
        with locked(part, WAIT):
            self._data = _sized(self._part, self._size)
            self._map = _sized(part.with_name(f"{part.name}.blocks"), blocks)
        self._lock = part

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._at)]
        self._ensure(self._at, self._at + len(view))
        count = os.preadv(self._data, [view], self._at) if view else 0
        self._at += count
        return count

    def readall(self) -> bytes:
        """The rest of the file, in requests as large as they may be."""
        content = bytearray(max(0, self._size - self._at))
        for start in range(0, len(content), PIECE):
            self.readinto(memoryview(content)[start : start + PIECE])
        return bytes(content)

    def close(self) -> None:
        if not self.closed:
            os.close(self._data)
            os.close(self._map)
        super().close()

    def _ensure(self, start: int, end: int) -> None:
        """Fetch the blocks of a range that are not there."""
        first, last = start // BLOCK, -(-end // BLOCK)
        if not self._missing(first, last):
            return
        with locked(self._lock, WAIT):
            for low, high in _requests(self._missing(first, last)):
                self._fetch(low, high)
            whole = not self._missing(0, -(-self._size // BLOCK))
            if whole and self._part.exists():
                finish(self._part, self._copy / self._wanted.path, self._wanted.file)
                self._lock.with_name(f"{self._lock.name}.blocks").unlink(missing_ok=True)
        if not self._noted:
            self._catalogue.note_fetched([self._wanted.path], time.time())
            self._noted = True

    def _missing(self, first: int, last: int) -> list[int]:
        """Blocks from ``first`` to before ``last`` that are not there."""
        known = os.pread(self._map, last - first, first)
        return [first + number for number, byte in enumerate(known) if not byte]

    def _fetch(self, low: int, high: int) -> None:
        """Fetch the blocks from ``low`` to before ``high`` in one request."""
        start, end = low * BLOCK, min(high * BLOCK, self._size)
        if shutil.disk_usage(self._copy).free - (end - start) < ROOM:
            raise OSError(
                errno.ENOSPC, "the disk of the workspace has no room for the file", self._wanted.path
            )
        try:
            content = self._store.read(self._wanted.file, start, end)
        except StoreError as error:
            raise store_failure(error, self._wanted.path) from None
        if len(content) < end - start:
            raise OSError(errno.EIO, "the file became shorter in the store; try again", self._wanted.path)
        os.pwrite(self._data, content, start)
        os.pwrite(self._map, b"\1" * (high - low), low)


def _requests(blocks: list[int]) -> Iterator[tuple[int, int]]:
    """First block and the one behind the last of each request: neighbours together, up to ``PIECE`` bytes."""
    start = 0
    for number in range(1, len(blocks) + 1):
        if (
            number == len(blocks)
            or blocks[number] != blocks[number - 1] + 1
            or number - start == PIECE // BLOCK
        ):
            yield blocks[start], blocks[number - 1] + 1
            start = number


def _sized(path: Path, size: int) -> int:
    """Descriptor of a file of this size, which is made of zeros where there is none."""
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        if os.fstat(descriptor).st_size != size:
            os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
