"""Series: one tag of one run in columns, immutable, with the rule for steps that go back."""

from __future__ import annotations

import os
import threading
import weakref
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mindinsight.server.errors import Gone
from mindinsight.server.files.opener import opened, read_at
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.types import Doubles, Floats, Ints, Kind, Reference


@dataclass(frozen=True, slots=True)
class Line:
    """Points of a scalar series with strictly ascending steps."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]

    def rows(self, rows: Any) -> Line:
        """Return the points at ``rows``: indices, flags [n] or a slice."""
        return Line(self.steps[rows], self.walls[rows], self.values[rows])


def line_rows(steps: Ints, files: Ints) -> Ints | None:
    """Return the rows of a scalar's line, the points to draw, or None if these are all rows.

    ``steps`` [n] are the steps of all files, oldest first. ``files`` [f] are the rows of `file_rows`. The
    line has ascending steps: a newer file overwrites the steps from its first step on, and of a repeated step
    the last value counts.
    """
    if bool(np.all(steps[1:] > steps[:-1])):
        return None
    valid = np.flatnonzero(_below_newer_files(steps, files))
    order = valid[np.argsort(steps[valid], kind="stable")]
    ordered = steps[order]
    line: Ints = order[np.append(ordered[1:] != ordered[:-1], True)]
    return line


def _below_newer_files(steps: Ints, files: Ints) -> npt.NDArray[np.bool_]:
    """Return which rows have a step below the first step of every newer file, [n] bool."""
    below = np.ones(len(steps), dtype=np.bool_)
    bound = steps[files[-1] :].min()
    for first, end in zip(files[-2::-1], files[:0:-1], strict=True):
        of_file = steps[first:end]
        below[first:end] = of_file < bound
        bound = min(bound, of_file.min())
    return below


def overwritten_intervals(steps: Ints, starts: Ints, rows: Ints) -> list[Ints]:
    """Return the rows outside the line, as intervals of adjacent rows with ascending steps, oldest first.
    ``starts`` [s] are the rows at which steps go back, the first is 0. ``rows`` are the rows of the line,
    see `line_rows`. A step recorded twice in succession is not an interval: its later value replaced it."""
    lost = np.ones(len(steps), dtype=np.bool_)
    lost[rows] = False
    begins = np.zeros(len(steps), dtype=np.bool_)
    begins[starts] = True
    last_of_step = np.ones(len(steps), dtype=np.bool_)
    last_of_step[:-1] = (steps[1:] != steps[:-1]) | begins[1:]
    distinct = np.flatnonzero(last_of_step)
    segment = np.searchsorted(starts, distinct, side="right")
    places = np.flatnonzero(lost[distinct])
    if not len(places):
        return []
    cuts = np.flatnonzero((np.diff(places) != 1) | (np.diff(segment[places]) != 0)) + 1
    return [distinct[part] for part in np.split(places, cuts)]


Transcode: TypeAlias = Callable[[Kind, bytes], bytes]
NO_ROWS: Ints = np.empty(0, np.int64)
NO_ROWS.flags.writeable = False


def _no_rows() -> Ints:
    """Return the shared empty column."""
    return NO_ROWS


class StoredValues(Protocol):
    """Interface of the first values of a scalar column, which are on disk."""

    @property
    def count(self) -> int:
        """Return the number of values."""
        ...

    def read(self, first: int) -> list[Floats]:
        """Return the values from row ``first`` on, in chunks. Raises Gone if they cannot be read."""
        ...


class ScalarPart(NamedTuple):
    """Rows of one scalar tag in one file, at least one."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    recent: Floats  # [m] values in memory, the last ones, at least one
    starts: Ints  # [s] rows at which the step went back; the first is 0
    sessions: Ints = NO_ROWS  # [t] rows at which a later session begins
    stored: StoredValues | None = None  # n - m values, None if all are in memory

    def values(self, first: int = 0) -> Floats:
        """Return the values from row ``first`` on. Raises Gone if stored values cannot be read."""
        skip = first - (0 if self.stored is None else self.stored.count)
        if self.stored is None or skip >= 0:
            return self.recent[skip:]
        with np.errstate(invalid="ignore"):  # signalling NaN when float32 is joined with float64
            return np.concatenate([*self.stored.read(first), self.recent])


@dataclass(frozen=True, slots=True)
class ReferencePart:
    """Payload references of one tag and kind in one file, at least one row."""

    path: str  # absolute
    device: int
    inode: int
    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    offsets: Ints  # [n] first byte of each payload in the file
    sizes: Ints  # [n] bytes
    starts: Ints  # [s] rows at which the step went back; the first is 0
    sessions: Ints = field(default_factory=_no_rows)  # [t] rows at which a later session begins
    transcode: Transcode | None = None  # converts a payload of another format to our message


