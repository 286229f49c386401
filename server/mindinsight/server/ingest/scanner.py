"""Follows the base directories: tells the catalogue which runs there are and which files grew."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from math import inf
from pathlib import PurePath
from typing import Final, NamedTuple

from mindinsight.server.ingest.catalogue import Catalogue
from mindinsight.server.ingest.discovery.folder_listing import stamp_of
from mindinsight.server.ingest.discovery.folder_tree import Tree
from mindinsight.server.ingest.discovery.run_discovery import survey
from mindinsight.server.ingest.watch.poll_schedule import PollSchedule
from mindinsight.server.ingest.watch.watchers import Place, Watchers
from mindinsight.server.settings import Settings
from mindinsight.server.store.mounts import Mount
from mindinsight.server.store.run import Watched

_SCAN: Final = 60.0  # seconds between two looks at everything
_PAUSE: Final = 0.05  # seconds between two looks, so that what happens together is seen together
_TRUST: Final = 10  # where the file system tells, it is asked so many times more seldom


class Sight(NamedTuple):
    """The base directories at one moment, and which folders these are, by paths without links."""

    mounts: tuple[Mount, ...]
    places: dict[str, Place | None]  # None: there is no such folder


class Scanner:
    """Looks when something is told, and at each folder now and then; times are monotonic."""

    def __init__(self, settings: Settings, catalogue: Catalogue, bell: Callable[[], None]) -> None:
        """``bell`` is rung, from another thread, when something happened that ``look`` should see."""
        self._settings = settings
        self._catalogue = catalogue
        self._tree = Tree(settings.summary_base_dir)
        self._interval = max(settings.reload_interval, 0.25)
        self._rounds = PollSchedule(self._interval)
        self._watchers = Watchers(settings.watch, bell)
        self._scanned = Sight((), {})  # as they were when they were scanned
        self._telling: frozenset[str] = frozenset()  # base directories whose file systems tell of changes
        self._match_at = 0.0
        self._scan_at = inf
        self._look_at = 0.0

    def scan(self) -> None:
        """Look at everything."""
        began = self._match_at = time.monotonic()
        self._scanned = self._now()
        self._tree.scan()
        self._survey(began)
        self._tell()
        self._scan_at = began + _SCAN

    def follow(self) -> None:
        """Begin to listen; what happened since the scan is seen when the first round goes by every folder."""
        self._listen()

    def stop(self) -> None:
        self._watchers.stop()

    def look(self) -> bool:
        """See what happened since the last time; False, and nothing done, during a pause."""
        began = time.monotonic()
        if began < self._look_at:
            return False
        if began >= self._scan_at or self._now() != self._scanned:
            self.scan()
            self._listen()
        elif self._see_told() | self._see_rounds(began):
            self._survey(began)
        return True

    def pause(self, seconds: float) -> None:
        """Do not look again for a while."""
        self._look_at = time.monotonic() + max(_PAUSE, seconds)

    def rest(self) -> float:
        """Seconds until there is something to look at, if nothing is told before."""
        due = 0.0 if self._watchers.stirring else min(self._scan_at, self._rounds.next())
        return max(self._look_at, due) - time.monotonic()

    def _listen(self) -> None:
        """Listen to the base directories that are there now."""
        folders = Counter(map(self._tree.root, self._tree.folders))
        places = {path: place for path, place in self._scanned.places.items() if place is not None}
        self._watchers.listen(places, {path: folders[self._tree.roots[path]] for path in places})
        self._tell()

    def _tell(self) -> None:
        """How changes are noticed in which base directory."""
        mounts = [mount for mount in self._tree.mounts if not mount.inside]
        modes = {mount.id: self._watchers.mode(mount.real) for mount in mounts}
        self._telling = frozenset(one for one, mode in modes.items() if mode == "events")
        bases = tuple(
            Watched(mount.name, mount.path, modes[mount.id], mount.id not in self._tree.folders)
            for mount in mounts
        )
        watch = _together({base.watch for base in bases if not base.missing})
        self._catalogue.facts = self._catalogue.facts._replace(watch=watch, bases=bases)

    def _now(self) -> Sight:
        """The base directories as they are; patterns are matched anew now and then."""
        now = time.monotonic()
        if self._tree.several and now >= self._match_at:
            self._tree.mount()
            self._match_at = now + self._interval
        return Sight(self._tree.mounts, {path: self._place(path) for path in self._tree.roots})

    def _place(self, path: str) -> Place | None:
        try:
            found = stamp_of(path)
        except PermissionError:
            return self._scanned.places.get(path)
        return found[:2] if found else None

    def _see_told(self) -> bool:
        told = self._watchers.take()
        only: dict[str, set[str]] = defaultdict(set)
        for path in told.files:
            only[str(PurePath(path).parent)].add(PurePath(path).name)
        for path in told.folders:
            only[path].clear()
        folders = {folder: names for path, names in only.items() if (folder := self._tree.known(path))}
        return True in {self._glance(folder, *names) for folder, names in folders.items()}

    def _see_rounds(self, now: float) -> bool:
        structure = False
        for folder in self._rounds.due(now):
            structure |= self._glance(folder)
            found = self._tree.folders.get(folder)
            trust = _TRUST if self._tree.root(folder) in self._telling else 1
            self._rounds.looked(folder, len(found.files) if found else 0, now, trust)
        return structure

    def _glance(self, folder: str, *names: str) -> bool:
        """Whether runs have to be told anew."""
        glance = self._tree.glance(folder, names)
        if glance.grown or glance.structure:
            self._rounds.stir(folder, time.monotonic())
        if not glance.grown:
            return glance.structure
        files = self._tree.folders[folder].files
        known = self._catalogue.grown(folder, {name: files[name] for name in glance.grown})
        return not known  # a run that was left out so far is now newer than another

    def _survey(self, now: float) -> None:
        self._catalogue.settle(survey(self._tree, self._settings.max_runs))
        self._rounds.keep(self._tree.folders, now)


def _together(modes: set[str]) -> str:
    return "both" if len(modes) > 1 else next(iter(modes), "polling")
