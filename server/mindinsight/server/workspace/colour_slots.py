"""Colour slots: numbers that jobs keep while they are known, so that no colour changes by itself."""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Run, Watched
from mindinsight.server.workspace.json_store import Bases, JsonStore

MOST: Final = 20_000  # stored slots of one base directory

_log = logging.getLogger(__name__)


class Slots(Protocol):
    """Allocator of colour slots to jobs."""

    def of(self, jobs: Collection[str]) -> Mapping[str, int]:
        """Return the colour slots from 0 on by job, at least of `jobs`. New jobs get the next numbers, in
        the given order."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Number of a job, which selects its colour in the palette, modulo the palette's size."""

    number: int


class BaseSlots:
    """Slots of one base directory by job, the numbers of their colours, in `<folder>/colours.json`.

    Slots are counted over all base directories of a workspace, so that jobs of several directories get
    different colours. If the file cannot be written, slots exist in this process only.
    """

    def __init__(self, folder: Path, base: Path) -> None:
        self._base = str(base)
        self._store = JsonStore(folder / "colours.json", base, _slot)
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()  # of the numbers

    def of(self, jobs: Collection[str]) -> Mapping[str, int]:
        """Return the colour slots from 0 on by job, at least of `jobs`. New jobs get the next numbers, in
        the given order. They are not stored if the file cannot be written."""
        if not all(job in self._numbers for job in jobs):
            stored = self._stored(jobs)
            with self._lock:
                numbers = self._numbers | stored
                new = [job for job in jobs if job not in numbers]  # none, unless the file cannot be written
                self._numbers = numbers | dict(zip(new, count(1 + max(numbers.values(), default=-1))))
        return self._numbers

    def _stored(self, jobs: Collection[str]) -> dict[str, int]:
        """Return the stored slots, after adding those of `jobs`, or an empty dict if the file cannot be
        written.
        """

        def with_them(bases: Bases[Slot]) -> Bases[Slot]:
            slots = bases.get(self._base, {})
            if all(job in slots for job in jobs):
                return {}
            used = (slot.number for values in bases.values() for slot in values.values())
            first = 1 + max(used, default=-1)
            new = [job for job in jobs if job not in slots]
            added = {job: Slot(number) for number, job in enumerate(new, first)}
            return {self._base: _trimmed({**slots, **added}, jobs)}

        try:
            slots = self._store.change_bases(with_them)
        except OSError as error:
            _log.warning("Cannot store colours in the workspace: %s", error.strerror or error)
            return {}
        return {job: slot.number for job, slot in slots.items()}


class MultiBaseSlots:
    """Allocator over several base directories. Each job has the same slot as with its directory alone."""

    def __init__(self, folder: Path, bases: Callable[[], Iterable[Watched]]) -> None:
        """Open the slots in `folder`, where `bases` returns the base directories that currently exist."""
        self._folder = folder
        self._bases = bases
        self._slots: dict[str, BaseSlots] = {}  # by path

    def of(self, jobs: Collection[str]) -> Mapping[str, int]:
        """Return the colour slot of each of `jobs` below a known base directory. Others are left out. Jobs
        without a slot get the next numbers, in the given order."""
        below: dict[str, dict[str, str]] = {}  # job by its name in its directory, by the directory's name
        for job in jobs:
            name, _, path = job.removeprefix(BASE).partition("/")
            below.setdefault(name, {})[BASE + path] = job
        numbers: dict[str, int] = {}
        for base in self._bases():
            names = below.get(base.name, {})
            slots = self._of(base).of(names)
            numbers |= {job: slots[name] for name, job in names.items()}
        return numbers

    def _of(self, base: Watched) -> BaseSlots:
        if base.path not in self._slots:
            self._slots.setdefault(base.path, BaseSlots(self._folder, Path(base.path)))
        return self._slots[base.path]


def jobs_by_age(runs: Iterable[Run]) -> list[str]:
    """Return the jobs of `runs`, the job with the oldest run first."""
    created: dict[str, float] = {}
    for run in runs:
        created[run.job] = min(run.created, created.get(run.job, run.created))
    return sorted(created, key=lambda job: (created[job], job))


def _trimmed(slots: dict[str, Slot], present: Collection[str]) -> dict[str, Slot]:
    """Return at most MOST slots, without the oldest of removed jobs."""
    if len(slots) <= MOST:
        return slots
    wanted = frozenset(present)
    removed = [job for job in slots if job not in wanted]
    surplus = frozenset(removed[: len(slots) - MOST])
    return {job: slot for job, slot in slots.items() if job not in surplus}


def _slot(content: dict[str, Any]) -> Slot | None:
    """Parse a slot, or return None if it is invalid, because users may edit the file."""
    number = content.get("number")
    return Slot(number) if type(number) is int and 0 <= number < 1 << 53 else None
