"""Statistics remembered by the identity of the file they are of. A cache: it may be deleted at any time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

from mindinsight.server.compute.statistics import Statistics
from mindinsight.server.debug.recorded import AnyStatistics
from mindinsight.server.formats.dumps.types import TensorRef
from mindinsight.server.formats.safe_values import safe_text

FORMAT: Final = 1  # of the rows below; another number starts the cache anew


@dataclass(frozen=True, slots=True)
class Identity:
    """A tensor as long as its file is not touched."""

    path: str
    member: str
    device: int
    inode: int
    size: int  # bytes
    modified: int  # nanoseconds since 1970


@dataclass(frozen=True, slots=True)
class Measured:
    """Statistics, shape and type of a tensor: of its values, or as the dump recorded them."""

    statistics: AnyStatistics
    shape: tuple[int, ...]
    dtype: str


def identify(ref: TensorRef) -> Identity | None:
    """The identity of a tensor's file now; None when the file cannot be looked at."""
    try:
        found = Path(ref.path).lstat()
    except (OSError, ValueError):  # gone, or a name no file can have
        return None
    path, member = safe_text(ref.path), safe_text(ref.member)
    device, inode = _signed(found.st_dev), _signed(found.st_ino)
    return Identity(path, member, device, inode, found.st_size, found.st_mtime_ns)


def _signed(number: int) -> int:
    """The 64 bits of a number as SQLite takes them: inodes use all of them on some file systems."""
    return (number + 2**63) % 2**64 - 2**63


class StatisticsCache:
    """One SQLite file. Whatever goes wrong with it, the statistics are computed again and nothing is lost."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def find(self, identities: Iterable[Identity]) -> Mapping[Identity, Measured]:
        """Those of the tensors that were measured and have not changed since."""
        found: dict[Identity, Measured] = {}
        try:
            with self._open() as database:
                for each in identities:
                    row = database.execute(_SELECT, (each.path, each.member)).fetchone()
                    if row is not None and row[:4] == (each.device, each.inode, each.size, each.modified):
                        found[each] = _measured(row[4])
        except (sqlite3.Error, OSError, ValueError, TypeError):
            return found
        return found

    def keep(self, measured: Mapping[Identity, Measured]) -> None:
        """Remember; a cache that cannot be written is started anew and otherwise left alone."""
        rows = [(*astuple(each), _text(value)) for each, value in measured.items()]
        if not rows:
            return
        try:
            with self._open() as database, database:
                database.executemany(_INSERT, rows)
        except sqlite3.DatabaseError:
            self._file.unlink(missing_ok=True)
        except OSError:
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(self._file, timeout=10)) as database:
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


def _text(measured: Measured) -> str:
    return json.dumps([astuple(measured.statistics), measured.shape, measured.dtype])


def _measured(text: str) -> Measured:
    statistics, shape, dtype = json.loads(text)
    return Measured(Statistics(*statistics), tuple(shape), dtype)