Part: TypeAlias = ScalarPart | ReferencePart


def segment_rows(parts: Sequence[Part]) -> Ints:
    """Return the rows at which a segment starts, over files in order, oldest first: row 0, and each row with
    a lower step than the row before."""
    row = 0
    starts: list[Ints] = []
    for number, part in enumerate(parts):
        continues = number > 0 and part.steps[0] >= parts[number - 1].steps[-1]
        starts.append((part.starts[1:] if continues else part.starts) + row)
        row += len(part.steps)
    return np.concatenate(starts)


def file_rows(parts: Sequence[Part]) -> Ints:
    """Return the row at which each file, or each later session in it, starts. The first is 0. A file that
    was begun while an older one was written continues that: no restart separates them."""
    lengths = np.array([0, *(len(part.steps) for part in parts[:-1])], dtype=np.int64)
    begins = np.cumsum(lengths)
    later = _begun_later(parts)
    if not any(len(part.sessions) for part in parts):
        return begins[later]
    sessions = [part.sessions + begin for part, begin in zip(parts, begins.tolist(), strict=True)]
    return np.unique(np.concatenate([begins[later], *sessions]))


def _begun_later(parts: Sequence[Part]) -> npt.NDArray[np.bool_]:
    """Return [f] True for each file that was begun after all older files had ended, by wall times."""
    ends = np.maximum.accumulate([part.walls[-1] for part in parts])
    begun = np.array([part.walls[0] for part in parts])
    return np.append(True, begun[1:] >= ends[:-1])


MAX_PAYLOAD: Final = 512 << 20  # bytes of a payload that is read whole; larger tensors are read in parts


def check_identity(reference: Reference, identity: tuple[int, int]) -> None:
    """Raise Gone if the file is missing, too short or not the file with this device and inode."""
    try:
        status = Path(reference.path).lstat()
    except OSError as error:
        raise Gone(f"the file cannot be read: {error.strerror}") from error
    _check_status(status, reference, identity)


def _check_status(status: os.stat_result, reference: Reference, identity: tuple[int, int] | None) -> None:
    """Raise Gone if the file was replaced or is too short."""
    if identity is not None and (status.st_dev, status.st_ino) != identity:
        raise Gone("the file was replaced")
    if status.st_size < reference.offset + reference.size:
        raise Gone("the file is too short")


def read_payload(reference: Reference, identity: tuple[int, int] | None = None) -> bytes:
    """Return the bytes of a reference. Raises Gone if the file is missing, too short or replaced,
    UnreadableError for more bytes than MAX_PAYLOAD. ``identity`` is device and inode of the file in which
    the payload was found. Links are not followed."""
    if reference.size > MAX_PAYLOAD:
        raise UnreadableError("payload.too_large", f"{reference.size} bytes are more than {MAX_PAYLOAD}")
    try:
        with opened(reference.path) as descriptor:
            _check_status(os.fstat(descriptor), reference, identity)
            payload = read_at(descriptor, reference.offset, reference.size)
    except OSError as error:
        raise Gone(f"the file cannot be read: {error.strerror}") from error
    if len(payload) < reference.size:
        raise Gone("the file is too short")
    return payload


_Number = TypeVar("_Number", np.int64, np.float64)
_MAX_JOINED: Final = 64 << 20  # bytes of joined columns that the series of a store hold


def _zero() -> Ints:
    """Return a column with the row 0."""
    return np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Columns:
    """All recorded rows of a scalar series, in file order."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    starts: Ints  # [s] row at which each segment starts, where steps go back; the first is 0
    files: Ints = field(default_factory=_zero)  # [f] row at which each file's rows start; the first is 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """All recorded rows of a scalar series, in file order, with a flag for overwritten ones."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    overwritten: npt.NDArray[np.bool_]  # [n] whether the row is not part of the line


