"""Scanner of the base directories, by notifications and by a schedule of polls."""

import heapq
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import inf
from pathlib import PurePath
from typing import Final, NamedTuple

from mindinsight.server.ingest.catalogue import Catalogue
from mindinsight.server.ingest.folder_tree import FolderTree, stamp_of
from mindinsight.server.ingest.run_discovery import discover_runs
from mindinsight.server.ingest.watcher import FolderIdentity, Watchers
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import is_url
from mindinsight.server.store.mounts import Mount
from mindinsight.server.store.run import Watched

_MIN_INTERVAL: Final = 0.25  # seconds between two checks of a folder that is being written to
_PATIENCE: Final = 20  # a folder that was quiet for 20 s is checked every second, and so on in proportion
_FILE_COST: Final = 0.0005  # seconds to wait for each file of a folder; checking one costs 2 µs
_FOLDER_COST: Final = 0.006  # seconds to wait for each folder in the tree; checking one costs 10 µs
_LONG_AGO: Final = 3600.0  # seconds of quiet assumed for folders of the first scan


class PollSchedule:
    """Schedule of polls: folders by the monotonic time at which they are due, busy ones more often."""

    def __init__(self, longest: float) -> None:
        """Create a schedule. Even the quietest folder is due after ``longest`` seconds."""
        self._longest = longest
        self._due: list[tuple[float, str]] = []
        self._changed_at: dict[str, float] = {}  # when something last happened

    def set_folders(self, folders: Iterable[str], now: float) -> None:
        """Schedule these folders and no others. A new folder is expected to be written to."""
        wanted = set(folders)
        since = now if self._changed_at else now - _LONG_AGO
        for gone in self._changed_at.keys() - wanted:
            del self._changed_at[gone]
        for new in wanted - self._changed_at.keys():
            self._changed_at[new] = since
            heapq.heappush(self._due, (now + _MIN_INTERVAL, new))

    def due(self, now: float) -> list[str]:
        """Remove and return the folders that are due at the monotonic time ``now``. Each must be
        rescheduled."""
        folders: list[str] = []
        while self._due and self._due[0][0] <= now:
            folder = heapq.heappop(self._due)[1]
            if folder in self._changed_at:
                folders.append(folder)
        return folders

    def note_change(self, folder: str, now: float) -> None:
        """Note that a folder changed, so that `reschedule` checks it sooner. Do nothing for an unknown
        folder."""
        if folder in self._changed_at:
            self._changed_at[folder] = now

    def reschedule(self, folder: str, files: int, now: float, trust: int = 1) -> None:
        """Schedule the next check of a folder with ``files`` files. A folder is checked less often the
        longer it is quiet. Its longest wait is multiplied by ``trust``, which is more than 1 if events
        also report its changes."""
        quiet = now - self._changed_at.get(folder, now)
        longest = max(self._longest * trust, len(self._changed_at) * _FOLDER_COST)
        wait = min(max(quiet / _PATIENCE, _MIN_INTERVAL), longest)
        heapq.heappush(self._due, (now + max(wait, files * _FILE_COST), folder))

    def next(self) -> float:
        """Return the monotonic time at which the next folder is due, infinity if there is none."""
        return self._due[0][0] if self._due else float("inf")


_SCAN: Final = 60.0  # seconds between two scans of all folders
_PAUSE: Final = 0.05  # seconds between two checks, so that changes at the same time are found together
_TRUST: Final = 10  # polls are this many times rarer if the file system reports changes


class BaseState(NamedTuple):
    """Base directories and the identities of their folders, by paths without links."""

    mounts: tuple[Mount, ...]
    identities: dict[str, FolderIdentity | None]  # None if the folder is missing


