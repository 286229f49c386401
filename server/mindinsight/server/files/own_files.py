"""Files that only this user can write: folders and files of the workspace, checked before they are believed.

What lies below a base directory is data of anybody. The workspace is believed because nobody else can write
to it. This module checks the owner and the mode of a folder, and opens files without following a link.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_COPY_DEPTH: Final = 2  # folders between `<workspace>/remote` and the files of a copy: digest and name
redirect_hosts: Final[set[str]] = set()  # to which a web server may lead, named by the application
_copies: Final[set[str]] = set()  # real paths of `<workspace>/remote`, named by the application


class NotOursError(OSError):
    """Error: a file or folder of the workspace is a link, or belongs to or can be written by another user."""


def own_folder(path: Path) -> Path:
    """Make a folder with mode 0700 where there is none, and return it; a folder of ours is made private.

    Raises NotOursError for a link or a folder of another user.
    """
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    check_folder(path, writable=0)
    if stat.S_IMODE(path.lstat().st_mode) & 0o077:
        path.chmod(0o700)
    return path


def check_folder(path: Path, writable: int = 0o022) -> None:
    """Raise NotOursError unless `path` is a folder of this user without the mode bits `writable`."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotOursError(errno.ENOTDIR, "not a folder, or a link to one", str(path))
    _check_owner(state, path)
    if state.st_mode & writable:
        raise NotOursError(errno.EPERM, "other users can write to the folder", str(path))


def open_own(path: Path, flags: int) -> int:
    """Return a descriptor of a regular file of this user, made with mode 0600 by `O_CREAT`.

    Raises NotOursError for another user's file and for one that has a second name; OSError for a link.
    """
    descriptor = os.open(path, flags | _NO_LINK | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        _check_file(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_file(path: Path) -> None:
    """Raise NotOursError unless `path` is a regular file of this user. For files that SQLite opens."""
    _check_file(path.lstat(), path)


def read_own(path: Path) -> bytes:
    """Return the content of a regular file of this user; raises as `open_own`."""
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        return file.read()


def trust_copies(folder: str | os.PathLike[str], hosts: Iterable[str] = ()) -> None:
    """Let this process believe the copies of stores in `folder`, the `<workspace>/remote` of its server.

    It may follow redirects of web servers to `hosts`.
    """
    _copies.add(os.path.realpath(folder))
    redirect_hosts.update(host.lower() for host in hosts)


def trusted_copy(path: str) -> Path | None:
    """Return the top folder of the copy of a store that a file lies in, or None outside all trusted ones.

    Raises NotOursError when another user could have put files into the folder around the copy.
    """
    for folder in map(Path, _copies):
        if Path(path).is_relative_to(folder):
            parts = Path(path).relative_to(folder).parts
            if len(parts) <= _COPY_DEPTH:
                return None
            check_folder(folder, 0o077)
            check_folder(folder / parts[0], 0o077)
            return folder.joinpath(*parts[:_COPY_DEPTH])
    return None


def _check_file(state: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
        raise NotOursError(errno.EPERM, "not a regular file with one name", str(path))
    _check_owner(state, path)


def _check_owner(state: os.stat_result, path: Path) -> None:
    if hasattr(os, "geteuid") and state.st_uid != os.geteuid():
        raise NotOursError(errno.EPERM, "the owner is another user", str(path))
