"""Placeholders of remote files: content is fetched when it is read, whole or in blocks."""

from __future__ import annotations

import errno
import hashlib
import io
import math
import os
import shutil
import sqlite3
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from mindinsight.server.files.own_files import locked, open_own, own_database, own_folder, trusted_copy
from mindinsight.server.files.remote_store import RemoteFile, RemoteStore, StoreError

CATALOGUE: Final = ".placeholders.sqlite"
PIECE: Final = 16 << 20  # bytes of one request
ROOM: Final = 512 << 20  # bytes that stay free on the disk of the workspace, for whatever else writes there
AHEAD: Final = 15  # following files of a folder that are fetched with one
AHEAD_SIZE: Final = 32 << 20  # bytes of these files together
REQUESTS: Final = 8  # in flight at a time; bounds the load on a store, and memory with PIECE
PAUSE: Final = 5.0  # seconds without requests after a failure of the store
WAIT: Final = 600.0  # seconds that another process may take to fetch the same file
_PARTS: Final = ".parts"
_MARK: Final = stat.S_ISVTX
_SHORTER: Final = "the file became shorter in the store; try again"
_TEXTS: Final = {
    "remote.forbidden": "the store denies access to the file; check the credentials of the server",
    "remote.gone": "the store no longer has the file",
    "remote.ranges": "the web server cannot send a part of the file; copy the file",
    "remote.redirect": "the web server redirects to another host; use or allow that host",
    "remote.address": "the address belongs to a cloud's internal services, which are never read",
    "remote.unreachable": "the store does not respond; try again",
}
_TABLES: Final = """
    CREATE TABLE IF NOT EXISTS store (url TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS file (
        path TEXT PRIMARY KEY, folder TEXT NOT NULL, address TEXT NOT NULL, size INTEGER NOT NULL,
        modified REAL NOT NULL, tag TEXT NOT NULL, fetched REAL NOT NULL DEFAULT 0) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS file_by_folder ON file (folder, path);
"""


class Placeholder(NamedTuple):
    """Empty local file in place of a remote file that is fetched when it is read."""

    path: str
    file: RemoteFile


