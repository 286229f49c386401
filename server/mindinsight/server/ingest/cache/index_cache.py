"""The index cache: what was read of the event files, so that a restart reads only what is new.

It lies in the workspace, one folder for each base directory, and can be deleted at any moment. A pack
that is damaged or of another format counts for nothing; a file that is not the one that was read is read
afresh. What changed is written to a new pack; when there are many, one with everything replaces them.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from mindinsight.server.ingest.cache.cache_file import Body, CacheFile, CacheFileWriter, StaleError
from mindinsight.server.ingest.cache.entries import Note, preserve, restore
from mindinsight.server.ingest.discovery.folder_listing import Stamp
from mindinsight.server.ingest.piece_reader import Request, read_piece
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.run_stage import RunStage

_MOST_PACKS: Final = 6
_GROWTH: Final = 0.25  # a run is written again when it grew by this part
_LEAST: Final = 64 << 10  # bytes of event files that are sooner read again than kept track of
_OLD: Final = 30 * 86400  # seconds after which nobody misses the cache of a base that was not looked at
_UNFINISHED: Final = 3600  # seconds after which nobody writes on a pack any more
_STRANGE: Final = (StaleError, ValueError, TypeError, KeyError, AttributeError, IndexError)  # of a note

_log = logging.getLogger(__name__)


class Cache:
    """Belongs to the loader's thread."""

    def __init__(self, workspace: Path, base: Path) -> None:
        name = hashlib.sha256(os.fsencode(base)).hexdigest()[:16]
        self._root = workspace / "cache"
        self._folder = self._root / name
        self._known: dict[str, tuple[CacheFile, dict[str, Note]]] = {}
        self._bodies: dict[str, Body] = {}
        self._packs: list[CacheFile] = []
        self._stuck: set[Path] = set()  # could not be removed
        self._kept: dict[str, int] = {}  # bytes read of each run when it was last written

    def open(self) -> None:
        """Find out what is kept; nothing is read of it yet."""
        self._tidy()
        for path in self._paths():
            try:
                self._packs.append(CacheFile(path))
                notes = _notes(self._packs[-1])
            except (*_STRANGE, OSError):
                self._discard(path)
                continue
            self._known.update({run: (self._packs[-1], files) for run, files in notes.items()})

    def find(self, run: str, name: str, path: str, stamp: Stamp) -> FileStage | None:
        """What is known of a file, if it still begins with the bytes that were read."""
        pack, notes = self._known.get(run, (None, {}))
        note = notes.get(name)
        if pack is None or note is None:
            return None
        try:
            if run not in self._bodies:
                self._bodies = {run: pack.body(run)}
            file = restore(note, self._bodies[run], path)
        except (*_STRANGE, OSError):
            del self._known[run]
            return None
        if file.stamp != stamp and not _goes_on(file, stamp):
            return None
        file.stamp = file.checked = stamp
        return file

    def release(self, stages: Mapping[str, RunStage]) -> None:
        """The first look is over: whatever was not asked for is forgotten."""
        self._kept = {run: _read(stages[run]) for run in self._known.keys() & stages.keys()}
        for pack in self._packs:
            pack.close()
        self._packs, self._known, self._bodies = [], {}, {}

    def save(self, stages: Mapping[str, RunStage], everything: bool = False) -> None:
        """Write the runs that changed much; with ``everything``, all that changed."""
        changed = [stage for stage in stages.values() if self._worth(stage, everything)]
        if not changed:
            return
        try:
            _make_private(self._folder)
            packs = self._paths()
            whole = len(packs) >= _MOST_PACKS
            self._write(list(stages.values()) if whole else changed)
            for path in packs if whole else []:
                self._discard(path)
        except OSError as error:
            _log.warning("the index cache cannot be written: %s", error.strerror or error)
        self._kept.update({stage.found.id: _read(stage) for stage in changed})

    def _tidy(self) -> None:
        """Remove what a killed server left, and caches of bases that were not looked at for long."""
        for folder in _below(self._root):
            if folder != self._folder and _age(folder) > _OLD:
                shutil.rmtree(folder, ignore_errors=True)
        for path in _below(self._folder):
            if path.name.startswith(".") and _age(path) > _UNFINISHED:
                self._discard(path)

    def _discard(self, path: Path) -> None:
        """Remove a file of the cache; one that cannot be removed is passed over from now on."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._stuck.add(path)
            _log.warning("a file of the index cache cannot be removed: %s", error.strerror or error)

    def _paths(self) -> list[Path]:
        packs = {path for path in _below(self._folder) if path.suffix == ".pack"}
        return sorted(packs - self._stuck)

    def _worth(self, stage: RunStage, everything: bool) -> bool:
        before = self._kept.get(stage.found.id)
        now = _read(stage)
        if before is None:
            return now > 0
        return abs(now - before) > (0 if everything else max(_LEAST, _GROWTH * before))

    def _write(self, stages: Iterable[RunStage]) -> None:
        pack = CacheFileWriter(self._folder / f"{time.time_ns():020}.pack")
        try:
            for stage in stages:
                files = [file for file in stage.files.values() if _worth_keeping(file)]
                pack.run(stage.found.id, [preserve(file, pack) for file in files])
            pack.finish()
        except BaseException:
            pack.abandon()
            raise


def _notes(pack: CacheFile) -> dict[str, dict[str, Note]]:
    return {run: {note["name"]: note for note in pack.note(run)} for run in pack.runs}


def _goes_on(file: FileStage, stamp: Stamp) -> bool:
    """Whether a file that has another stamp now still begins with what was read."""
    known = file.stamp
    same = (known.inode, known.size, known.modified) == (stamp.inode, stamp.size, stamp.modified)
    if file.read > stamp.size or (stamp.size <= known.size and not same):
        return False
    return read_piece(Request(file.path, file.read, 0, file.print)).stretch is not None


def _worth_keeping(file: FileStage) -> bool:
    return file.print is not None and file.read > 0 and not file.error


def _read(stage: RunStage) -> int:
    return sum(file.read for file in stage.files.values() if _worth_keeping(file))


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _below(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _make_private(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.parent.chmod(0o700)
