"""Trash folder beside a base directory, into which runs are moved and from which they can be restored."""

import errno
import os
import re
import time
from calendar import timegm
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.files.opener import files_of, folders_of, open_folder

STAMP: Final = r"^[0-9]{8}-[0-9]{6}-[0-9]{6}$"


class Discarded(NamedTuple):
    """Directory in the trash."""

    stamp: str  # of the move
    below: str  # path below the base directory
    deleted: int  # when, in epoch seconds


def trash_of(base: Path) -> Path:
    """Return the trash folder of a base directory. Its name is hidden, so that no pattern matches it."""
    return base.parent / f".{base.name}.trash"


def new_stamp() -> str:
    """Return a name for a new folder in the trash: the time in UTC with microseconds."""
    now = time.time()
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)) + f"-{int(now % 1 * 1_000_000):06}"


def discard(base: Path, below: str, stamp: str) -> None:
    """Move the directory `below` a base directory into the folder `stamp` of its trash. Raises LinkError, or
    OSError, also if the trash is on another file system."""
    *folders, name = below.split("/")
    with (
        open_folder(base.joinpath(*folders)) as source,
        open_folder(base.parent, (trash_of(base).name, stamp, *folders)) as target,
    ):
        _move(name, source, target)


def restore(base: Path, below: str, stamp: str) -> None:
    """Move the directory ``below`` from the trash folder ``stamp`` back to ``base``. Raises LinkError for
    a link on the path, and OSError, also if the path is taken. Folders of the trash that are empty
    afterwards are removed."""
    *folders, name = below.split("/")
    with (
        open_folder(trash_of(base).joinpath(stamp, *folders)) as source,
        open_folder(base, folders) as target,
    ):
        _move(name, source, target)
    emptied = [stamp, *folders]
    with suppress(OSError):  # the first folder that holds something else ends this
        for depth in range(len(emptied), -1, -1):
            trash_of(base).joinpath(*emptied[:depth]).rmdir()


def discarded(base: Path) -> Iterator[Discarded]:
    """Yield the directories with files in the trash of a base directory, the last moved first. Folders
    whose name is not a stamp with a valid time are skipped. Nothing is yielded without a trash."""
    for folder in reversed(folders_of(trash_of(base))):
        if not re.match(STAMP, folder.name):
            continue
        try:
            deleted = timegm(time.strptime(folder.name[:15], "%Y%m%d-%H%M%S"))
        except ValueError:  # no date
            continue
        for path in _outermost_with_files(folder):
            yield Discarded(folder.name, path.relative_to(folder).as_posix(), deleted)


def _outermost_with_files(folder: Path) -> Iterator[Path]:
    for path in folders_of(folder):
        if files_of(path):
            yield path
        else:
            yield from _outermost_with_files(path)


def _move(name: str, source: int, target: int) -> None:
    """Rename an entry of an open folder into another one, unless the name is taken there."""
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=target, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    os.rename(name, name, src_dir_fd=source, dst_dir_fd=target)