class PlaceholderIndex:
    """Index of the placeholders of one local copy with the top folder ``copy``."""

    def __init__(self, copy: Path) -> None:
        self._copy = copy
        self._path = copy.with_name(CATALOGUE)

    def exists(self) -> bool:
        """Return True if the index was written."""
        return self._path.is_file()

    def url(self) -> str:
        """Return the URL of the store. Raises OSError."""
        with self._open() as database:
            ((url,),) = database.execute("SELECT url FROM store")
            return str(url)

    def files(self) -> dict[str, RemoteFile]:
        """Return all placeholders by path below the copy, including fetched ones, {} without an index. Raises
        OSError."""
        if not self.exists():
            return {}
        with self._open() as database:
            rows = database.execute("SELECT path, address, size, modified, tag FROM file")
            return {path: RemoteFile(*file) for path, *file in rows}

    def put(self, url: str, files: Mapping[str, RemoteFile], gone: Iterable[str]) -> None:
        """Set the store's URL, add or replace placeholders, and remove the paths `gone`. Raises OSError."""
        with self._open(to_write=True) as database, database:
            database.executescript(_TABLES)
            database.execute("DELETE FROM store")
            database.execute("INSERT INTO store VALUES (?)", (url,))
            database.executemany("DELETE FROM file WHERE path = ?", [(path,) for path in gone])
            database.executemany(
                "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?, 0)",
                [(path, path.rpartition("/")[0], *file) for path, file in files.items()],
            )

    def find(self, path: str) -> list[Placeholder]:
        """Return the placeholder at a path, also a fetched one, and up to 15 unfetched ones after it in its
        folder. [] if there is no placeholder at the path. Raises OSError."""
        with self._open() as database:
            rows = database.execute(
                "SELECT path, address, size, modified, tag FROM file"
                " WHERE folder = ? AND path >= ? AND (fetched = 0 OR path = ?) ORDER BY path LIMIT ?",
                (path.rpartition("/")[0], path, path, 1 + AHEAD),
            )
            wanted = [Placeholder(name, RemoteFile(*file)) for name, *file in rows]
        return wanted if wanted and wanted[0].path == path else []

    def note_fetched(self, paths: Iterable[str], moment: float) -> None:
        """Record that files were fetched at ``moment`` in Unix seconds, or with 0 that they are placeholders
        again."""
        with self._open(to_write=True) as database, database:
            database.executemany(
                "UPDATE file SET fetched = ? WHERE path = ?", [(moment, path) for path in paths]
            )

    def fetched(self) -> list[Placeholder]:
        """Return the fetched files, oldest fetch first. Raises OSError."""
        with self._open() as database:
            rows = database.execute(
                "SELECT path, address, size, modified, tag FROM file WHERE fetched > 0 ORDER BY fetched"
            )
            return [Placeholder(path, RemoteFile(*file)) for path, *file in rows]

    @contextmanager
    def _open(self, to_write: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the database and close it on exit. Raises OSError."""
        try:
            with own_database(self._path, to_write) as database:
                yield database
        except sqlite3.Error as error:
            raise OSError(errno.EIO, f"cannot use the index of placeholders: {error}") from error


class Fetcher:
    """Reader of one store. After a failure it makes no request for ``PAUSE`` seconds."""

    def __init__(self, url: str) -> None:
        self._store = RemoteStore(url, threading.Event())
        self._failure = ""
        self._failed_at = -math.inf

    def read(self, file: RemoteFile, start: int, end: int) -> bytes:
        """Return the bytes of a remote file from ``start`` to before ``end``. Raises StoreError."""
        if time.monotonic() - self._failed_at < PAUSE:
            raise StoreError(self._failure)
        try:
            return self._store.read(file, start, end)
        except StoreError as error:
            if error.reason != "remote.gone":  # concerns this file only
                self._failure, self._failed_at = error.reason, time.monotonic()
            raise


def put_placeholder(copy: Path, path: str, file: RemoteFile) -> None:
    """Create a placeholder in a local copy, in place of an existing file. Raises OSError."""
    local = copy / path
    local.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = part_path(copy, path, file)
    part.unlink(missing_ok=True)
    for name in (f"{part.name}.ranges", f"{part.name}.blocks"):  # readers have them open
        part.with_name(name).unlink(missing_ok=True)
    with os.fdopen(open_own(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as target:
        target.truncate(file.size)
        if file.size:
            os.fchmod(target.fileno(), _MARK | 0o600)
    finish(part, local, file)


def fetch(path: str) -> bool:
    """Replace a placeholder by its content, and return False if there is no placeholder at this path. Raises
    OSError if the store does not return the content.

    Small following files of the folder are fetched too, because a reader of one tensor of a dump usually
    reads all. An interrupted fetch continues where it ended.
    """
    placeholder = find_placeholder(path)
    if placeholder is None:
        return False
    copy, catalogue, wanted = placeholder
    store = fetcher_of(catalogue.url())
    first, ahead = wanted[0], _choose_ahead(wanted[1:])
    with ThreadPoolExecutor(REQUESTS - 1, "fetch") as executor:  # and this thread
        others = [(item, executor.submit(_fetch, copy, item, store)) for item in ahead]
        try:
            _fetch(copy, first, store)
        except StoreError as error:
            raise store_failure(error, path) from None
    done = [item.path for item, future in others if future.exception() is None]
    catalogue.note_fetched([first.path, *done], time.time())
    return True


def find_placeholder(path: str) -> tuple[Path, PlaceholderIndex, list[Placeholder]] | None:
    """Return the copy, its index and the placeholders from an absolute path on, or None if no trusted copy
    has one. Raises OSError. The copy is its top folder. The placeholders are those of
    `PlaceholderIndex.find`."""
    copy = trusted_copy(path)
    if copy is None or not (catalogue := PlaceholderIndex(copy)).exists():
        return None
    wanted = catalogue.find(Path(path).relative_to(copy).as_posix())
    return (copy, catalogue, wanted) if wanted else None


def fetcher_of(url: str) -> Fetcher:
    """Return the cached reader of a store, one for each URL and process."""
    return _fetcher(url, os.getpid())


def store_failure(error: StoreError, path: str) -> OSError:
    """Return the OSError to raise for the file at ``path`` that its store does not return."""
    return OSError(errno.EIO, _TEXTS.get(error.reason, _TEXTS["remote.unreachable"]), path)


def make_room(copy: Path) -> None:
    """Replace fetched files by placeholders, oldest fetch first, until the disk has twice `ROOM` bytes
    free. Do nothing without an index."""
    catalogue = PlaceholderIndex(copy)
    if not catalogue.exists() or shutil.disk_usage(copy).free >= 2 * ROOM:
        return
    for path, file in catalogue.fetched():
        put_placeholder(copy, path, file)
        catalogue.note_fetched([path], 0.0)
        if shutil.disk_usage(copy).free >= 2 * ROOM:
            return


def _fetch(copy: Path, wanted: Placeholder, store: Fetcher) -> None:
    """Fetch the content of one placeholder. Raises StoreError or OSError."""
    path, file = wanted
    local, part = copy / path, part_path(copy, path, file)
    with locked(part, WAIT):
        if not local.stat().st_mode & _MARK:  # another process has fetched it
            return
        with os.fdopen(open_own(part, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as target:
            while (start := target.tell()) < file.size:
                _check_room(copy, file.size - start, path)
                piece = store.read(file, start, min(file.size, start + PIECE))
                if not piece:
                    raise OSError(errno.EIO, _SHORTER, path)
                target.write(piece)
                target.flush()
        finish(part, local, file)
    with suppress(OSError):
        Path(f"{part}.lock").unlink()


def _check_room(copy: Path, size: int, path: str) -> None:
    """Raise OSError if the disk has no room for ``size`` more bytes."""
    if shutil.disk_usage(copy).free - size < ROOM:
        raise OSError(errno.ENOSPC, "the disk of the workspace has no room for the file", path)


def finish(part: Path, local: Path, file: RemoteFile) -> None:
    """Give the complete file `part` the time of the remote file and the name `local`."""
    if file.modified:
        os.utime(part, (time.time(), file.modified))
    part.replace(local)


def _choose_ahead(files: Iterable[Placeholder]) -> list[Placeholder]:
    """Return the first files with at most ``AHEAD_SIZE`` bytes together."""
    left, chosen = AHEAD_SIZE, []
    for wanted in files:
        left -= wanted.file.size
        if left < 0:
            break
        chosen.append(wanted)
    return chosen


def part_path(copy: Path, path: str, file: RemoteFile) -> Path:
    """Return the path for incomplete content, and create its folder. Each version of a file has its own."""
    digest = hashlib.sha256(repr((path, *file[1:])).encode("utf-8", "surrogateescape")).hexdigest()
    return own_folder(copy.with_name(_PARTS)) / digest[:40]


@lru_cache(maxsize=8)
def _fetcher(url: str, process: int) -> Fetcher:
    """Return the cached reader of a store."""
    return Fetcher(url)


LARGE: Final = 64 << 20  # bytes from which a file is fetched in blocks instead of whole
BLOCK: Final = 256 << 10  # bytes of one block


def open_ranges(path: str) -> RangedFile | None:
    """Return the placeholder at this absolute path as a file read in blocks, or None if there is none. Raises
    OSError if the workspace cannot be written to."""
    placeholder = find_placeholder(path)
    if placeholder is None:
        return None
    copy, catalogue, (wanted, *_) = placeholder
    return RangedFile(copy, wanted, fetcher_of(catalogue.url()), catalogue)


class RangedFile(io.RawIOBase):
    """Read-only file with blocks fetched on access.

    Reading raises OSError if the store does not return them.

    It has no descriptor that others could read from, because they would read zeros in missing blocks.
    """

    def __init__(self, copy: Path, wanted: Placeholder, store: Fetcher, catalogue: PlaceholderIndex) -> None:
        super().__init__()
        self._copy, self._wanted, self._store, self._catalogue = copy, wanted, store, catalogue
        self._size = wanted.file.size
        self._at = 0
        self._noted = False  # whether the index knows that the file takes room
        part = part_path(copy, wanted.path, wanted.file)
        self._part = part.with_name(f"{part.name}.ranges")
        blocks = -(-self._size // BLOCK)
        with locked(part, WAIT):
            self._data = _open_sized(self._part, self._size)
            self._map = _open_sized(part.with_name(f"{part.name}.blocks"), blocks)
        self._lock = part

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position and return it. Raises ValueError for a negative one or an unknown `whence`."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}.get(whence)
        if start is None:
            raise ValueError(f"invalid whence ({whence}, should be 0, 1 or 2)")
        if start + offset < 0:
            raise ValueError(f"negative seek position {start + offset}")
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        """Return the position."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer, as many as fit, and return their number, 0 at the end. Raises OSError."""
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._at)]
        self._ensure(self._at, self._at + len(view))
        count = os.preadv(self._data, [view], self._at) if view else 0
        self._at += count
        return count

    def readall(self) -> bytes:
        """Return the rest of the file, fetched in requests of the largest size. Raises OSError."""
        content = bytearray(max(0, self._size - self._at))
        for start in range(0, len(content), PIECE):
            self.readinto(memoryview(content)[start : start + PIECE])
        return bytes(content)

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            os.close(self._data)
            os.close(self._map)
        super().close()

    def _ensure(self, start: int, end: int) -> None:
        """Fetch the missing blocks between two offsets. Raises OSError."""
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
        """Return the missing blocks from ``first`` to before ``last``."""
        known = os.pread(self._map, last - first, first)
        return [first + number for number, byte in enumerate(known) if not byte]

    def _fetch(self, low: int, high: int) -> None:
        """Fetch the blocks from ``low`` to before ``high`` in one request. Raises OSError."""
        start, end = low * BLOCK, min(high * BLOCK, self._size)
        _check_room(self._copy, end - start, self._wanted.path)
        try:
            content = self._store.read(self._wanted.file, start, end)
        except StoreError as error:
            raise store_failure(error, self._wanted.path) from None
        if len(content) < end - start:
            raise OSError(errno.EIO, _SHORTER, self._wanted.path)
        os.pwrite(self._data, content, start)
        os.pwrite(self._map, b"\1" * (high - low), low)


def _requests(blocks: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first block and the end of each request: adjacent blocks together, up to ``PIECE`` bytes."""
    start = 0
    for number in range(1, len(blocks) + 1):
        apart = number == len(blocks) or blocks[number] != blocks[number - 1] + 1
        if apart or number - start == PIECE // BLOCK:
            yield blocks[start], blocks[number - 1] + 1
            start = number


def _open_sized(path: Path, size: int) -> int:
    """Return a descriptor of a file of this size, created from zeros if it is missing. Raises OSError."""
    descriptor = open_own(path, os.O_RDWR | os.O_CREAT)
    try:
        if os.fstat(descriptor).st_size != size:
            os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
