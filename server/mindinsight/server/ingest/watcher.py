"""Watchers of the base directories: file system events if they are reliable, otherwise polling."""

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.utils import BaseThread

from mindinsight.server.compute.background_jobs import start_within_limit
from mindinsight.server.files.opener import folders_of
from mindinsight.server.ingest.filesystems import reports_changes
from mindinsight.server.settings import Watch

_WANTED: Final = [  # not opened and closed: reading a file would report itself
    *(events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent),
    *(events.FileCreatedEvent, events.FileDeletedEvent, events.FileModifiedEvent, events.FileMovedEvent),
]
_MAX_FOLDERS: Final = 50_000  # folders; each takes a kilobyte of kernel memory and a watch of the user's
_FORGIVEN: Final = 0.9  # share of the folders that must be watched; some may not be readable

_log = logging.getLogger(__name__)


def _start_within_limit(thread: BaseThread) -> None:
    """Start a thread of watchdog, which would wait without a limit for its beginning."""
    thread.on_thread_start()
    start_within_limit(thread)


BaseThread.start = _start_within_limit  # type: ignore[assignment, method-assign]


@dataclass(slots=True)
class ChangedPaths:
    """Absolute paths of folders and files with changes."""

    folders: set[str] = field(default_factory=set)  # an entry was added, removed or renamed
    files: set[str] = field(default_factory=set)  # written to


class Watcher(FileSystemEventHandler):
    """Watcher of one base directory.

    ``mode`` tells whether events are received.

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
        """Start or restart listening, and set ``mode``. ``others`` folders are watched by other watchers
        here. The mode is "polling" if settings or file system prevent events, or watches run out."""
        self.stop()
        if self._watch == "polling" or (self._watch == "auto" and not reports_changes(self._base)):
            return
        folders, unreadable = _count_folders(self._base, _MAX_FOLDERS)
        if unreadable:
            count, first = len(unreadable), unreadable[0]
            _log.warning("cannot watch %d unreadable directories, the first: %s", count, first)
        # watchdog warns about each unreadable directory except the first, and continues.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        before = set(threading.enumerate())
        try:
            observer = Observer()
            self._observer = observer
            observer.schedule(self, self._base, recursive=True, event_filter=_WANTED)
            observer.start()
        except OSError as error:  # no watches or file descriptors left
            self._give_up(error.strerror or str(error))
            return
        except (RuntimeError, MemoryError) as error:  # no thread can be started
            self._give_up(str(error))
            return
        new = set(threading.enumerate()) - before
        self._threads = [thread for thread in new if type(thread).__module__.startswith("watchdog.")]
        if folders > _MAX_FOLDERS or not _has_enough_watches(folders + others):
            self._give_up(f"cannot watch {folders} or more folders")
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

    def is_reliable(self, folders: int) -> bool:
        """Return False after the observer failed or the limit of watches was reached, else True. ``folders``
        is the number of folders of all watchers of this process."""
        alive = all(thread.is_alive() for thread in self._threads)
        return alive and (self.mode == "polling" or _has_enough_watches(folders))

    def _give_up(self, why: str) -> None:
        """Log the reason and fall back to polling."""
        _log.warning("polling, because the file system reports no events: %s", why)
        self.stop()

    @property
    def has_changes(self) -> bool:
        """Return True if something changed since the last ``take``."""
        return bool(self._changed.folders or self._changed.files)

    def take(self) -> ChangedPaths:
        """Return the paths with changes since the last call, and forget them."""
        with self._lock:
            stirred, self._changed = self._changed, ChangedPaths()
        return stirred

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Remember the files or folders that an event says have changed. Called from a thread of watchdog."""
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


def _has_enough_watches(folders: int) -> bool:
    """Return True if nearly all folders are watched."""
    return watches() >= _FORGIVEN * folders - 10


def watches() -> int:
    """Return the number of folders that the kernel watches for this process, very large if unknown.
    watchdog continues silently when the user's watches are used up."""
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
    """Return the number of folders from ``base`` down without links, and the unreadable ones. Stops above
    ``limit``."""
    count, waiting, unreadable = 1, [Path(base)], []
    while waiting and count <= limit:
        folder = waiting.pop()
        below = folders_of(folder)
        if not below and not os.access(folder, os.R_OK | os.X_OK):
            unreadable.append(str(folder))
        count += len(below)
        waiting += below
    return count, unreadable


MAX_WATCHERS: Final = 24  # watchers; each takes three threads and one of 128 inotify instances

Mode: TypeAlias = Literal["events", "polling"]


class FolderIdentity(NamedTuple):
    """Identity of the folder at a path."""

    device: int
    inode: int


class Watchers:
    """Watchers of all base directories, by absolute path without links."""

    def __init__(self, watch: Watch, wake: Callable[[], None]) -> None:
        """Create the watchers. ``wake`` is called from other threads when ``take`` has something to
        return."""
        self._watch = watch
        self._wake = wake
        self._watchers: dict[str, tuple[FolderIdentity, Watcher]] = {}

    def listen(self, bases: Mapping[str, FolderIdentity], folders: Mapping[str, int]) -> None:
        """Watch the directories ``bases``, with their numbers of ``folders``, and no others. At most
        `MAX_WATCHERS` are watched. A replaced directory is watched again."""
        for path in [path for path, (identity, _) in self._watchers.items() if bases.get(path) != identity]:
            self._watchers.pop(path)[1].stop()
        for path, identity in bases.items():
            others = sum(
                folders[base] for base in self._watchers if base != path and self.mode(base) == "events"
            )
            known = self._watchers.get(path)
            if known is None and len(self._watchers) < MAX_WATCHERS:
                known = self._watchers[path] = (identity, Watcher(path, self._watch, self._wake))
                known[1].start(others)
            elif known is not None and not known[1].is_reliable(folders[path] + others):
                known[1].start(others)

    def mode(self, path: str) -> Mode:
        """Return "events" if changes below the directory ``path`` are reported, else "polling", also for an
        unknown one."""
        return self._watchers[path][1].mode if path in self._watchers else "polling"

    @property
    def has_changes(self) -> bool:
        """Return True if something changed since the last ``take``."""
        return any(watcher.has_changes for _, watcher in self._watchers.values())

    def take(self) -> ChangedPaths:
        """Return the paths with changes in all directories since the last call, and forget them."""
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
