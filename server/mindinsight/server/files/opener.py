"""Opener and lister of files below base directories. It walks from folder to folder and follows no link."""

import errno
import os
import stat
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import IO, Any, Final

from mindinsight.server.cancellation import check, claim
from mindinsight.server.files.own_files import trusted_copy

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAY: Final = _FOLDER | getattr(os, "O_PATH", 0)  # needs no permission to list the folder
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SPECIAL: Final = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)  # errors of a socket or a missing device
_OPENAT2: Final = 437  # number of the system call on Linux
_FROM_HERE: Final = -100  # AT_FDCWD
_NO_LINKS: Final = 4  # RESOLVE_NO_SYMLINKS of openat2(2)


class LinkError(OSError):
    """Error: a part of a path is a symbolic link."""


class SpecialFileError(OSError):
    """Error: a path leads to a folder, pipe, socket or device instead of a regular file."""


def open_file(path: str | os.PathLike[str]) -> int:
    """Return a descriptor of a regular file, for reading. Raises LinkError, SpecialFileError or another
    OSError. Never blocks, whatever is at the path."""
    try:
        descriptor = _walk(os.fspath(path), _FILE)
    except OSError as error:
        if error.errno in _SPECIAL:
            raise SpecialFileError(error.errno, "not a regular file", str(path)) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SpecialFileError(errno.EINVAL, "not a regular file", str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[int]:
    """Open a regular file, yield its descriptor for reading, and close it on exit. Raises as `open_file`.
    Content of a remote file is fetched whole before."""
    with _raw_file(path) as file:
        yield file.fileno()  # the file is complete, not fetched in blocks


def open_stream(path: str | os.PathLike[str]) -> IO[bytes]:
    """Return a regular file as a binary stream. Raises as `open_file`. A large file of a remote store is
    fetched block by block as it is read, and has no descriptor."""
    return BufferedReader(_raw_file(path, by_ranges=True))


@contextmanager
def entries_of(path: str | os.PathLike[str]) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Open a folder, yield an iterator of its entries, and close it on exit. Raises LinkError or another
    OSError. The ``path`` of an entry is only its name."""
    check()
    descriptor = _walk(os.fspath(path), _FOLDER)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


@contextmanager
def open_folder(path: str | os.PathLike[str], new: Sequence[str] = ()) -> Iterator[int]:
    """Open a folder, or the nested folders `new` below it, yield a descriptor, and close it on exit.
    Raises LinkError or another OSError. The descriptor is for calls with ``dir_fd``. With `new` it is that
    of the innermost folder, and missing ones are created."""
    descriptor = _walk(os.fspath(path), _WAY)
    try:
        for name in new:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=descriptor)
            outer, descriptor = descriptor, os.open(name, _WAY, dir_fd=descriptor)
            os.close(outer)
        yield descriptor
    finally:
        os.close(descriptor)


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """Return ``size`` bytes of an open file from ``offset`` on, fewer only at the end of the file. The
    file position is unchanged."""
    claim(size)
    pieces: list[bytes] = []
    while size and (piece := os.pread(descriptor, size, offset)):
        pieces.append(piece)
        offset += len(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _raw_file(path: str | os.PathLike[str], by_ranges: bool = False) -> RawIOBase:
    """Open a regular file with its content, which is fetched from a store if the file is a placeholder.
    Raises as `open_file`, and OSError if the content cannot be fetched."""
    check()
    file = FileIO(open_file(path))
    state = os.fstat(file.fileno())
    if not state.st_mode & stat.S_ISVTX:
        return file
    try:
        if trusted_copy(os.fspath(path)) is None:
            _refuse_placeholder(state, path)
            return file
        from mindinsight.server.files import placeholders  # with SQLite and fsspec

        large = by_ranges and state.st_size >= placeholders.LARGE
        ranged = placeholders.open_ranges(os.fspath(path)) if large else None
        if ranged is not None:
            file.close()
            return ranged
        fetched = placeholders.fetch(os.fspath(path))
    except BaseException:
        file.close()
        raise
    if not fetched:  # not a placeholder: another program set the sticky bit
        return file
    file.close()
    file = FileIO(open_file(path))
    if os.fstat(file.fileno()).st_mode & stat.S_ISVTX:
        file.close()
        raise OSError(errno.EAGAIN, "the file changed in the store; open it again", str(path))
    return file


def _refuse_placeholder(state: os.stat_result, path: str | os.PathLike[str]) -> None:
    """Raise OSError for a placeholder outside the trusted copies, because its zeros are no content."""
    if state.st_size and not getattr(state, "st_blocks", 1):
        raise OSError(
            errno.ENODATA, "a placeholder of a file in a store, which only its server can fetch", path
        )


@cache
def _system_call() -> Any:
    import ctypes  # not with the first page, which opens no file of a run

    function = ctypes.CDLL(None).syscall
    function.restype = ctypes.c_long
    function.argtypes = ctypes.c_long, ctypes.c_long, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t
    return function


def _open_at_once(path: str, flags: int) -> int:
    """Return a descriptor opened by one system call that follows no link, or -1 if the call fails. A
    folder or file ten levels deep takes a fifth of the time of walking there."""
    if sys.platform != "linux" or "\0" in path:
        return -1
    how = struct.pack("QQQ", flags, 0, _NO_LINKS)
    return int(_system_call()(_OPENAT2, _FROM_HERE, os.fsencode(path), how, len(how)))


def _walk(path: str, flags: int) -> int:
    """Open a path without following links, and return the descriptor. Where one system call cannot do that,
    open component by component. Raises LinkError or another OSError."""
    parts = [part for part in path.split("/") if part not in ("", ".")] or ["."]
    if ".." in parts:  # could lead out of the base directory
        raise FileNotFoundError(errno.ENOENT, "paths with .. are not allowed", path)
    with suppress(ValueError):  # a character that the file system cannot encode
        if (descriptor := _open_at_once(path, flags)) >= 0:
            return descriptor
    name = "/" if path.startswith("/") else "."
    folder = os.open(name, _WAY)
    try:
        for name in parts[:-1]:
            outer, folder = folder, os.open(name, _WAY, dir_fd=folder)
            os.close(outer)
        name = parts[-1]
        return os.open(name, flags, dir_fd=folder)
    except ValueError as error:  # a NUL, or a character that the file system cannot encode
        raise FileNotFoundError(errno.ENOENT, "the file system cannot encode this name", path) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, folder):
            raise LinkError(errno.ELOOP, "links are not followed", path) from error
        raise type(error)(error.errno, error.strerror, path) from error
    finally:
        os.close(folder)


def _is_link(name: str, folder: int) -> bool:
    """Return True if a name in an open folder is a symbolic link."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def folders_of(path: Path) -> list[Path]:
    """Return the paths of the directories directly inside, sorted. [] if the folder is missing or
    unreadable."""
    return sorted(path / name for name in _names(path, lambda entry: entry.is_dir(follow_symlinks=False)))


def files_of(path: Path) -> list[str]:
    """Return the names of the regular files directly inside, in no order. [] if missing or unreadable."""
    return _names(path, lambda entry: entry.is_file(follow_symlinks=False))


def names_of(path: Path) -> list[str]:
    """Return all names directly inside, in no order. [] if the folder is missing or unreadable."""
    return _names(path, lambda entry: True)


def _names(path: Path, wanted: Callable[[os.DirEntry[str]], bool]) -> list[str]:
    """Return the names of the wanted entries of a folder, empty if it cannot be read."""
    try:
        with entries_of(path) as entries:
            return [entry.name for entry in entries if wanted(entry)]
    except OSError:
        return []


def refused_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield name and reason (``link`` or ``not_a_file``) of the entries of a folder that are never opened.
    A folder that is itself a link yields ``("", "link")``, a missing or unreadable folder nothing."""
    try:
        with entries_of(path) as entries:
            yield from [(entry.name, reason) for entry in entries if (reason := _refusal(entry))]
    except LinkError:
        yield "", "link"
    except OSError:
        return


def _refusal(entry: os.DirEntry[str]) -> str:
    """Return the reason why an entry must never be opened, or "" if it may be opened."""
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
        return ""
    return "link" if entry.is_symlink() else "not_a_file"
