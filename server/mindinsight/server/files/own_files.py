"""Files that only this user can write: folders and files of the workspace, and locks between processes."""

import errno
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

STEPS: Final = 50_000_000  # SQLite instructions of one query; listing 200,000 files takes about a tenth
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_COPY_DEPTH: Final = 2  # folders between `<workspace>/remote` and the files of a copy: digest and name
redirect_hosts: Final[set[str]] = set()  # hosts to which a web server may redirect, set by the application
_copies: Final[set[str]] = set()  # real paths of `<workspace>/remote`, set by the application


class NotOursError(OSError):
    """Error: a file or folder of the workspace is a link, or belongs to or can be written by another user."""


def own_folder(path: Path) -> Path:
    """Create a folder, and missing folders above it, with mode 0700, and return its path. Raises
    NotOursError for a link or a folder of another user. An existing folder of this user is made private."""
    missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True, mode=0o700)
    check_folder(path, writable=0)
    if not hasattr(os, "O_DIRECTORY"):
        path.chmod(0o700)
    elif stat.S_IMODE(path.lstat().st_mode) & 0o077:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
        try:
            _check_owner(os.fstat(descriptor), path)  # may have been replaced since the first check
            os.fchmod(descriptor, 0o700)
        finally:
            os.close(descriptor)
    return path


def check_folder(path: Path, writable: int = 0o022) -> None:
    """Raise NotOursError unless `path` is a folder of this user without the mode bits `writable`. Raises
    another OSError for a missing one."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotOursError(errno.ENOTDIR, "not a folder, or a link to one", str(path))
    _check_owner(state, path)
    if state.st_mode & writable:
        raise NotOursError(errno.EPERM, "other users can write to the folder", str(path))


def open_own(path: Path, flags: int) -> int:
    """Return a descriptor of a regular file of this user, opened with `flags`. `O_CREAT` creates the file
    with mode 0600. Raises NotOursError for a file that another user owns or can write to, and for a file
    with a second name. Raises OSError for a link. `O_TRUNC` truncates the file after these checks."""
    descriptor = os.open(path, flags & ~os.O_TRUNC | _NO_LINK | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        _check_file(os.fstat(descriptor), path, 0o022)
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_file(path: Path, writable: int = 0o022) -> None:
    """Raise NotOursError unless `path` is a regular file of this user without the mode bits `writable`.
    Raises another OSError for a missing one. For files that a library opens, in a folder that
    `check_folder` accepts."""
    _check_file(path.lstat(), path, writable)


def read_own(path: Path) -> bytes:
    """Return the content of a regular file of this user. Raises as `open_own`."""
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        return file.read()


@contextmanager
def own_database(path: Path, to_write: bool) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file of this user, yield the connection, and close it on exit. Raises NotOursError for a
    file of another user or one with views or triggers, which would run within our queries. Raises OSError for
    a missing file, and sqlite3.Error.

    With `to_write` the file is created if it is missing, otherwise it is opened for reading only.

    A query is interrupted after `STEPS` instructions.
    """
    if to_write:
        with suppress(FileExistsError):
            os.close(open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    check_file(path)
    address = f"file:{quote(str(path))}?mode={'rw' if to_write else 'ro'}"
    with closing(sqlite3.connect(address, timeout=30, uri=True)) as database:
        database.execute("PRAGMA trusted_schema=OFF")
        database.set_progress_handler(lambda: 1, STEPS)
        foreign = "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index') LIMIT 1"
        if database.execute(foreign).fetchone():
            raise NotOursError(
                errno.EIO, "the database is not trusted, because it has views or triggers", str(path)
            )
        yield database


def trust_copies(folder: str | os.PathLike[str], hosts: Iterable[str] = ()) -> None:
    """Trust the local copies of remote stores in `folder`, and allow redirects of web servers to `hosts`.
    `folder` is the `<workspace>/remote` of this process's server."""
    _copies.add(os.path.realpath(folder))
    redirect_hosts.update(host.lower() for host in hosts)


def trusted_copy(path: str) -> Path | None:
    """Return the top folder of the local copy of a remote store that contains a file, else None. Raises
    NotOursError if another user could have put files into the folder that contains the copy. Only copies
    below a folder of `trust_copies` count."""
    for folder in map(Path, _copies):
        if Path(path).is_relative_to(folder):
            parts = Path(path).relative_to(folder).parts
            if len(parts) <= _COPY_DEPTH:
                return None
            check_folder(folder, 0o077)
            check_folder(folder / parts[0], 0o077)
            return folder.joinpath(*parts[:_COPY_DEPTH])
    return None


def _check_file(state: os.stat_result, path: Path, writable: int) -> None:
    """Raise NotOursError for a file that other users own or can write to."""
    if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
        raise NotOursError(errno.EPERM, "not a regular file, or one with several names", str(path))
    _check_owner(state, path)
    if hasattr(os, "geteuid") and state.st_mode & writable:
        raise NotOursError(errno.EPERM, "other users can write to the file", str(path))


def _check_owner(state: os.stat_result, path: Path) -> None:
    """Raise NotOursError if another user is the owner."""
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        raise NotOursError(errno.EPERM, "the owner is another user", str(path))


WAIT: Final = 10.0  # seconds that another process may hold the lock
_AGAIN: Final = 0.01  # seconds between two attempts


@contextmanager
def locked(file: Path, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock ``<file>.lock`` until exit, also against other processes and over NFS. Raises
    TimeoutError (an OSError) if the lock was not free within ``wait`` seconds, and NotOursError if the lock
    file belongs to another user."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = open_own(Path(f"{file}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        until = time.monotonic() + wait
        while not _take(handle):
            if time.monotonic() > until:
                raise TimeoutError(f"another process holds {file.name}.lock")
            time.sleep(_AGAIN)
        yield
    finally:
        os.close(handle)  # releases the lock


def _take(handle: int) -> bool:
    """Try to lock the file, and return True on success."""
    if sys.platform == "win32":
        import msvcrt

        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            return True
        return False
    import fcntl

    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
