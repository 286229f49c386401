"""Follows the base directory: tells the catalogue which runs there are and which files grew."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from math import inf
from pathlib import PurePath
from typing import Final, TypeAlias

from mindinsight.server.settings import Settings
from mindinsight.server.store.catalogue import Catalogue
from mindinsight.server.store.discovery import survey
from mindinsight.server.store.folders import stamp_of
from mindinsight.server.store.rounds import Rounds
from mindinsight.server.store.tree import Tree
from mindinsight.server.store.watcher import Watcher

_SCAN: Final = 60.0  # seconds between two looks at everything
_PAUSE: Final = 0.05  # seconds between two looks, so that what happens together is seen together
_TRUST: Final = 10  # where the file system tells, it is asked so many times more seldom


Place: TypeAlias = tuple[int, int] | None  # device and inode


class Lookout:
    """Looks when something is told, and at each folder now and then; times are monotonic."""

    def __init__(self, settings: Settings, catalogue: Catalogue, bell: Callable[[], None]) -> None:
        """``bell`` is rung, from another thread, when something happened that ``look`` should see."""
        self._settings = settings
        self._catalogue = catalogue
        self._tree = Tree(settings.summary_base_dir)
        self._rounds = Rounds(max(settings.reload_interval, 0.25))
        self._watcher = Watcher(self._tree.base, settings.watch, bell)
        self._scanned: Place = None  # the base as it was when it was scanned
        self._watched: Place = None  # the base that is listened to
        self._scan_at = inf
        self._look_at = 0.0

    def scan(self) -> None:
        """Look at everything."""
        began = time.monotonic()
        self._scanned = self._base()
        self._tree.scan()
        self._survey(began)
        self._scan_at = began + _SCAN

    def follow(self) -> None:
        """Begin to listen; what happened since the scan is seen when the first round goes by every folder."""
        self._listen()

    def stop(self) -> None:
        self._watcher.stop()

    def look(self) -> bool:
        """See what happened since the last time; False, and nothing done, during a pause."""
        began = time.monotonic()
        if began < self._look_at:
            return False
        if began >= self._scan_at or self._base() != self._scanned:
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
        due = 0.0 if self._watcher.stirring else min(self._scan_at, self._rounds.next())
        return max(self._look_at, due) - time.monotonic()

    def _listen(self) -> None:
        """Listen to the base that is there now; another one may have taken its place."""
        if self._scanned is None:
            self._watcher.stop()
        elif self._scanned != self._watched or not self._watcher.hears(len(self._tree.folders)):
            self._watcher.start()
        self._watched = self._scanned
        trust = _TRUST if self._watcher.mode == "events" else 1
        self._rounds.longest = max(self._settings.reload_interval, 0.25) * trust
        self._catalogue.facts = self._catalogue.facts._replace(watch=self._watcher.mode)

    def _base(self) -> Place:
        try:
            found = stamp_of(self._tree.base)
        except PermissionError:
            return self._scanned
        return found[:2] if found else None

    def _see_told(self) -> bool:
        told = self._watcher.take()
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
            self._rounds.looked(folder, len(found.files) if found else 0, now)
        return structure

    def _glance(self, folder: str, *names: str) -> bool:
        """Whether runs have to be told anew."""
        glance = self._tree.glance(folder, names)
        if glance.grown or glance.structure:
            self._rounds.stir(folder, time.monotonic())
        if not glance.grown:
            return glance.structure
        if folder not in self._catalogue.stages:  # left out so far, and now newer than another
            return True
        files = self._tree.folders[folder].files
        self._catalogue.grown(folder, {name: files[name] for name in glance.grown})
        return False

    def _survey(self, now: float) -> None:
        self._catalogue.settle(survey(self._tree, self._settings.max_runs))
        self._rounds.keep(self._tree.folders, now)
