"""Catalogue of runs while they are read, with the priority queue of files with unread bytes."""

from __future__ import annotations

import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.ingest.index_cache import IndexCache
from mindinsight.server.ingest.piece_reader import PieceRequest, PieceResult
from mindinsight.server.ingest.run_discovery import DiscoveredRun, Discovery
from mindinsight.server.ingest.run_stage import RunStage
from mindinsight.server.store.run import Run, Snapshot, Trouble, Watched
from mindinsight.server.store.store import ChangedKind, Changes, Store

Item: TypeAlias = tuple[RunStage, FileStage]

PIECE: Final = 8 << 20  # bytes read in one go: the memory decoding takes is a small multiple of it
_MOST_FILES: Final = 256  # read in one go, however small they are


class ReadQueue:
    """Files by priority: those of runs on open pages first, then those of the run written to last."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, Item]] = {}
        self._wanted: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(file.unread for items in self._runs.values() for _, file in items.values())

    @property
    def suspicious(self) -> bool:
        """Whether a worker died of any of the files."""
        return any(file.suspect for items in self._runs.values() for _, file in items.values())

    def want(self, runs: Iterable[str]) -> None:
        self._wanted = frozenset(runs)

    def add(self, stage: RunStage, file: FileStage) -> None:
        """Read a file when its turn comes; one that is being read is looked at again afterwards anyway."""
        if not file.busy:
            self._runs.setdefault(stage.discovered.id, {})[file.name] = (stage, file)

    def drop(self, run: str, name: str) -> None:
        items = self._runs.get(run, {})
        items.pop(name, None)
        if not items:
            self._runs.pop(run, None)

    def take(self, budget: int = PIECE) -> list[Item]:
        """Take out the next files, as many as hold ``budget`` bytes together, at least one."""
        taken: list[Item] = []
        for stage, file in self._in_order():
            if taken and (file.suspect or budget < file.unread):
                break
            taken.append((stage, file))
            budget -= file.unread
            if file.suspect or budget <= 0 or len(taken) == _MOST_FILES:
                break
        for stage, file in taken:
            self.drop(stage.discovered.id, file.name)
        return taken

    def _in_order(self) -> Iterator[Item]:
        ranked = sorted(self._runs.items(), key=lambda entry: self._rank(*entry))
        for _, items in ranked:
            yield from sorted(items.values(), key=lambda item: (item[1].suspect, item[1].order))

    def _rank(self, run: str, items: dict[str, Item]) -> tuple[bool, float]:
        stage = next(iter(items.values()))[0]
        return run not in self._wanted, -stage.updated


def request_of(file: FileStage, budget: int = PIECE) -> PieceRequest:
    """The next piece of a file."""
    if file.role == "lineage":
        return PieceRequest(file.path, 0, file.stamp.size, lineage=True)
    size = min(file.unread, budget)
    return PieceRequest(file.path, file.read, size, file.fingerprint, tensorboard=file.tensorboard)


RETRY: Final = 10.0  # seconds until a file that could not be opened is tried again
RISK: Final = 0.5  # seconds until one is that workers died of: perhaps somebody else killed them
HANG: Final = 60.0  # seconds until one is that a worker hung over; both double each time
_LONGEST: Final = 3600.0  # seconds
_MOST_LOGGED: Final = 100  # different faults in the log
_PASSING: Final = frozenset({"file.permission", "file.unreadable", "file.memory"})

_log = logging.getLogger(__name__)


class BaseStatus(NamedTuple):
    """Status of the base directories in a snapshot."""

    base: str
    watch: str
    left_out: int = 0
    base_missing: bool = False
    errors: tuple[Trouble, ...] = ()
    bases: tuple[Watched, ...] = ()


class Catalogue:
    """Catalogue of all runs; belongs to the loader's thread alone, readers see what it publishes."""

    def __init__(
        self,
        store: Store,
        queue: ReadQueue,
        status: BaseStatus,
        cache: IndexCache | None = None,
        cold: ColdColumns | None = None,
    ) -> None:
        """``cache`` has what an earlier server knew of a file that appears, ``cold`` takes columns."""
        self._cold = cold
        self.status = status
        self._cache = cache
        self.stages: dict[str, RunStage] = {}
        self._folders: dict[str, list[RunStage]] = {}  # runs by the folder they are in
        self._store = store
        self._queue = queue
        self._discovered_troubles: tuple[Trouble, ...] = ()
        self._store_troubles: tuple[Trouble, ...] = ()
        self._logged: set[tuple[str, str]] = set()
        self._retry_at: dict[Item, float] = {}  # files that could not be opened, and when to try again

    @property
    def changed(self) -> bool:
        """Whether there is anything to publish."""
        before = self._store.snapshot()
        return (
            self.stages.keys() != before.runs.keys()
            or self.status != _status_of(before)
            or any(stage.changed for stage in self.stages.values())
        )

    def settle(self, discovery: Discovery) -> None:
        """Take over which runs there are, and of which files they consist."""
        before, self.stages = self.stages, {}
        for discovered in discovery.runs:
            stage = before.pop(discovered.id, None)
            if stage is not None and stage.discovered.path != discovered.path:  # in another base directory
                self._remove(stage, list(stage.files))
                stage = None
            stage = stage or RunStage(discovered, self._cold)
            stage.update(discovered)
            self.stages[discovered.id] = stage
            self._match_files(stage, discovered)
        for stage in before.values():
            self._remove(stage, list(stage.files))
        self._folders = defaultdict(list)
        for stage in self.stages.values():
            self._folders[stage.discovered.folder].append(stage)
        self._discovered_troubles = discovery.troubles
        self.status = self.status._replace(left_out=discovery.left_out, base_missing=discovery.missing)
        self.note_stores(self._store_troubles)

    def note_stores(self, troubles: tuple[Trouble, ...]) -> None:
        """Take over what is wrong with stores, to be shown beside what is wrong with directories."""
        self._store_troubles = troubles
        self.status = self.status._replace(errors=(*self._discovered_troubles, *troubles))

    def files_changed(self, folder: str, stamps: Mapping[str, Stamp]) -> bool:
        """Files of a folder were written to; False when no run is known to have one of them."""
        stages = self._folders.get(folder, ())
        known = {
            name: (stage, stage.files[name]) for stage in stages for name in stamps if name in stage.files
        }
        for name, (stage, file) in known.items():
            if file.stamp != stamps[name]:
                self._file_changed(stage, file, stamps[name])
        return len(known) == len(stamps)

    def retry(self, now: float) -> None:
        """Ask again for files that could not be opened a while ago."""
        for item, due in list(self._retry_at.items()):
            if due <= now:
                del self._retry_at[item]
                if item[0].files.get(item[1].name) is item[1]:
                    self._queue.add(*item)

    def take(self, stage: RunStage, file: FileStage, request: PieceRequest, answer: PieceResult) -> None:
        """Put in what reading a piece of a file brought; nothing when the file is another one by now."""
        file.busy = False
        if stage.files.get(file.name) is not file:
            return
        try:
            if answer.replaced:
                self._restart_file(stage, file)
            elif answer.stretch is None:
                self._fail(stage, file, answer.reason, answer.detail)
            else:
                stage.fold(file, answer.stretch, answer.lineage, answer.fingerprint)
        except Exception:
            self._leave_out(stage, file)
        else:
            if not answer.replaced and file.goes_on(request.offset):
                self._queue.add(stage, file)

    def record_crash(self, stage: RunStage, file: FileStage, hung: bool = False) -> None:
        """Workers died, or one hung, when they read this file, perhaps with others; it is read alone next.

        Whether the file is to blame or somebody who kills processes cannot be told, so it is tried again
        soon, and each time later than the time before.
        """
        file.busy = False
        if stage.files.get(file.name) is not file:
            return
        if file.suspect:
            file.wait = min(max(2 * file.wait, HANG if hung else RISK), _LONGEST)
            self._fail(stage, file, "file.hangs" if hung else "file.crashes", "", file.wait)
        else:
            file.suspect = True
            self._queue.add(stage, file)

    def publish(self) -> None:
        """Let readers see everything that changed since the last time."""
        before = self._store.snapshot()
        version = before.version + 1
        runs: dict[str, Run] = {}
        kinds: dict[str, frozenset[ChangedKind]] = {}
        for name, stage in self.stages.items():
            if stage.changed or name not in before.runs:
                self._settle(stage)
                runs[name], kinds[name] = stage.publish(version)
            else:
                runs[name] = before.runs[name]
        gone = before.runs.keys() - runs.keys()
        listed = bool(gone or runs.keys() - before.runs.keys()) or self.status != _status_of(before)
        after = replace(before, version=version, runs=runs, scanned=time.time(), **self.status._asdict())
        self._store.publish(after, Changes(version, frozenset(kinds) | gone, kinds, listed))

    def _settle(self, stage: RunStage) -> None:
        for file in list(stage.files.values()):
            try:
                stage.settle(file)
            except Exception:
                self._leave_out(stage, file)

    def _leave_out(self, stage: RunStage, file: FileStage) -> None:
        """A fault of ours: go on without this file, and with all others."""
        self._remove(stage, [file.name])
        left_out = FileStage(file.name, file.path, file.stamp)
        stage.add(left_out)
        self._fail(stage, left_out, "file.undecodable", traceback.format_exc())

    def _match_files(self, stage: RunStage, discovered: DiscoveredRun) -> None:
        self._remove(stage, stage.files.keys() - discovered.files.keys())
        for name, stamp in discovered.files.items():
            file = stage.files.get(name)
            if file is None:
                self._start_file(stage, name, stamp)
            elif file.stamp != stamp:
                self._file_changed(stage, file, stamp)

    def _remove(self, stage: RunStage, names: Iterable[str]) -> None:
        for name in names:
            stage.remove(name)
            self._queue.drop(stage.discovered.id, name)

    def _start_file(self, stage: RunStage, name: str, stamp: Stamp) -> None:
        path = f"{stage.discovered.path}/{name}"
        known = self._cache.find(stage.discovered.id, name, path, stamp) if self._cache else None
        file = known or FileStage(name, path, stamp)
        stage.add(file)
        if file.role == "graph":
            stage.fold_whole(file)
        elif known is None or file.unread > file.pending:
            self._queue.add(stage, file)

    def _restart_file(self, stage: RunStage, file: FileStage) -> None:
        self._remove(stage, [file.name])
        self._start_file(stage, file.name, file.stamp)

    def _file_changed(self, stage: RunStage, file: FileStage, stamp: Stamp) -> None:
        """A file changed. What was read stays if it only grew; whether it did is seen when it is read."""
        moved = file.stamp[:2] != stamp[:2]
        afresh = file.role == "graph" or (file.role != "lineage" and _other_content(file, stamp))
        file.stamp = stamp
        if afresh:
            self._restart_file(stage, file)
            return
        if moved:
            stage.relocate(file)
        stage.touch(file)
        if not (file.wait and (stage, file) in self._retry_at):  # what workers die of is left for a while
            self._queue.add(stage, file)

    def _fail(
        self, stage: RunStage, file: FileStage, reason: str, detail: str, wait: float | None = None
    ) -> None:
        if (reason, detail) not in self._logged and len(self._logged) < _MOST_LOGGED:  # once for all files
            self._logged.add((reason, detail))
            _log.warning("%s: %s/%s: %s", reason, stage.discovered.id, file.name, detail)
        file.error = reason
        if wait is None and reason in _PASSING:
            wait = RETRY
        if wait is not None:
            self._retry_at[stage, file] = time.monotonic() + wait
        stage.touch(file)


def _other_content(file: FileStage, stamp: Stamp) -> bool:
    """Whether a file with a new stamp holds, or may hold, something else where it was read.

    A copy that is not longer can have been made to change what was there, and one written over a damaged
    file to heal it.
    """
    if stamp.size < file.read:
        return True
    replaced = file.stamp[:2] != stamp[:2]
    rewritten = file.stamp.modified != stamp.modified and bool(file.damage)
    return (replaced or rewritten) and (stamp.size <= file.stamp.size or (replaced and bool(file.damage)))


def _status_of(snapshot: Snapshot) -> BaseStatus:
    return BaseStatus(*(getattr(snapshot, name) for name in BaseStatus._fields))
