"""Poll schedule: which folder to list when, often where something changes and seldom where nothing does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Final

_SHORTEST: Final = 0.25  # seconds
_PATIENCE: Final = 20  # a folder that was quiet for so many seconds is looked at each second
_FILE_COST: Final = 0.0005  # seconds to wait for each file of a folder: a look costs 2 microseconds each
_FOLDER_COST: Final = 0.006  # seconds to wait for each folder there is: a look costs 10 microseconds each
_LONG_AGO: Final = 3600.0  # seconds


class PollSchedule:
    """Folders by the time at which they are due; times are those of a clock that is never set."""

    def __init__(self, longest: float) -> None:
        """``longest``: seconds after which even the quietest folder is looked at again."""
        self._longest = longest
        self._due: list[tuple[float, str]] = []
        self._changed_at: dict[str, float] = {}  # when something last happened

    def set_folders(self, folders: Iterable[str], now: float) -> None:
        """Schedule these folders and no others; a new one is expected to be written to."""
        wanted = set(folders)
        since = now if self._changed_at else now - _LONG_AGO
        for gone in self._changed_at.keys() - wanted:
            del self._changed_at[gone]
        for new in wanted - self._changed_at.keys():
            self._changed_at[new] = since
            heapq.heappush(self._due, (now + _SHORTEST, new))

    def due(self, now: float) -> list[str]:
        """Folders to look at now; each must be rescheduled before it is due again."""
        folders: list[str] = []
        while self._due and self._due[0][0] <= now:
            folder = heapq.heappop(self._due)[1]
            if folder in self._changed_at:
                folders.append(folder)
        return folders

    def note_change(self, folder: str, now: float) -> None:
        """Note that something changed in a folder."""
        if folder in self._changed_at:
            self._changed_at[folder] = now

    def reschedule(self, folder: str, files: int, now: float, trust: int = 1) -> None:
        """A folder with so many files was due and has been looked at; it may wait ``trust`` times as long."""
        quiet = now - self._changed_at.get(folder, now)
        longest = max(self._longest * trust, len(self._changed_at) * _FOLDER_COST)
        wait = min(max(quiet / _PATIENCE, _SHORTEST), longest)
        heapq.heappush(self._due, (now + max(wait, files * _FILE_COST), folder))

    def next(self) -> float:
        """When the next folder is due; infinity when there is none."""
        return self._due[0][0] if self._due else float("inf")
