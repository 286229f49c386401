"""Listing of one folder: its event files and its subfolders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mindinsight.server.files.opener import LinkError, entries_of
from mindinsight.server.store import file_names

_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class Stamp(NamedTuple):
    """Change stamp of a file or folder; compared for equality only, as clocks can be set back."""

    device: int
    inode: int
    size: int
    modified: int  # nanoseconds
    changed: int  # nanoseconds, of owner and permission too
    closed: bool = False  # nobody may write to it: a writer makes its files so when it closes them


NOWHERE = Stamp(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Folder:
    """The listing of a folder at one moment."""

    stamp: Stamp
    looked: int  # nanoseconds, Unix
    files: dict[str, Stamp] = field(default_factory=dict)  # event, lineage, explain and graph files
    below: tuple[str, ...] = ()  # names of folders to look into
    profiles: tuple[str, ...] = ()  # names of folders that a profiler may have written
    reason: str = ""  # a key of the locale files when it could not be looked into

    @property
    def settled(self) -> bool:
        """False while a later change could carry the same time: file systems count in up to 2 s."""
        return abs(self.looked - self.stamp.modified) > 3_000_000_000


def stamp_of(path: str) -> Stamp | None:
    """Stamp of a file or folder, None when there is none; raises PermissionError when that is hidden."""
    try:
        return _stamp(os.lstat(path))
    except PermissionError:
        raise
    except OSError:
        return None


def list_folder(path: str, now: int) -> Folder | None:
    """Files and folders directly inside, links to folders left out; None when there is no such folder."""
    try:
        stamp = stamp_of(path)
        if stamp is None:
            return None
        with entries_of(path) as entries:
            files, below, profiles = _classify(entries)
    except PermissionError:
        return Folder(NOWHERE, now, reason="directory.permission")
    except (FileNotFoundError, NotADirectoryError, LinkError):
        return None
    except OSError:
        return Folder(NOWHERE, now, reason="directory.unreadable")
    return Folder(stamp, now, files, tuple(below), tuple(profiles))


def holds_profile(path: str) -> bool:
    """Whether a folder holds what MindSpore's profiler writes about a rank."""
    try:
        with entries_of(path) as entries:
            return any(file_names.is_profile_of_rank(entry.name) for entry in entries)
    except OSError:
        return False


def _classify(entries: Iterator[os.DirEntry[str]]) -> tuple[dict[str, Stamp], list[str], list[str]]:
    """Files with their stamps, names of folders to look into, names of folders of profilers."""
    files: dict[str, Stamp] = {}
    below: list[str] = []
    profiles: list[str] = []
    for entry in entries:
        folder = entry.is_dir(follow_symlinks=False)
        if file_names.role(entry.name) and not folder:  # of a link or a pipe, reading tells what it is
            try:
                files[entry.name] = _stamp(entry.stat(follow_symlinks=False))
            except OSError:  # it went away while we looked
                continue
        elif folder and file_names.is_profile(entry.name):
            profiles.append(entry.name)
        elif folder and not file_names.bulky(entry.name):
            below.append(entry.name)
    return files, below, profiles


def _stamp(status: os.stat_result) -> Stamp:
    closed = not status.st_mode & _WRITABLE
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, closed)
