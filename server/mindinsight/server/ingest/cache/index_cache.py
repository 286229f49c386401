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

from mindinsight.server.files.own_files import check_folder, own_folder
from mindinsight.server.ingest.cache.cache_file import Body, CacheFile, CacheFileWriter, StaleError
from mindinsight.server.ingest.cache.entries import Note, decode_file, encode_file
from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.discovery.folder_listing import Stamp
from mindinsight.server.ingest.piece_reader import PieceRequest, read_piece
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.run_stage import RunStage

_MAX_FILES: Final = 6
_GROWTH: Final = 0.25  # a run is written again when it grew by this part
_MIN_GROWTH: Final = 64 << 10  # bytes of event files that are sooner read again than kept track of
_EXPIRY: Final = 30 * 86400  # seconds after which nobody misses the cache of a base that was not looked at
_UNFINISHED: Final = 3600  # seconds after which nobody writes on a pack any more
_BAD_NOTE: Final = (StaleError, ValueError, TypeError, KeyError, AttributeError, IndexError)  # of a note

_log = logging.getLogger(__name__)


class IndexCache:
    """Belongs to the loader's thread."""

    def __init__(self, workspace: Path, base: Path, cold: ColdColumns | None = None) -> None:
        """``cold`` takes the columns of runs that are found."""
        self._cold = cold
        name = hashlib.sha256(os.fsencode(base)).hexdigest()[:16]
        self._root = workspace / "cache"
        self._folder = self._root / name
        self._notes: dict[str, tuple[CacheFile, dict[str, Note]]] = {}
        self._bodies: dict[str, Body] = {}
        self._files: list[CacheFile] = []
        self._stuck: set[Path] = set()  # could not be removed
        self._saved_sizes: dict[str, int] = {}  # bytes read of each run when it was last written

    def open(self) -> None:
        """List the packs and read their notes. Folders of other users and links are left alone."""
        try:
            for folder in (self._root, self._folder):
                check_folder(folder, writable=0)
        except FileNotFoundError:
            pass
        except OSError as error:
            _log.warning("the index cache is not used: %s: %s", error.filename, error.strerror)
            return
        self._tidy()
        for path in self._cache_files():
            try:
                self._files.append(CacheFile(path))
                notes = _notes_of(self._files[-1])
            except (*_BAD_NOTE, OSError):
                self._discard(path)
                continue
            self._notes.update({run: (self._files[-1], files) for run, files in notes.items()})

    def find(self, run: str, name: str, path: str, stamp: Stamp) -> FileStage | None:
        """What is known of a file, if it still begins with the bytes that were read."""
        pack, notes = self._notes.get(run, (None, {}))
        note = notes.get(name)
        if pack is None or note is None:
            return None
        try:
            if run not in self._bodies:
                self._bodies = {run: pack.body(run, self._cold)}
            file = decode_file(note, self._bodies[run], path)
        except (*_BAD_NOTE, OSError):
            del self._notes[run]
            return None
        if file.stamp != stamp and not _is_continuation(file, stamp):
            return None
        file.stamp = file.checked = stamp
        return file

    def release(self, stages: Mapping[str, RunStage]) -> None:
        """The first look is over: whatever was not asked for is forgotten."""
        self._saved_sizes = {run: _bytes_read(stages[run]) for run in self._notes.keys() & stages.keys()}
        for pack in self._files:
            pack.close()
        self._files, self._notes, self._bodies = [], {}, {}

    def save(self, stages: Mapping[str, RunStage], everything: bool = False) -> None:
        """Write the runs that changed much; with ``everything``, all that changed."""
        changed = [stage for stage in stages.values() if self._is_worth_saving(stage, everything)]
        if not changed:
            return
        try:
            _make_private(self._folder)
            packs = self._cache_files()
            whole = len(packs) >= _MAX_FILES
            self._write(list(stages.values()) if whole else changed)
            for path in packs if whole else []:
                self._discard(path)
        except OSError as error:
            _log.warning("the index cache cannot be written: %s", error.strerror or error)
        self._saved_sizes.update({stage.discovered.id: _bytes_read(stage) for stage in changed})

    def _tidy(self) -> None:
        """Remove what a killed server left, and caches of bases that were not looked at for long."""
        for folder in _entries_of(self._root):
            if folder != self._folder and _age(folder) > _EXPIRY:
                shutil.rmtree(folder, ignore_errors=True)
        for path in _entries_of(self._folder):
            if path.name.startswith(".") and _age(path) > _UNFINISHED:
                self._discard(path)

    def _discard(self, path: Path) -> None:
        """Remove a file of the cache; one that cannot be removed is passed over from now on."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._stuck.add(path)
            _log.warning("a file of the index cache cannot be removed: %s", error.strerror or error)

    def _cache_files(self) -> list[Path]:
        packs = {path for path in _entries_of(self._folder) if path.suffix == ".pack"}
        return sorted(packs - self._stuck)

    def _is_worth_saving(self, stage: RunStage, everything: bool) -> bool:
        before = self._saved_sizes.get(stage.discovered.id)
        now = _bytes_read(stage)
        if before is None:
            return now > 0
        return abs(now - before) > (0 if everything else max(_MIN_GROWTH, _GROWTH * before))

    def _write(self, stages: Iterable[RunStage]) -> None:
        pack = CacheFileWriter(self._folder / f"{time.time_ns():020}.pack")
        try:
            for stage in stages:
                files = [file for file in stage.files.values() if _is_savable(file)]
                pack.run(stage.discovered.id, [encode_file(file, pack) for file in files])
            pack.finish()
        except BaseException:
            pack.abandon()
            raise


def _notes_of(pack: CacheFile) -> dict[str, dict[str, Note]]:
    return {run: {note["name"]: note for note in pack.note(run)} for run in pack.runs}


def _is_continuation(file: FileStage, stamp: Stamp) -> bool:
    """Whether a file that has another stamp now still begins with what was read."""
    known = file.stamp
    same = (known.inode, known.size, known.modified) == (stamp.inode, stamp.size, stamp.modified)
    if file.read > stamp.size or (stamp.size <= known.size and not same):
        return False
    return read_piece(PieceRequest(file.path, file.read, 0, file.fingerprint)).stretch is not None


def _is_savable(file: FileStage) -> bool:
    return file.fingerprint is not None and file.read > 0 and not file.error


def _bytes_read(stage: RunStage) -> int:
    return sum(file.read for file in stage.files.values() if _is_savable(file))


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _entries_of(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _make_private(folder: Path) -> None:
    own_folder(folder.parent)
    own_folder(folder)
