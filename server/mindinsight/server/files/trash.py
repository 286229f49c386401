"""Trash folder beside a base directory, into which runs are moved and from which they can be restored."""

import errno
import os
import time
from contextlib import suppress
from pathlib import Path

from mindinsight.server.files.opener import open_folder


def trash_of(base: Path) -> Path:
    """Return the trash folder of a base directory. Its name is hidden, so that no pattern matches it."""
    return base.parent / f".{base.name}.trash"


def new_stamp() -> str:
    """Return the name of a folder in the trash for what is moved now: the time in UTC with microseconds."""
    now = time.time()
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)) + f"-{int(now % 1 * 1_000_000):06}"


def discard(base: Path, below: str, stamp: str) -> None:
    """Move the directory `below` a base directory into its trash.

    Raises LinkError, or OSError, also if the trash is on another file system.
    """
    *folders, name = below.split("/")
    with (
        open_folder(base.joinpath(*folders)) as source,
        open_folder(base.parent, (trash_of(base).name, stamp, *folders)) as target,
    ):
        _move(name, source, target)


def restore(base: Path, below: str, stamp: str) -> None:
    """Move a directory back from the trash. Raises LinkError, or OSError, also if its path is taken."""
    *folders, name = below.split("/")
    with (
        open_folder(trash_of(base).joinpath(stamp, *folders)) as source,
        open_folder(base, folders) as target,
    ):
        _move(name, source, target)


def _move(name: str, source: int, target: int) -> None:
    """Rename an entry of an open folder into another one, unless the name is taken there."""
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=target, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