class Scanner:
    """Scanner that lists folders when the file system reports a change, and on a schedule.

    Times are monotonic.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue, wake: Callable[[], None]) -> None:
        """Create a scanner. ``wake`` is called from another thread when ``look`` has something to do."""
        self._settings = settings
        self._catalogue = catalogue
        self._tree = FolderTree(settings.summary_base_dir)
        self._interval = max(settings.reload_interval, 0.25)
        self._schedule = PollSchedule(self._interval)
        self._watchers = Watchers(settings.watch, wake)
        self._scanned = BaseState((), {})  # state at the last scan
        self._reliable: frozenset[str] = frozenset()  # base directories with file systems that report changes
        self._match_at = 0.0
        self._scan_at = inf
        self._look_at = 0.0

    def scan(self) -> None:
        """List all folders, discover the runs again and update the catalogue."""
        began = self._match_at = time.monotonic()
        self._scanned = self._current_bases()
        self._tree.scan()
        self._rediscover(began)
        self._update_watch_modes()
        self._scan_at = began + _SCAN

    def follow(self) -> None:
        """Start watching. Changes since the scan are found when the schedule reaches each folder."""
        self._listen()

    def stop(self) -> None:
        """Stop watching."""
        self._watchers.stop()

    def look(self) -> bool:
        """Add changes since the last call to the catalogue. Return False if nothing was done because of a
        pause."""
        began = time.monotonic()
        if began < self._look_at:
            return False
        if began >= self._scan_at or self._current_bases() != self._scanned:
            self.scan()
            self._listen()
        elif self._check_changed_paths() | self._check_due_folders(began):
            self._rediscover(began)
        return True

    def pause(self, seconds: float) -> None:
        """Make `look` do nothing for some seconds, at least 0.05."""
        self._look_at = time.monotonic() + max(_PAUSE, seconds)

    def rest(self) -> float:
        """Return the seconds until `look` has something to do, 0 or less if it has something now."""
        due = 0.0 if self._watchers.has_changes else min(self._scan_at, self._schedule.next())
        return max(self._look_at, due) - time.monotonic()

    def _listen(self) -> None:
        """Watch the base directories that exist now."""
        folders = Counter(map(self._tree.root, self._tree.folders))
        present = {
            path: identity for path, identity in self._scanned.identities.items() if identity is not None
        }
        self._watchers.listen(present, {path: folders[self._tree.roots[path]] for path in present})
        self._update_watch_modes()

    def _update_watch_modes(self) -> None:
        """Record how changes are noticed in each base directory."""
        mounts = [mount for mount in self._tree.mounts if not mount.inside]
        modes = {mount.id: self._watchers.mode(mount.real) for mount in mounts}
        self._reliable = frozenset(base for base, mode in modes.items() if mode == "events")
        bases = tuple(
            Watched(mount.name, mount.path, _shown_mode(mount, modes), mount.id not in self._tree.folders)
            for mount in mounts
        )
        present_modes = {base.watch for base in bases if not base.missing}
        watch = "both" if len(present_modes) > 1 else next(iter(present_modes), "polling")
        self._catalogue.status = self._catalogue.status._replace(watch=watch, bases=bases)

    def _current_bases(self) -> BaseState:
        """Return the current base directories. Patterns that name them, such as `runs/*`, are matched again
        once every interval of the scanner.
        """
        now = time.monotonic()
        if self._tree.several and now >= self._match_at:
            self._tree.mount()
            self._match_at = now + self._interval
        return BaseState(self._tree.mounts, {path: self._identity(path) for path in self._tree.roots})

    def _identity(self, path: str) -> FolderIdentity | None:
        """Return the identity of a folder, or None if it is missing."""
        try:
            stamp = stamp_of(path)
        except PermissionError:
            return self._scanned.identities.get(path)
        return FolderIdentity(stamp.device, stamp.inode) if stamp else None

    def _check_changed_paths(self) -> bool:
        """Check the reported paths, and return True if runs may have been added or removed."""
        paths = self._watchers.take()
        only: dict[str, set[str]] = defaultdict(set)
        for path in paths.files:
            only[str(PurePath(path).parent)].add(PurePath(path).name)
        for path in paths.folders:
            only[path].clear()
        folders = {folder: names for path, names in only.items() if (folder := self._tree.known(path))}
        return True in {self._check_folder(folder, *names) for folder, names in folders.items()}

    def _check_due_folders(self, now: float) -> bool:
        """Check the folders that are due, and return True if runs may have been added or removed."""
        structure = False
        for folder in self._schedule.due(now):
            structure |= self._check_folder(folder)
            listing = self._tree.folders.get(folder)
            trust = _TRUST if self._tree.root(folder) in self._reliable else 1
            self._schedule.reschedule(folder, len(listing.files) if listing else 0, now, trust)
        return structure

    def _check_folder(self, folder: str, *names: str) -> bool:
        """Check one folder, or only its files ``names``, and return True if runs may have been added or
        removed."""
        change = self._tree.check_folder(folder, names)
        if change.written or change.structure:
            self._schedule.note_change(folder, time.monotonic())
        if not change.written:
            return change.structure
        files = self._tree.folders[folder].files
        known = self._catalogue.update_stamps(folder, {name: files[name] for name in change.written})
        return not known  # a run beyond the limit is now newer than another

    def _rediscover(self, now: float) -> None:
        """Discover the runs again, and update the schedule."""
        self._catalogue.settle(discover_runs(self._tree, self._settings.max_runs))
        self._schedule.set_folders(self._tree.folders, now)


def _shown_mode(mount: Mount, modes: Mapping[str, str]) -> str:
    """Return how changes below a mount are noticed: its watch mode. Stores are polled, however changes of
    their local copies are noticed."""
    return "polling" if is_url(mount.path) else modes[mount.id]
