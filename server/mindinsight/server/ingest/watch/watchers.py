"""A watcher for each base directory: where one file system tells of changes, another may not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from mindinsight.server.ingest.watch.watcher import Stirred, Watcher
from mindinsight.server.settings import Watch

MOST: Final = 24  # listened to at a time: each takes three threads, and a user has 128 places to listen from

Mode: TypeAlias = Literal["events", "polling"]
Place: TypeAlias = tuple[int, int]  # device and inode


class Watchers:
    """Base directories by their absolute paths without links."""

    def __init__(self, watch: Watch, bell: Callable[[], None]) -> None:
        """``bell`` is rung, from other threads, when something happened that ``take`` should tell."""
        self._watch = watch
        self._bell = bell
        self._each: dict[str, tuple[Place, Watcher]] = {}

    def listen(self, places: Mapping[str, Place], folders: Mapping[str, int]) -> None:
        """Listen to these directories, with so many folders each; another may have taken the place of one."""
        for path in [path for path, (place, _) in self._each.items() if places.get(path) != place]:
            self._each.pop(path)[1].stop()
        for path, place in places.items():
            beside = sum(folders[one] for one in self._each if one != path and self.mode(one) == "events")
            known = self._each.get(path)
            if known is None and len(self._each) < MOST:
                known = self._each[path] = (place, Watcher(path, self._watch, self._bell))
                known[1].start(beside)
            elif known is not None and not known[1].hears(folders[path] + beside):
                known[1].start(beside)

    def mode(self, path: str) -> Mode:
        """Whether the file system tells of what happens below a directory."""
        return self._each[path][1].mode if path in self._each else "polling"

    @property
    def stirring(self) -> bool:
        """Whether something happened since the last ``take``."""
        return any(watcher.stirring for _, watcher in self._each.values())

    def take(self) -> Stirred:
        """What happened since the last time."""
        told = Stirred()
        for _, watcher in self._each.values():
            stirred = watcher.take()
            told.folders |= stirred.folders
            told.files |= stirred.files
        return told

    def stop(self) -> None:
        """Listen no more."""
        for _, watcher in self._each.values():
            watcher.stop()
        self._each = {}