class ScalarSeries:
    """One scalar tag of one run.

    Pages show and count its ``line``, see `line_rows`.

    ``version`` is the version of the snapshot in which the series last changed. ``generation`` changes when
    rows below ``count`` changed (a file was replaced, or an older file grew). A cursor into the rows stays
    valid while it is the same.
    """

    def __init__(
        self,
        tag: str,
        parts: Sequence[ScalarPart],
        version: int,
        generation: int = 0,
        joined: JoinedColumns | None = None,
    ) -> None:
        """Create a series from at least one part, oldest file first. ``joined`` bounds what it keeps."""
        self.tag = tag
        self.parts = tuple(parts)
        self.version = version
        self.generation = generation
        self._joined = joined
        self.count = len(parts[0].steps) if len(parts) == 1 else sum([len(part.steps) for part in parts])
        self._columns: Columns | None = None
        self._line: tuple[Line, Ints | None] | None = None  # and its rows, None for all

    @cached_property
    def _last(self) -> tuple[ScalarPart, int]:
        """Return the part and the row in it of the last point of the line."""
        newest = self.parts[-1:]
        if len(self.parts) > 1 and not len(newest[0].sessions):
            newest = self.parts[int(np.flatnonzero(_begun_later(self.parts))[-1]) :]
        rows = [(part, _last_row(part)) for part in newest]
        return max(reversed(rows), key=lambda last: int(last[0].steps[last[1]]))

    @property
    def last_step(self) -> int:
        """Return the step of the last point."""
        part, row = self._last
        return int(part.steps[row])

    @property
    def last_value(self) -> float:
        """Return the value of the last point. Raises Gone if a stored value cannot be read."""
        part, row = self._last
        return float(part.values(row)[0])

    def columns(self) -> Columns:
        """Return all rows: without a copy for a single file in memory, otherwise joined and kept for a while.
        Raises Gone if stored values cannot be read."""
        columns = self._columns
        if columns is None:
            columns = self._columns = _columns_of(self.parts)
            if self._joined and (len(self.parts) > 1 or self.parts[0].stored is not None):
                self._joined.note(self, 3 * columns.steps.nbytes)
        return columns

    def forget(self) -> None:
        """Release the columns. The next reader joins them again."""
        self._columns = self._line = None

    def line(self) -> Line:
        """Return the points of the line: ascending steps, each with the value written last. Raises Gone if
        stored values cannot be read."""
        return self._line_and_rows()[0]

    def overwritten(self) -> list[Line]:
        """Return the intervals that the line does not contain: oldest first, each ascending. Raises Gone like
        `line`."""
        rows = self._line_and_rows()[1]
        if rows is None:
            return []
        columns = self.columns()
        whole = Line(columns.steps, columns.walls, columns.values)
        return [
            whole.rows(interval) for interval in overwritten_intervals(columns.steps, columns.starts, rows)
        ]

    def recorded(self) -> Recorded:
        """Return all rows in file order, with a flag that is True for rows that the line does not contain.
        Raises Gone like `line`."""
        columns, rows = self.columns(), self._line_and_rows()[1]
        lost = np.full(self.count, rows is not None)
        lost[rows if rows is not None else slice(0)] = False
        return Recorded(columns.steps, columns.walls, columns.values, lost)

    def _line_and_rows(self) -> tuple[Line, Ints | None]:
        """Return the line of points without overwritten ones, and their rows among all rows, None if none is
        overwritten. Computed once."""
        line = self._line
        if line is None:
            columns = self.columns()
            rows = line_rows(columns.steps, columns.files)
            whole = Line(columns.steps, columns.walls, columns.values)
            line = self._line = (whole if rows is None else whole.rows(rows), rows)
        return line

    def tail(self, row: int) -> Columns:
        """Return the rows from ``row`` on, without reading the files before it. Raises Gone if stored
        values cannot be read. ``starts`` and ``files`` count from ``row``. Their first value is 0 only if
        a segment, or a file, begins there."""
        parts, first = self._trailing_parts(row)
        skip = row - first
        starts, files = segment_rows(parts), file_rows(self.parts)
        return Columns(
            steps=_concatenated([part.steps for part in parts])[skip:],
            walls=_concatenated([part.walls for part in parts])[skip:],
            values=self.values_from(row),
            starts=starts[np.searchsorted(starts, skip) :] - skip,
            files=files[np.searchsorted(files, row) :] - row,
        )

    def values_from(self, row: int) -> Floats:
        """Return the values from ``row`` on, without reading those before it. Raises Gone if stored values
        cannot be read."""
        (part, *others), first = self._trailing_parts(row)
        chunks = [part.values(row - first), *(other.values() for other in others)]
        return chunks[0] if not others else np.concatenate(chunks)  # type: ignore[return-value]

    def _trailing_parts(self, row: int) -> tuple[Sequence[ScalarPart], int]:
        """Return the trailing parts needed to include the row before `row`, and the row they start at."""
        first, used = self.count, len(self.parts)
        while first and first >= row:
            used -= 1
            first -= len(self.parts[used].steps)
        return self.parts[used:], first


