"""The watchers of all base directories: where one file system reports changes, another may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from mindinsight.server.ingest.watch.watcher import ChangedPaths, Watcher
from mindinsight.server.settings import Watch

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
