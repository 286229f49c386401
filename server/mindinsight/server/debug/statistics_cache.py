"""Cache of statistics on disk, keyed by the identity of the tensor's file. It may be deleted at any time."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Final

from mindinsight.server.compute.tensor_statistics import Statistics
from mindinsight.server.debug.recorded_statistics import AnyStatistics
from mindinsight.server.files.own_files import NotOursError, check_folder, own_database, own_folder
from mindinsight.server.formats.dumps.dump_types import TensorRef
from mindinsight.server.formats.sanitizer import safe_text

FORMAT: Final = 1  # version of the schema below, a cache of another version is cleared


@dataclass(frozen=True, slots=True)
class Identity:
    """Key of the cache: a tensor, and the attributes of its file that change when it is modified."""

    path: str
    member: str
    device: int
    inode: int
    size: int  # bytes
    modified: int  # nanoseconds since 1970


@dataclass(frozen=True, slots=True)
class Measurement:
    """Statistics, shape and type of a tensor, computed from its values or inferred from recorded ones."""

    statistics: AnyStatistics
    shape: tuple[int, ...]
    dtype: str


def identify(ref: TensorRef) -> Identity | None:
    """Return the current identity of a tensor, or None if the attributes of its file cannot be read."""
    try:
        status = os.lstat(ref.path)
    except (OSError, ValueError):  # deleted, or an invalid name
        return None
    path, member = safe_text(ref.path), safe_text(ref.member)
    device, inode = _signed(status.st_dev), _signed(status.st_ino)
    return Identity(path, member, device, inode, status.st_size, status.st_mtime_ns)


def _signed(number: int) -> int:
    """Return a 64-bit number as SQLite's signed integer, because file systems may use all bits of an inode
    number."""
    return (number + 2**63) % 2**64 - 2**63


class StatisticsCache:
    """SQLite cache of tensor statistics on disk. If it fails, statistics are computed again."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def find(self, identities: Iterable[Identity]) -> Mapping[Identity, Measurement]:
        """Return the cached statistics of the tensors with unchanged files. Statistics that are not in the
        cache, or cannot be read, are left out."""
        cached: dict[Identity, Measurement] = {}
        with suppress(sqlite3.Error, OSError, ValueError, TypeError), self._open() as database:
            for identity in identities:
                key = _KEY(identity)
                row = database.execute(_SELECT, key[:2]).fetchone()
                if row is not None and row[:4] == key[2:]:
                    cached[identity] = _parse_measured(row[4])
        return cached

    def keep(self, measurements: Mapping[Identity, Measurement]) -> None:
        """Store statistics. A damaged cache is deleted. A cache that cannot be written is left unchanged."""
        rows = [(*_KEY(identity), _format_measured(value)) for identity, value in measurements.items()]
        if not rows:
            return
        try:
            with self._open() as database, database:
                database.executemany(_INSERT, rows)
        except (sqlite3.DatabaseError, NotOursError) as error:
            if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
                return  # locked by another process, or on a disk that is full
            with suppress(OSError):
                check_folder(self._file.parent)
                self._file.unlink(missing_ok=True)
        except OSError:
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        own_folder(self._file.parent)
        with own_database(self._file, to_write=True) as database:
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version != FORMAT:
                database.executescript(_CREATE)
            yield database


_CREATE = f"""
DROP TABLE IF EXISTS measured;
CREATE TABLE measured (path TEXT, member TEXT, device INTEGER, inode INTEGER, size INTEGER, modified INTEGER,
                       found TEXT, PRIMARY KEY (path, member)) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
_SELECT = "SELECT device, inode, size, modified, found FROM measured WHERE path = ? AND member = ?"
_INSERT = "INSERT OR REPLACE INTO measured VALUES (?, ?, ?, ?, ?, ?, ?)"


_KEY = attrgetter(*(field.name for field in fields(Identity)))  # a tenth of the time of dataclasses.astuple
_NUMBERS = attrgetter(*(field.name for field in fields(Statistics)))


def _format_measured(measurement: Measurement) -> str:
    return json.dumps([_NUMBERS(measurement.statistics), measurement.shape, measurement.dtype])


def _parse_measured(text: str) -> Measurement:
    statistics, shape, dtype = json.loads(text)
    return Measurement(Statistics(*statistics), tuple(shape), dtype)
