"""Index cache on disk: columns read from event files, so that a restart reads only new bytes.

Columns are stored as differences from row to row, each less the smallest one, without the high bytes that are
zero in all of them: no bytes for even steps, two or three for wall times. Noise is stored as it is. Values
in files of their own are not copied, see `ValueFile`.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from mindinsight.server.files.own_files import check_folder, open_own, own_folder
from mindinsight.server.ingest.cold_columns import ColdColumns, ValueFile, ValueSection
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp
from mindinsight.server.ingest.piece_reader import Fingerprint, SectionRequest, read_file_section
from mindinsight.server.ingest.run_stage import RunStage
from mindinsight.server.ingest.staged_columns import Axis, ReferenceGroup, ScalarGroup
from mindinsight.server.store.array_block import Array, ArrayBlock, ArrayPosition, array_at, little_endian
from mindinsight.server.types import Damage

FORMAT: Final = 8  # version of cache files: those of another version are read no more
_READ: Final = 1 << 22  # bytes read at a time
_MAX_BLOCK: Final = 1 << 21  # numbers of an array of many tags
_MIN_SHRUNK: Final = 4096  # numbers of an array; fewer are read faster than they are added up
_MAGIC: Final = b"MIcache\n"
_HEADER: Final = struct.Struct("=8sII")
_FOOTER: Final = struct.Struct("=QQII8s")


class StaleError(Exception):
    """Error: the bytes are not a cache file of this format, or their checksum does not match."""


class CacheFileWriter:
    """Writer of a cache file, which has a temporary name until it is complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")
        self._temporary.unlink(missing_ok=True)  # of a killed server with the same process id
        descriptor = open_own(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        self._file: IO[bytes] = os.fdopen(descriptor, "wb", buffering=1 << 20)
        self._file.write(_HEADER.pack(_MAGIC, FORMAT, 0))
        self._index: dict[str, Any] = {}
        self._offset = _HEADER.size  # of the current run
        self._begin_run()

    def array(self, array: Array) -> list[Any]:
        """Write an array of the current run, unless it was written before, and return its position. The
        position is a JSON list, which `Body.array` takes."""
        if id(array) not in self._written:
            self._written[id(array)] = (array, self.rows(array))
        return self._written[id(array)][1]

    def rows(self, array: Array, count: int = 1) -> list[Any]:
        """Write a flat array that holds ``count`` rows of equal length, and return its position. The
        position is a JSON list, which `Body.array` takes."""
        if len(array) < max(_MIN_SHRUNK, 2 * count):
            return [*self._block.append(array)]
        octets = array.dtype.itemsize
        numbers = little_endian(array).view(f"<i{octets}").reshape(count, -1)
        deltas = np.diff(numbers, axis=1)
        low = int(deltas.min())
        deltas -= numbers.dtype.type(low)
        width = (int(deltas.view(f"<u{octets}").max()).bit_length() + 7) // 8
        if width == octets:
            return [*self._block.append(array)]
        low_bytes = deltas.view(np.uint8).reshape(-1, octets)[:, :width]
        _, at, _ = self._block.append(numbers[:, 0])
        return [
            array.dtype.str[1:],
            at,
            len(array),
            count,
            low,
            self._block.append(low_bytes.ravel()).at,
            width,
        ]

    def run(self, name: str, note: Any) -> None:
        """End a run: store the arrays since the previous run under its ``name``, with ``note`` as JSON."""
        size = self._block.size
        self._index[name] = [self._offset, size, self._crc, note]
        self._offset += size
        self._begin_run()

    def finish(self) -> None:
        """Write the index, close the file and give it its final name."""
        index = json.dumps(self._index, separators=(",", ":")).encode()
        self._file.write(index)
        self._file.write(_FOOTER.pack(self._offset, len(index), zlib.crc32(index), FORMAT, _MAGIC))
        self._file.close()
        self._temporary.replace(self._path)

    def abandon(self) -> None:
        """Close and remove the temporary file."""
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def _begin_run(self) -> None:
        """Start the arrays of the next run."""
        self._block, self._crc = ArrayBlock(self._write), 0
        self._written: dict[int, tuple[Array, list[Any]]] = {}  # by the identity of the array

    def _write(self, data: bytes | memoryview) -> None:
        """Write bytes and update the checksum."""
        self._file.write(data)
        self._crc = zlib.crc32(data, self._crc)


@dataclass(frozen=True, slots=True)
class _Entry:
    """Entry of the cache's index: the arrays of one run (bytes and checksum), and its note."""

    offset: int
    size: int
    crc: int
    note: Any


class CacheFile:
    """Open cache file: notes in memory, arrays read run by run."""

    def __init__(self, path: Path) -> None:
        """Open a cache file. Raises StaleError if it is not complete or of another format, OSError without
        access."""
        self._file = os.fdopen(open_own(path, os.O_RDONLY), "rb", buffering=0)
        try:
            self._entries: Mapping[str, _Entry] = _read_index(self._file)
        except BaseException:
            self._file.close()
            raise

    @property
    def runs(self) -> frozenset[str]:
        """Return the ids of the runs."""
        return frozenset(self._entries)

    def note(self, run: str) -> Any:
        """Return the note that was stored with a run. Raises KeyError if the file lacks the run."""
        return self._entries[run].note

    def body(self, run: str, cold: ColdColumns | None = None) -> Body:
        """Check the arrays of one run and return their reader. Raises StaleError for a wrong checksum,
        KeyError for an unknown run. They are read and not mapped, because a map of a file that another
        process truncates ends this one. ``cold`` stores large arrays."""
        entry = self._entries[run]
        self._file.seek(entry.offset)
        data, crc, left = b"", 0, entry.size
        while left and (data := self._file.read(min(left, _READ))):
            crc, left = zlib.crc32(data, crc), left - len(data)
        if crc != entry.crc or left:
            raise StaleError(run)
        return Body(self._file, entry, cold, data if len(data) == entry.size else b"")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Body:
    """Reader of the arrays of one run in a cache file, or in ``data`` if the run is small."""

    def __init__(self, file: IO[bytes], entry: _Entry, cold: ColdColumns | None, data: bytes) -> None:
        self._file, self._entry, self._cold, self._data = file, entry, cold, data

    def array(self, position: Sequence[Any]) -> Array:
        """Return the read-only array at a position. Raises StaleError for an invalid position."""
        try:
            dtype, at, length, *shrunk = position
            array = self._expanded(dtype, at, length, *shrunk) if shrunk else self._at(dtype, at, length)
        except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
            raise StaleError(str(error)) from error
        return array if self._cold is None else self._cold.move([array])[0]

    def value_file(self, name: str) -> ValueFile:
        """Return the file of values with this name. Raises StaleError without cold columns, ValueError for a
        path or without a folder."""
        if self._cold is None:
            raise StaleError(name)
        return self._cold.value_file(name)

    def _at(self, dtype: str, at: int, length: int) -> Array:
        """Return the array of a type and length at an offset, stored without compression. Raises ValueError
        or TypeError."""
        if self._data:
            return array_at(self._data, ArrayPosition(dtype, at, length))
        size = np.dtype(dtype).itemsize * length
        if at < 0 or not 0 <= size <= self._entry.size - at:
            raise ValueError(f"{size} bytes at {at}")
        data = os.pread(self._file.fileno(), size, self._entry.offset + at)
        return array_at(data, ArrayPosition(dtype, 0, length))

    def _expanded(
        self, dtype: str, at: int, length: int, rows: int, low: int, deltas_at: int, width: int
    ) -> Array:
        """Return an array that is stored as differences. Raises ValueError or TypeError."""
        octets = np.dtype(dtype).itemsize
        numbers = np.empty((rows, length // rows), f"<i{octets}")
        numbers[:, 0] = self._at(f"i{octets}", at, rows)
        deltas = np.zeros((length - rows, octets), np.uint8)
        deltas[:, :width] = self._at("u1", deltas_at, len(deltas) * width).reshape(len(deltas), width)
        numbers[:, 1:] = deltas.view(numbers.dtype).reshape(rows, -1)
        numbers[:, 1:] += numbers.dtype.type(low)
        np.cumsum(numbers, axis=1, dtype=numbers.dtype, out=numbers)
        array = numbers.ravel().view(f"<{dtype}")
        array.flags.writeable = False
        return array


def _read_index(file: IO[bytes]) -> dict[str, _Entry]:
    """Return the entries of a cache file by run id. Raises StaleError for a damaged or older one."""
    size = os.fstat(file.fileno()).st_size
    if size < _HEADER.size + _FOOTER.size:
        raise StaleError("too short")
    file.seek(size - _FOOTER.size)
    at, length, crc, number, magic = _FOOTER.unpack(file.read(_FOOTER.size))
    if magic != _MAGIC or number != FORMAT or at + length + _FOOTER.size != size:
        raise StaleError("another format")
    file.seek(at)
    index = file.read(length)
    if zlib.crc32(index) != crc:
        raise StaleError("damaged")
    entries = {name: _Entry(*entry) for name, entry in json.loads(index).items()}
    if any(min(entry.offset, entry.size) < 0 or entry.offset + entry.size > at for entry in entries.values()):
        raise StaleError("a run outside of the body")
    return entries


Note = dict[str, Any]


def encode_file(file: FileStage, pack: CacheFileWriter) -> Note:
    """Write the columns of a file to the cache file of ``pack``, and return a note with everything else."""
    assert file.fingerprint is not None
    groups = {id(group): group for group in file.scalars.groups.values()}
    files = {stored: number for number, stored in enumerate(file.scalars.files())}
    return {
        "name": file.name,
        "stamp": file.checked,
        "print": [file.fingerprint.head.hex(), file.fingerprint.tail.hex()],
        "read": file.read,
        "pending": file.pending,
        "events": [file.first_event, file.last_event],
        "closing": file.closing,
        "damage": [[section.offset, section.size, section.reason] for section in file.damage],
        "skipped": file.skipped,
        "sessions": file.sessions,
        "hparams": [content.hex() for content in file.hparams],
        "files": [stored.path.name for stored in files],
        "scalars": [_scalars(group, pack, files) for group in groups.values()],
        "references": [[*key, *_references(group, pack)] for key, group in file.references.items()],
    }


def decode_file(note: Note, body: Body, path: str) -> FileStage:
    """Return the file at ``path`` as it was cached, from its note and arrays. Raises KeyError, TypeError,
    ValueError or StaleError for an invalid note."""
    file = FileStage(note["name"], path, Stamp(*note["stamp"]))
    file.fingerprint = Fingerprint(*map(bytes.fromhex, note["print"]))
    file.read, file.pending = int(note["read"]), int(note["pending"])
    file.first_event, file.last_event = map(float, note["events"])
    file.closing = None if note["closing"] is None else str(note["closing"])
    file.damage = [Damage(*section) for section in note["damage"]]
    file.skipped = {str(what): int(count) for what, count in note["skipped"].items()}
    file.sessions = int(note["sessions"])
    file.hparams = [*map(bytes.fromhex, note["hparams"])]
    files = [body.value_file(name) for name in note["files"]]
    for axis, tags, sections, blocks in note["scalars"]:
        values = [body.array(position).reshape(count, -1) for count, position in blocks]
        matrix = values[0] if len(values) == 1 else np.concatenate(values)
        if len(matrix) != len(tags):
            raise StaleError("tags without values")
        stored = tuple(_decode_sections(sections, tags, files))
        file.scalars.put(ScalarGroup(_axis(axis, body), tags, matrix, stored))
    for kind, tag, axis, offsets, sizes in note["references"]:
        group = ReferenceGroup(_axis(axis, body), body.array(offsets), body.array(sizes))
        file.references[kind, tag] = group
    return file


def _scalars(group: ScalarGroup, pack: CacheFileWriter, files: Mapping[ValueFile, int]) -> list[Any]:
    """Write a group of scalars, and return its tags, sections, and the positions of its arrays."""
    tags, values = list(group.tags), group.own_values
    limit = max(_MAX_BLOCK // values.shape[1], 1)  # tags of an array
    chunks = [values[first : first + limit] for first in range(0, len(values), limit)]
    blocks = [[len(chunk), pack.rows(chunk.reshape(-1), len(chunk))] for chunk in chunks]
    return [_encode_axis(group.axis, pack), tags, _encode_sections(group, tags, files), blocks]


def _encode_sections(group: ScalarGroup, tags: list[str], files: Mapping[ValueFile, int]) -> list[list[Any]]:
    """Return a group's sections as JSON lists: file, offset, length, type, and rows of the tags. The rows
    are None if the tags are the same as in the section before."""
    known: Mapping[str, int] = {tag: row for row, tag in enumerate(tags)}
    sections = []
    for section in group.sections:
        same = section.tags is known or section.tags == known
        rows = None if same else [section.tags[tag] for tag in tags]
        known = section.tags
        sections.append([files[section.file], section.offset, section.length, section.dtype.str[1:], rows])
    return sections


def _decode_sections(
    positions: list[list[Any]], tags: list[str], files: Sequence[ValueFile]
) -> Iterator[ValueSection]:
    """Yield the sections at these positions. Raises StaleError, ValueError, TypeError or OSError."""
    known = {tag: row for row, tag in enumerate(tags)}
    for number, offset, length, dtype, rows in positions:
        if rows is not None:
            known = dict(zip(tags, map(int, rows), strict=True))
        section = ValueSection(files[number], int(offset), int(length), np.dtype(f"<{dtype}"), known)
        if not section.is_complete():
            raise StaleError(section.file.path.name)
        yield section


def _references(group: ReferenceGroup, pack: CacheFileWriter) -> list[Any]:
    """Write a group of references, and return the positions of its arrays."""
    return [_encode_axis(group.axis, pack), pack.array(group.offsets.view()), pack.array(group.sizes.view())]


def _encode_axis(axis: Axis, pack: CacheFileWriter) -> list[Any]:
    """Write an axis, and return the positions of its arrays."""
    columns = [pack.array(column.view()) for column in (axis.steps, axis.walls, axis.starts)]
    return [*columns, axis.session, axis.session_rows]


def _axis(positions: list[Any], body: Body) -> Axis:
    """Return the axis with the arrays at these positions in the cache. Raises StaleError or ValueError."""
    *columns, session, rows = positions
    axis = Axis(*map(body.array, columns))
    axis.session, axis.session_rows = int(session), list(map(int, rows))
    return axis


_MAX_FILES: Final = 6  # cache files of a base; more are merged into one
_MAX_UNSAVED: Final = 1 << 30  # bytes of a run that are read before it is written although more follow
GROWTH: Final = 0.25  # a run is written again after it grew by this share
_MIN_GROWTH: Final = 64 << 10  # bytes of event files that are read again faster than they are cached
_EXPIRY: Final = 30 * 86400  # seconds without use after which the cache of a base is deleted
_UNFINISHED: Final = 3600  # seconds after which a temporary file belongs to a killed server
# Errors of an invalid note.
_BAD_NOTE: Final = (StaleError, ValueError, TypeError, KeyError, AttributeError, IndexError)

_log = logging.getLogger(__name__)


class IndexCache:
    """Index cache of one base directory. Only the loader's thread uses it."""

    def __init__(self, workspace: Path, base: Path, cold: ColdColumns | None = None) -> None:
        """Create the cache. ``cold`` moves columns from memory to files; without it they stay in memory."""
        self._cold = cold
        self._folder = cache_folder(workspace, base)
        self._root = self._folder.parent
        self._notes: dict[str, tuple[CacheFile, dict[str, Note]]] = {}
        self._bodies: dict[str, Body] = {}
        self._files: list[CacheFile] = []
        self._stuck: set[Path] = set()  # files that could not be removed
        self._saved_sizes: dict[str, int] = {}  # bytes read of each run when it was last written

    def open(self) -> None:
        """Open the cache files and read their notes. Remove damaged files, and leftovers of killed servers.
        Folders of other users and links are ignored."""
        try:
            for folder in (self._root, self._folder):
                check_folder(folder, writable=0)
        except FileNotFoundError:
            pass
        except OSError as error:
            _log.warning("cannot use the index cache: %s: %s", error.filename, error.strerror)
            return
        self._remove_leftovers()
        for path in self._cache_files():
            try:
                self._files.append(CacheFile(path))
                pack = self._files[-1]
                notes = {run: {note["name"]: note for note in pack.note(run)} for run in pack.runs}
            except (*_BAD_NOTE, OSError):
                self._discard(path)
                continue
            self._notes.update({run: (self._files[-1], files) for run, files in notes.items()})

    def find(self, run: str, name: str, path: str, stamp: Stamp) -> FileStage | None:
        """Return the cached state of a file if it still begins with the same bytes, else None. ``stamp``
        is the present one. Only between `open` and `release`."""
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
        """Close the cache files after the first scan, forget their notes, and remove unused value files."""
        self._saved_sizes = {run: _bytes_read(stages[run]) for run in self._notes.keys() & stages.keys()}
        notes = [note for _, files in self._notes.values() for note in files.values()]
        used = {name for note in notes for name in note.get("files", ())}
        for path in _list_folder(self._folder):
            if path.suffix == ".values" and path.name not in used and _age(path) > _UNFINISHED:
                self._discard(path)
        for pack in self._files:
            pack.close()
        self._files, self._notes, self._bodies = [], {}, {}

    def save(self, stages: Mapping[str, RunStage], growth: float | None = GROWTH) -> None:
        """Write the runs whose size changed by more than the share ``growth`` since they were last
        written. With 0 write all runs that changed, with None those that changed by more than a gigabyte.
        A failure is logged. Files of values that this process wrote and no run uses any more are removed."""
        self._remove_unused(stages)
        changed = [stage for stage in stages.values() if self._is_worth_saving(stage, growth)]
        if not changed:
            return
        try:
            own_folder(self._root)
            own_folder(self._folder)
            packs = self._cache_files()
            whole = len(packs) >= _MAX_FILES
            self._write(list(stages.values()) if whole else changed)
            for path in packs if whole else []:
                self._discard(path)
        except OSError as error:
            _log.warning("cannot write the index cache: %s", error.strerror or error)
        self._saved_sizes.update({stage.discovered.id: _bytes_read(stage) for stage in changed})

    def _remove_leftovers(self) -> None:
        """Remove temporary files of killed servers, and caches of bases that were not used for long."""
        for folder in _list_folder(self._root):
            if folder != self._folder and _age(folder) > _EXPIRY:
                shutil.rmtree(folder, ignore_errors=True)
        for path in _list_folder(self._folder):
            if path.name.startswith(".") and _age(path) > _UNFINISHED:
                self._discard(path)

    def _discard(self, path: Path) -> None:
        """Remove a cache file. A file that cannot be removed is ignored from now on."""
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._stuck.add(path)
            _log.warning("cannot remove a file of the index cache: %s", error.strerror or error)

    def _cache_files(self) -> list[Path]:
        """Return the paths of the cache files, oldest first."""
        packs = {path for path in _list_folder(self._folder) if path.suffix == ".pack"}
        return sorted(packs - self._stuck)

    def _remove_unused(self, stages: Mapping[str, RunStage]) -> None:
        """Remove files of values whose event file was removed or read again."""
        created = self._cold.created if self._cold else set()
        if created:
            files = [file for stage in stages.values() for file in stage.files.values()]
            unused = created - {stored for file in files for stored in file.scalars.files()}
            for stored in unused:
                self._discard(stored.path)
            created -= unused

    def _is_worth_saving(self, stage: RunStage, growth: float | None) -> bool:
        """Return True if a run changed enough to be written again."""
        before = self._saved_sizes.get(stage.discovered.id)
        now = _bytes_read(stage)
        if growth is None:
            return abs(now - (before or 0)) > _MAX_UNSAVED
        if before is None:
            return now > 0
        return abs(now - before) > (max(_MIN_GROWTH, growth * before) if growth else 0)

    def _write(self, stages: Iterable[RunStage]) -> None:
        """Write runs to a new cache file. Raises OSError."""
        pack = CacheFileWriter(self._folder / f"{time.time_ns():020}.pack")
        try:
            for stage in stages:
                files = [file for file in stage.files.values() if _is_savable(file)]
                pack.run(stage.discovered.id, [encode_file(file, pack) for file in files])
            pack.finish()
        except BaseException:
            pack.abandon()
            raise


def _is_continuation(file: FileStage, stamp: Stamp) -> bool:
    """Return True if a file has grown and still begins with the bytes that were read."""
    known = file.stamp
    same = (known.inode, known.size, known.modified) == (stamp.inode, stamp.size, stamp.modified)
    if file.read > stamp.size or (stamp.size <= known.size and not same):
        return False
    return read_file_section(SectionRequest(file.path, file.read, 0, file.fingerprint)).section is not None


def _is_savable(file: FileStage) -> bool:
    """Return True if a file was read without error and can be recognised again."""
    return file.fingerprint is not None and file.read > 0 and not file.error


def _bytes_read(stage: RunStage) -> int:
    """Return the bytes read of the files that can be cached."""
    return sum(file.read for file in stage.files.values() if _is_savable(file))


def cache_folder(workspace: Path, base: Path) -> Path:
    """Return the path of the folder with the cache of a base directory. It need not exist."""
    return workspace / "cache" / hashlib.sha256(os.fsencode(base)).hexdigest()[:16]


def _age(path: Path) -> float:
    """Return the seconds since the last write, 0 if it is unknown."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _list_folder(folder: Path) -> list[Path]:
    """Return the paths in a folder, empty if it cannot be listed."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []
