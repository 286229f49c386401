"""Watchers of the base directories: file system events where they are reliable, else polling."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from mindinsight.server.files.opener import folders_of
from mindinsight.server.ingest.filesystems import tells_changes
from mindinsight.server.settings import Watch

_WANTED: Final = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
_MOST_FOLDERS: Final = 50_000  # each takes a kilobyte of the kernel's memory and one watch of the user's
_FORGIVEN: Final = 0.9  # part of the folders that must be watched: some may not be readable

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ChangedPaths:
    """Absolute paths at which something changed."""

    folders: set[str] = field(default_factory=set)  # something came, went or was renamed inside
    files: set[str] = field(default_factory=set)  # was written to


class Watcher(FileSystemEventHandler):
    """Listens to events of the file system; ``mode`` says whether it reports any.

    Calls ``wake`` at the first change after each ``take``.
    """

    def __init__(self, base: str, watch: Watch, wake: Callable[[], None]) -> None:
        self.mode: Literal["events", "polling"] = "polling"
        self._base = base
        self._watch = watch
        self._wake = wake
        self._lock = threading.Lock()
        self._changed = ChangedPaths()
        self._observer: BaseObserver | None = None
        self._threads: list[threading.Thread] = []

    def start(self, others: int = 0) -> None:
        """Begin to listen, unless settings or the file system make that useless.

        ``others`` is how many folders other watchers of this process listen to.
        """
        self.stop()
        if self._watch == "polling" or (self._watch == "auto" and not tells_changes(self._base)):
            return
        folders, unreadable = _count_folders(self._base, _MOST_FOLDERS)
        if unreadable:
            count, first = len(unreadable), unreadable[0]
            _log.warning("%d directories cannot be read and are not watched, the first: %s", count, first)
        # The library says this of each directory but the first that it may not read, and goes on.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        before = set(threading.enumerate())
        try:
            observer = Observer()
            self._observer = observer
            observer.schedule(self, self._base, recursive=True, event_filter=list(_WANTED))
            observer.start()
        except OSError as error:  # no watches or descriptors left
            self._give_up(error.strerror or str(error))
            return
        self._threads = [
            thread for thread in threading.enumerate() if thread not in before and _of_watchdog(thread)
        ]
        if folders > _MOST_FOLDERS or not _enough(folders + others):
            self._give_up(f"{folders} folders or more are too many to watch")
        else:
            self.mode = "events"

    def stop(self) -> None:
        """Stop listening."""
        observer, self._observer, self.mode = self._observer, None, "polling"
        self._threads = []
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join(timeout=5)

    def hears(self, folders: int) -> bool:
        """False when listening has broken down, or the watches ran out while folders came.

        ``folders`` is how many there are for all watchers of this process.
        """
        alive = all(thread.is_alive() for thread in self._threads)
        return alive and (self.mode == "polling" or _enough(folders))

    def _give_up(self, why: str) -> None:
        _log.warning("no events from the file system, polling: %s", why)
        self.stop()

    @property
    def has_changes(self) -> bool:
        """Whether something happened since the last ``take``."""
        return bool(self._changed.folders or self._changed.files)

    def take(self) -> ChangedPaths:
        """What happened since the last time."""
        with self._lock:
            stirred, self._changed = self._changed, ChangedPaths()
        return stirred

    def on_any_event(self, event: FileSystemEvent) -> None:
        paths = [os.fsdecode(path) for path in (event.src_path, getattr(event, "dest_path", "")) if path]
        with self._lock:
            silent = not self.has_changes
            if event.event_type == "modified" and not event.is_directory:
                self._changed.files.update(paths)
            else:
                self._changed.folders.update(map(os.path.dirname, paths))
                if event.is_directory:
                    self._changed.folders.update(paths)
        if silent:
            self._wake()


def _enough(folders: int) -> bool:
    return watches() >= _FORGIVEN * folders - 10


def watches() -> int:
    """Folders the kernel watches for this process; without Linux, more than anybody has.

    The library goes on silently when the user's watches are used up.
    """
    descriptors = Path("/proc/self/fdinfo")
    if not descriptors.exists():
        return sys.maxsize
    count = 0
    for entry in descriptors.iterdir():
        try:
            count += entry.read_text().count("inotify wd:")
        except OSError:
            continue
    return count


def _count_folders(base: str, limit: int) -> tuple[int, list[str]]:
    """Folders from ``base`` down, links left out, and those that cannot be read; ends above ``limit``."""
    count, waiting, unreadable = 1, [Path(base)], []
    while waiting and count <= limit:
        folder = waiting.pop()
        below = folders_of(folder)
        if not below and not os.access(folder, os.R_OK | os.X_OK):
            unreadable.append(str(folder))
        count += len(below)
        waiting += below
    return count, unreadable


def _of_watchdog(thread: threading.Thread) -> bool:
    return type(thread).__module__.startswith("watchdog.")


MOST: Final = 24  # listened to at a time: each takes three threads, and a user has 128 places to listen from

Mode: TypeAlias = Literal["events", "polling"]


class FolderIdentity(NamedTuple):
    """Which folder a path leads to."""

    device: int
    inode: int


class Watchers:
    """One watcher for each base directory, by its absolute path without links."""

    def __init__(self, watch: Watch, wake: Callable[[], None]) -> None:
        """``wake`` is called, from other threads, when ``take`` has something to return."""
        self._watch = watch
        self._wake = wake
        self._watchers: dict[str, tuple[FolderIdentity, Watcher]] = {}

    def listen(self, bases: Mapping[str, FolderIdentity], folders: Mapping[str, int]) -> None:
        """Watch these directories, with so many folders each; one that was replaced is watched anew."""
        for path in [path for path, (identity, _) in self._watchers.items() if bases.get(path) != identity]:
            self._watchers.pop(path)[1].stop()
        for path, identity in bases.items():
            others = sum(
                folders[base] for base in self._watchers if base != path and self.mode(base) == "events"
            )
            known = self._watchers.get(path)
            if known is None and len(self._watchers) < MOST:
                known = self._watchers[path] = (identity, Watcher(path, self._watch, self._wake))
                known[1].start(others)
            elif known is not None and not known[1].hears(folders[path] + others):
                known[1].start(others)

    def mode(self, path: str) -> Mode:
        """Whether the file system tells of what happens below a directory."""
        return self._watchers[path][1].mode if path in self._watchers else "polling"

    @property
    def has_changes(self) -> bool:
        """Whether something happened since the last ``take``."""
        return any(watcher.has_changes for _, watcher in self._watchers.values())

    def take(self) -> ChangedPaths:
        """What happened since the last time."""
        paths = ChangedPaths()
        for _, watcher in self._watchers.values():
            stirred = watcher.take()
            paths.folders |= stirred.folders
            paths.files |= stirred.files
        return paths

    def stop(self) -> None:
        """Stop watching."""
        for _, watcher in self._watchers.values():
            watcher.stop()
        self._watchers = {}