class JoinedColumns:
    """Series of a store that hold joined columns, oldest first, bounded by bytes. Any thread uses it."""

    def __init__(self, limit: int = _MAX_JOINED) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._held: OrderedDict[int, tuple[weakref.ref[ScalarSeries], int]] = OrderedDict()
        self._size = 0

    def note(self, series: ScalarSeries, size: int) -> None:
        """Add a series with joined columns of ``size`` bytes, and release those of the oldest."""
        with self._lock:
            self._size += size - self._held.pop(id(series), (None, 0))[1]
            self._held[id(series)] = (weakref.ref(series), size)
            released = []
            while self._size > self._limit and len(self._held) > 1:
                _, (oldest, freed) = self._held.popitem(last=False)
                self._size -= freed
                released.append(oldest())
        for other in released:
            if other is not None:
                other.forget()


class ReferenceSeries:
    """One tag of one kind with payloads that stay in the event file."""

    def __init__(self, kind: Kind, tag: str, parts: Sequence[ReferencePart], version: int) -> None:
        """Create a series from at least one part, oldest file first."""
        self.kind = kind
        self.tag = tag
        self.version = version
        self.parts = tuple(parts)
        self._ends = tuple(accumulate(len(part.steps) for part in parts))
        self.count = self._ends[-1]

    @cached_property
    def steps(self) -> Ints:
        """Return the steps of all rows, [n]."""
        return _concatenated([part.steps for part in self.parts])

    @cached_property
    def walls(self) -> Doubles:
        """Return the wall times of all rows in Unix seconds, [n]."""
        return _concatenated([part.walls for part in self.parts])

    @cached_property
    def line_rows(self) -> Ints:
        """Return the indices of the rows of the line, by ascending step: a newer file replaces all steps from
        its first one on, and of a repeated step the last row counts."""
        rows = line_rows(self.steps, file_rows(self.parts))
        return np.arange(self.count) if rows is None else rows

    def nearest_row(self, step: int) -> int:
        """Return the row of the line with the step nearest to `step`. If two are equally near, it is the
        one with the larger step."""
        line = self.line_rows
        return int(line[len(line) - 1 - int(np.argmin(np.abs(self.steps[line][::-1] - step)))])

    def reference(self, row: int) -> Reference:
        """Return the position of the payload of ``row``. Raises IndexError for an invalid row."""
        part, inner = self._place(row)
        return Reference(part.path, int(part.offsets[inner]), int(part.sizes[inner]))

    @contextmanager
    def located(self, row: int) -> Iterator[Reference]:
        """Yield the position of the payload of ``row``, and check its file before and after the block. Raises
        Gone if the file was replaced or became too short, IndexError for an invalid row."""
        part, _ = self._place(row)
        reference, identity = self.reference(row), (part.device, part.inode)
        check_identity(reference, identity)
        try:
            yield reference
        finally:
            check_identity(reference, identity)

    def read(self, row: int) -> bytes:
        """Return the payload of ``row`` as our message. Raises Gone if its file was replaced or is missing,
        UnreadableError for more bytes than MAX_PAYLOAD, IndexError for an invalid row."""
        part, _ = self._place(row)
        payload = read_payload(self.reference(row), (part.device, part.inode))
        return payload if part.transcode is None else part.transcode(self.kind, payload)

    def is_plain(self, row: int) -> bool:
        """Return True if the payload of ``row`` is stored as our message, so that parts of it can be read.
        Raises IndexError for an invalid row."""
        return self._place(row)[0].transcode is None

    def _place(self, row: int) -> tuple[ReferencePart, int]:
        """Return the part of a row and the row in it. Raises IndexError."""
        if not 0 <= row < self.count:
            raise IndexError(f"row {row} of {self.count}")
        number = bisect_right(self._ends, row)
        return self.parts[number], row - (self._ends[number - 1] if number else 0)


def _last_row(part: ScalarPart) -> int:
    """Return the row of the largest step of the last session in a file, of several the last."""
    if len(part.starts) == 1:
        return len(part.steps) - 1
    newest = part.steps[int(part.sessions[-1]) if len(part.sessions) else 0 :]
    return len(part.steps) - 1 - int(np.argmax(newest[::-1]))


def _columns_of(parts: Sequence[ScalarPart]) -> Columns:
    """Return all rows of the parts."""
    if len(parts) == 1:
        part = parts[0]
        return Columns(part.steps, part.walls, part.values(), part.starts, file_rows(parts))
    return Columns(
        steps=np.concatenate([part.steps for part in parts]),
        walls=np.concatenate([part.walls for part in parts]),
        values=np.concatenate([part.values() for part in parts]),
        starts=segment_rows(parts),
        files=file_rows(parts),
    )


def _concatenated(columns: list[npt.NDArray[_Number]]) -> npt.NDArray[_Number]:
    """Join columns, without a copy for a single one."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
