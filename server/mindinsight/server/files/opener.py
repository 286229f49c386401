"""Opener and listing of files below base directories: a walk from folder to folder that follows no link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import IO, Final

from mindinsight.server.cancellation import check, claim
from mindinsight.server.files.own_files import trusted_copy

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAY: Final = _FOLDER | getattr(os, "O_PATH", 0)  # asks for no permission to list
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_SPECIAL: Final = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP)  # what opening a socket or a dead device says


class LinkError(OSError):
    """A part of a path is a symbolic link."""


class SpecialFileError(OSError):
    """What a path names is a folder, pipe, socket or device where a regular file is needed."""


def open_file(path: str | os.PathLike[str]) -> int:
    """A descriptor of a regular file, for reading.

    Raises ``LinkError``, ``SpecialFileError`` or another OSError; never blocks on what is in the place of
    the file.
    """
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
    """A descriptor of a regular file, closed in the end; raises as ``open_file``."""
    with _raw_file(path) as file:
        yield file.fileno()  # of a file that is there as a whole


def open_stream(path: str | os.PathLike[str]) -> IO[bytes]:
    """A regular file as a binary stream; raises as ``open_file``.

    A large file of a store is fetched block by block as it is read, and has no descriptor.
    """
    return BufferedReader(_raw_file(path, by_ranges=True))


@contextmanager
def entries_of(path: str | os.PathLike[str]) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder, for as long as the context lasts. Their ``path`` is the name alone.

    Raises ``LinkError`` or another OSError.
    """
    check()
    descriptor = _walk(os.fspath(path), _FOLDER)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """``size`` bytes from ``offset`` on; fewer only where the file ends. The descriptor's position stays."""
    claim(size)
    pieces: list[bytes] = []
    while size and (piece := os.pread(descriptor, size, offset)):
        pieces.append(piece)
        offset += len(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _raw_file(path: str | os.PathLike[str], by_ranges: bool = False) -> RawIOBase:
    """A regular file with its content, which comes from a store where a placeholder is in its place."""
    check()
    file = FileIO(open_file(path))
    state = os.fstat(file.fileno())
    if not state.st_mode & stat.S_ISVTX:
        return file
    try:
        if trusted_copy(os.fspath(path)) is None:
            _refuse_placeholder(state, path)
            return file
        from mindinsight.server.files.placeholders import fetch  # with SQLite and fsspec

        ranged = _ranged_file(path, state.st_size) if by_ranges else None
        if ranged is not None:
            file.close()
            return ranged
        fetched = fetch(os.fspath(path))
    except BaseException:
        file.close()
        raise
    if not fetched:  # a file with the sticky bit that somebody has set
        return file
    file.close()
    file = FileIO(open_file(path))
    if os.fstat(file.fileno()).st_mode & stat.S_ISVTX:
        file.close()
        raise OSError(errno.EAGAIN, "the file changed in the store; try again", str(path))
    return file


def _refuse_placeholder(state: os.stat_result, path: str | os.PathLike[str]) -> None:
    """Raise OSError for a placeholder outside the copies that are trusted: its zeros are no content."""
    if state.st_size and not getattr(state, "st_blocks", 1):
        raise OSError(
            errno.ENODATA, "a placeholder of a file in a store, which only its server can fetch", path
        )


def _ranged_file(path: str | os.PathLike[str], size: int) -> RawIOBase | None:
    """A large file of a store; None for others."""
    from mindinsight.server.files.placeholders import LARGE, open_ranges

    return open_ranges(os.fspath(path)) if size >= LARGE else None


def _walk(path: str, flags: int) -> int:
    """Descriptor of what a path names, opened part by part."""
    parts = [part for part in path.split("/") if part not in ("", ".")] or ["."]
    if ".." in parts:  # it may lead out of the base directory
        raise FileNotFoundError(errno.ENOENT, "no path leads upwards", path)
    name = "/" if path.startswith("/") else "."
    folder = os.open(name, _WAY)
    try:
        for name in parts[:-1]:
            outer, folder = folder, os.open(name, _WAY, dir_fd=folder)
            os.close(outer)
        name = parts[-1]
        return os.open(name, flags, dir_fd=folder)
    except ValueError as error:  # a NUL, or characters that no file system encodes
        raise FileNotFoundError(errno.ENOENT, "no file can have this name", path) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, folder):
            raise LinkError(errno.ELOOP, "links are not followed", path) from error
        raise type(error)(error.errno, error.strerror, path) from error
    finally:
        os.close(folder)


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def folders_of(path: Path) -> list[Path]:
    """Directories directly inside, by name; nothing for what is gone or may not be read."""
    try:
        with entries_of(path) as entries:
            return sorted(path / entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def files_of(path: Path) -> list[str]:
    """Names of the regular files directly inside, in no order; nothing for what is gone."""
    try:
        with entries_of(path) as entries:
            return [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []


def names_of(path: Path) -> list[str]:
    """Names of everything directly inside, whatever it is, in no order; nothing for what is gone."""
    try:
        with entries_of(path) as entries:
            return [entry.name for entry in entries]
    except OSError:
        return []


def refused_in(path: Path) -> Iterator[tuple[str, str]]:
    """What lies directly inside and is never opened: its name, and ``link`` or ``not_a_file``.

    A folder that is a link itself comes as ``("", "link")``.
    """
    try:
        with entries_of(path) as entries:
            yield from [(entry.name, reason) for entry in entries if (reason := _refusal(entry))]
    except LinkError:
        yield "", "link"
    except OSError:
        return


def _refusal(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
        return ""
    return "link" if entry.is_symlink() else "not_a_file"
