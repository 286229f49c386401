"""Catalogue of the runs that are being read, with the priority queue of files with unread bytes."""

from __future__ import annotations

import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from mindinsight.server.ingest.cold_columns import ColdColumns, ValueFile
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.ingest.index_cache import IndexCache
from mindinsight.server.ingest.piece_reader import SectionRequest, SectionResult
from mindinsight.server.ingest.run_discovery import DiscoveredRun, Discovery
from mindinsight.server.ingest.run_stage import RunStage
from mindinsight.server.store.run import DirectoryDamage, Run, Snapshot, Watched
from mindinsight.server.store.store import ChangedKind, Changes, Store

Item: TypeAlias = tuple[RunStage, FileStage]

PIECE: Final = 8 << 20  # bytes read at a time; decoding takes a small multiple of it in memory
_MAX_FILES: Final = 256  # files read at a time, however small they are


class ReadQueue:
    """Queue of files with unread bytes: runs on open pages come first, then the run written to last."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, Item]] = {}
        self._wanted: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def size(self) -> int:
        """Return the number of unread bytes."""
        return sum(file.unread for items in self._runs.values() for _, file in items.values())

    @property
    def suspicious(self) -> bool:
        """Return True if a worker crashed or hung while reading one of the files."""
        return any(file.suspect for items in self._runs.values() for _, file in items.values())

    def want(self, runs: Iterable[str]) -> None:
        """Give priority to the runs with these ids, and to no others."""
        self._wanted = frozenset(runs)

    def add(self, stage: RunStage, file: FileStage) -> None:
        """Queue a file. One that is being read is not queued: it is checked again afterwards."""
        if not file.busy:
            self._runs.setdefault(stage.discovered.id, {})[file.name] = (stage, file)

    def drop(self, run: str, name: str) -> None:
        """Remove a file from the queue, if it is queued."""
        items = self._runs.get(run, {})
        items.pop(name, None)
        if not items:
            self._runs.pop(run, None)

    def take(self, budget: int = PIECE) -> list[Item]:
        """Remove and return the next files, up to ``budget`` bytes together but at least one, [] if the
        queue is empty. A suspect file comes alone."""
        taken: list[Item] = []
        for stage, file in self._in_order():
            if taken and (file.suspect or budget < file.unread):
                break
            taken.append((stage, file))
            budget -= file.unread
            if file.suspect or budget <= 0 or len(taken) == _MAX_FILES:
                break
        for stage, file in taken:
            self.drop(stage.discovered.id, file.name)
        return taken

    def _in_order(self) -> Iterator[Item]:
        """Yield the files by priority. Suspect files come last within their run."""
        ranked = sorted(self._runs.items(), key=lambda entry: self._rank(*entry))
        for _, items in ranked:
            yield from sorted(items.values(), key=lambda item: (item[1].suspect, item[1].order))

    def _rank(self, run: str, items: dict[str, Item]) -> tuple[bool, float]:
        """Return the sort key of a run."""
        stage = next(iter(items.values()))[0]
        return run not in self._wanted, -stage.updated


def request_of(file: FileStage, budget: int = PIECE) -> SectionRequest:
    """Return the request for the next section of a file, at most ``budget`` bytes. A lineage file is
    requested whole, whatever its size."""
    if file.role == "lineage":
        return SectionRequest(file.path, 0, file.stamp.size, lineage=True)
    size = min(file.unread, budget)
    return SectionRequest(file.path, file.read, size, file.fingerprint, tensorboard=file.tensorboard)


RETRY: Final = 10.0  # seconds until a file that could not be opened is read again
RISK: Final = 0.5  # seconds until a file that crashed a worker is read again; it may be innocent
HANG: Final = 60.0  # seconds until a file that hung a worker is read again; both waits double each time
_MAX_WAIT: Final = 3600.0  # seconds; limit of the doubled waits
_MAX_LOGGED: Final = 100  # different errors that are logged, so that a broken directory cannot flood the log
_PASSING: Final = frozenset({"file.permission", "file.unreadable", "file.memory"})

_log = logging.getLogger(__name__)


class BaseStatus(NamedTuple):
    """Status of the base directories: the fields of `Snapshot` with these names."""

    base: str
    watch: str
    left_out: int = 0
    base_missing: bool = False
    errors: tuple[DirectoryDamage, ...] = ()
    bases: tuple[Watched, ...] = ()


class Catalogue:
    """Catalogue of all runs. Only the loader's thread uses it. Readers see the published snapshots."""

    def __init__(
        self,
        store: Store,
        queue: ReadQueue,
        status: BaseStatus,
        cache: IndexCache | None = None,
        cold: ColdColumns | None = None,
    ) -> None:
        """Create an empty catalogue. ``cache`` knows files that an earlier server read. ``cold`` takes
        columns of files that were read to their end."""
        self._cold = cold
        self.status = status
        self._cache = cache
        self.stages: dict[str, RunStage] = {}
        self._folders: dict[str, list[RunStage]] = {}  # runs by the folder they are in
        self._not_shown: set[str] = set()  # runs that the last snapshot left out
        self._store = store
        self._queue = queue
        self._directory_damage: tuple[DirectoryDamage, ...] = ()
        self._store_damage: tuple[DirectoryDamage, ...] = ()
        self._logged: set[tuple[str, str]] = set()
        self._retry_at: dict[Item, float] = {}  # files that could not be opened, and when to try again

    @property
    def changed(self) -> bool:
        """Return True if runs or the status of base directories differ from the published snapshot."""
        before = self._store.snapshot()
        return (
            self.stages.keys() - self._not_shown != before.runs.keys()
            or self.status != _status_of(before)
            or any(stage.changed for stage in self.stages.values())
        )

    def settle(self, discovery: Discovery) -> None:
        """Add, update and remove runs and files to match a discovery."""
        before, self.stages = self.stages, {}
        for discovered in discovery.runs:
            stage = before.pop(discovered.id, None)
            if stage is not None and stage.discovered.path != discovered.path:  # in another base directory
                self._remove(stage, list(stage.files))
                stage = None
            stage = stage or RunStage(discovered, self._cold, self._store.joined)
            stage.update(discovered)
            self.stages[discovered.id] = stage
            self._match_files(stage, discovered)
        for stage in before.values():
            self._remove(stage, list(stage.files))
        self._folders = defaultdict(list)
        for stage in self.stages.values():
            self._folders[stage.discovered.folder].append(stage)
        self._directory_damage = discovery.damage
        self.status = self.status._replace(left_out=discovery.left_out, base_missing=discovery.missing)
        self.set_store_damage(self._store_damage)

    def set_store_damage(self, damage: tuple[DirectoryDamage, ...]) -> None:
        """Replace the errors of remote stores, which are shown next to the errors of directories."""
        self._store_damage = damage
        self.status = self.status._replace(errors=(*self._directory_damage, *damage))

    def update_stamps(self, folder: str, stamps: Mapping[str, Stamp]) -> bool:
        """Replace the stamps of changed files of a folder, and return False if a file belongs to no known
        run."""
        stages = self._folders.get(folder, ())
        known = {
            name: (stage, stage.files[name]) for stage in stages for name in stamps if name in stage.files
        }
        for name, (stage, file) in known.items():
            if file.stamp != stamps[name]:
                self._file_changed(stage, file, stamps[name])
        return len(known) == len(stamps)

    def retry(self, now: float) -> None:
        """Queue files again that are due for another attempt at the monotonic time ``now``, in seconds.
        Files with lost values on disk are read from their beginning."""
        for item, due in list(self._retry_at.items()):
            if due <= now:
                del self._retry_at[item]
                if item[0].files.get(item[1].name) is item[1]:
                    self._queue.add(*item)
        if self._cold is not None and self._cold.lost:
            self._restart_lost(self._cold.lost)

    def _restart_lost(self, lost: set[ValueFile]) -> None:
        """Read files again whose values on disk were damaged or removed."""
        for stage in self.stages.values():
            for file in list(stage.files.values()):
                if not lost.isdisjoint(file.scalars.files()):
                    self._restart_file(stage, file)
        lost.clear()

    def take(self, stage: RunStage, file: FileStage, request: SectionRequest, answer: SectionResult) -> None:
        """Add the result of a read request to its run, and queue the rest of the file. Ignore the result if
        the file was replaced meanwhile. After an error that may pass, the file is tried again later."""
        file.busy = False
        if stage.files.get(file.name) is not file:
            return
        try:
            if answer.replaced:
                self._restart_file(stage, file)
            elif answer.section is None:
                self._fail(stage, file, answer.reason, answer.detail)
            else:
                stage.fold(file, answer.section, answer.lineage, answer.fingerprint)
        except Exception:
            self._skip_file(stage, file)
        else:
            if not answer.replaced and file.has_more(request.offset):
                self._queue.add(stage, file)

    def record_crash(self, stage: RunStage, file: FileStage, hung: bool = False) -> None:
        """Record that a worker crashed or hung while reading this file. Queue the file to be read alone, and
        after a further crash record an error and try again after a wait.

        Whether the file or an unrelated kill caused it is unknown. Therefore the file is read again soon, and
        after a longer wait each time.
        """
        file.busy = False
        if stage.files.get(file.name) is not file:
            return
        if file.suspect:
            file.wait = min(max(2 * file.wait, HANG if hung else RISK), _MAX_WAIT)
            self._fail(stage, file, "file.hangs" if hung else "file.crashes", "", file.wait)
        else:
            file.suspect = True
            self._queue.add(stage, file)

    def publish(self) -> None:
        """Publish a snapshot with everything that changed since the last one."""
        before = self._store.snapshot()
        version = before.version + 1
        runs: dict[str, Run] = {}
        kinds: dict[str, frozenset[ChangedKind]] = {}
        for name, stage in self.stages.items():
            run, changed = before.runs.get(name), None
            if run is None or stage.changed:
                self._settle(stage)
                run, changed = stage.publish(version)
            if stage.only_describes and self._has_runs_below(name):
                continue
            runs[name] = run
            if changed is not None:
                kinds[name] = changed
        self._not_shown = self.stages.keys() - runs.keys()
        gone = before.runs.keys() - runs.keys()
        listed = bool(gone or runs.keys() - before.runs.keys()) or self.status != _status_of(before)
        after = replace(before, version=version, runs=runs, scanned=time.time(), **self.status._asdict())
        self._store.publish(after, Changes(version, frozenset(kinds) | gone, kinds, listed))

    def _has_runs_below(self, name: str) -> bool:
        """Return True if there is a run in a folder below that of another run."""
        below = f"{name.removesuffix('/')}/"
        return any(other != name and other.startswith(below) for other in self.stages)

    def _settle(self, stage: RunStage) -> None:
        """Append the waiting scalars of a run to its columns. A file that fails is skipped."""
        for file in list(stage.files.values()):
            try:
                stage.settle(file)
            except Exception:
                self._skip_file(stage, file)

    def _skip_file(self, stage: RunStage, file: FileStage) -> None:
        """Skip a file after an error in our code, and continue with all others."""
        self._remove(stage, [file.name])
        left_out = FileStage(file.name, file.path, file.stamp)
        stage.add(left_out)
        self._fail(stage, left_out, "file.undecodable", traceback.format_exc())

    def _match_files(self, stage: RunStage, discovered: DiscoveredRun) -> None:
        """Add, update and remove the files of a run."""
        self._remove(stage, stage.files.keys() - discovered.files.keys())
        for name, stamp in discovered.files.items():
            file = stage.files.get(name)
            if file is None:
                self._start_file(stage, name, stamp)
            elif file.stamp != stamp:
                self._file_changed(stage, file, stamp)

    def _remove(self, stage: RunStage, names: Iterable[str]) -> None:
        """Remove files from a run and from the queue."""
        for name in names:
            stage.remove(name)
            self._queue.drop(stage.discovered.id, name)

    def _start_file(self, stage: RunStage, name: str, stamp: Stamp) -> None:
        """Add a file to its run, from the cache if possible, and queue the unread rest."""
        path = f"{stage.discovered.path}/{name}"
        known = self._cache.find(stage.discovered.id, name, path, stamp) if self._cache else None
        file = known or FileStage(name, path, stamp)
        stage.add(file)
        if file.role == "graph":
            stage.fold_whole(file)
        elif known is None or file.unread > file.pending:
            self._queue.add(stage, file)

    def _restart_file(self, stage: RunStage, file: FileStage) -> None:
        """Read a file again from its beginning."""
        self._remove(stage, [file.name])
        self._start_file(stage, file.name, file.stamp)

    def _file_changed(self, stage: RunStage, file: FileStage, stamp: Stamp) -> None:
        """Update a file with a new stamp. Its content stays if it only grew, which is checked when it is
        read."""
        moved = file.stamp[:2] != stamp[:2]
        afresh = file.role == "graph" or (file.role != "lineage" and _may_have_other_content(file, stamp))
        file.stamp = stamp
        if afresh:
            self._restart_file(stage, file)
            return
        if moved:
            stage.relocate(file)
        stage.touch(file)
        if not (file.wait and (stage, file) in self._retry_at):  # a file that crashes workers waits
            self._queue.add(stage, file)

    def _fail(
        self, stage: RunStage, file: FileStage, reason: str, detail: str, wait: float | None = None
    ) -> None:
        """Record an error of a file, log it once, and schedule another attempt if that may help."""
        if (reason, detail) not in self._logged and len(
            self._logged
        ) < _MAX_LOGGED:  # one line for all files with this error
            self._logged.add((reason, detail))
            _log.warning("%s: %s/%s: %s", reason, stage.discovered.id, file.name, detail)
        file.error = reason
        if wait is None and reason in _PASSING:
            wait = RETRY
        if wait is not None:
            self._retry_at[stage, file] = time.monotonic() + wait
        stage.touch(file)


def _may_have_other_content(file: FileStage, stamp: Stamp) -> bool:
    """Return True if a file with a new stamp may have other bytes in the section that was read. A copy
    that is not longer may have been made to change the content, and a damaged file may have been rewritten
    to repair it."""
    if stamp.size < file.read:
        return True
    replaced = file.stamp[:2] != stamp[:2]
    rewritten = file.stamp.modified != stamp.modified and bool(file.damage)
    return (replaced or rewritten) and (stamp.size <= file.stamp.size or (replaced and bool(file.damage)))


def _status_of(snapshot: Snapshot) -> BaseStatus:
    """Return the status of the base directories in a snapshot."""
    return BaseStatus(*(getattr(snapshot, name) for name in BaseStatus._fields))
