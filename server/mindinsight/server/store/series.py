"""Series: one tag of one run in columns, immutable, in file order, oldest file first."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from mindinsight.server.store.line import Line, line_rows, overwritten_stretches
from mindinsight.server.store.parts import ReferencePart, ScalarPart, file_rows, segment_rows
from mindinsight.server.store.payloads import make_sure, read_payload
from mindinsight.server.types import Doubles, Floats, Ints, Kind, Reference

_Number = TypeVar("_Number", np.int64, np.float64)


def _zero() -> Ints:
    return np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Columns:
    """Every recorded row of a scalar series, in file order."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    starts: Ints  # [s] row at which each segment starts, where steps go back; the first is 0
    files: Ints = field(default_factory=_zero)  # [f] row at which each file's rows start; the first is 0


@dataclass(frozen=True, slots=True)
class Recorded:
    """Every recorded row of a scalar series, in file order, and whether a later one took its place."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    overwritten: npt.NDArray[np.bool_]  # [n] whether the row is not part of the line


class ScalarSeries:
    """One scalar tag of one run. What is shown and counted is its ``line``; ``store.line`` has the rule.

    ``version`` is that of the snapshot in which the series last changed. ``generation`` changes when
    rows below ``count`` changed (a file was replaced, or an older file grew): a cursor into the rows
    stays good as long as it does not.
    """

    def __init__(self, tag: str, parts: Sequence[ScalarPart], version: int, generation: int = 0) -> None:
        """``parts`` holds at least one part, oldest file first."""
        self.tag = tag
        self.parts = tuple(parts)
        self.version = version
        self.generation = generation
        self.count = len(parts[0].steps) if len(parts) == 1 else sum([len(part.steps) for part in parts])
        self._columns: Columns | None = None
        self._line: tuple[Line, Ints | None] | None = None  # and its rows, None for all

    @cached_property
    def _last_row(self) -> int:
        """Row in the newest file of the last point of the line: that file overwrites what is above it."""
        last = self.parts[-1]
        if len(last.starts) == 1:
            return -1
        newest = last.steps[int(last.sessions[-1]) if len(last.sessions) else 0 :]
        return len(last.steps) - 1 - int(np.argmax(newest[::-1]))

    @property
    def last_step(self) -> int:
        return int(self.parts[-1].steps[self._last_row])

    @property
    def last_wall(self) -> float:
        return float(self.parts[-1].walls[self._last_row])

    @property
    def last_value(self) -> float:
        return float(self.parts[-1].values[self._last_row])

    def columns(self) -> Columns:
        """Every row; no copy when one file holds them all, else concatenated once."""
        if self._columns is None:
            self._columns = _columns_of(self.parts)
        return self._columns

    def line(self) -> Line:
        """The points that count: steps in order, for each step the value written last."""
        return self._line_and_rows()[0]

    def overwritten(self) -> list[Line]:
        """The stretches of which the line does not hold the values: oldest first, each ascending."""
        rows = self._line_and_rows()[1]
        if rows is None:
            return []
        columns = self.columns()
        whole = Line(columns.steps, columns.walls, columns.values)
        return [whole.rows(stretch) for stretch in overwritten_stretches(columns.steps, columns.starts, rows)]

    def recorded(self) -> Recorded:
        """Every row, in file order."""
        columns, rows = self.columns(), self._line_and_rows()[1]
        lost = np.full(self.count, rows is not None)
        lost[rows if rows is not None else slice(0)] = False
        return Recorded(columns.steps, columns.walls, columns.values, lost)

    def _line_and_rows(self) -> tuple[Line, Ints | None]:
        if self._line is None:
            columns = self.columns()
            rows = line_rows(columns.steps, columns.files)
            whole = Line(columns.steps, columns.walls, columns.values)
            self._line = (whole if rows is None else whole.rows(rows), rows)
        return self._line

    def tail(self, row: int) -> Columns:
        """The rows from ``row`` on, without touching the files before it.

        ``starts`` and ``files`` count from ``row``; their first is 0 only when a segment, or a file,
        really begins there.
        """
        columns, first = self._from_before(row)
        skip = row - first
        return Columns(
            steps=columns.steps[skip:],
            walls=columns.walls[skip:],
            values=columns.values[skip:],
            starts=columns.starts[np.searchsorted(columns.starts, skip) :] - skip,
            files=columns.files[np.searchsorted(columns.files, skip) :] - skip,
        )

    def _from_before(self, row: int) -> tuple[Columns, int]:
        """Columns of the last parts, as few as hold the row before ``row``; and the row they start at."""
        if self._columns is not None:
            return self._columns, 0
        first, used = self.count, len(self.parts)
        while first and first >= row:
            used -= 1
            first -= len(self.parts[used].steps)
        return _columns_of(self.parts[used:]), first


class ReferenceSeries:
    """One tag of one kind whose payloads stay in the event file."""

    def __init__(self, kind: Kind, tag: str, parts: Sequence[ReferencePart], version: int) -> None:
        """``parts`` holds at least one part, oldest file first."""
        self.kind = kind
        self.tag = tag
        self.version = version
        self.parts = tuple(parts)
        self._ends = tuple(accumulate(len(part.steps) for part in parts))
        self.count = self._ends[-1]

    @cached_property
    def steps(self) -> Ints:
        return _concatenated([part.steps for part in self.parts])

    @cached_property
    def walls(self) -> Doubles:
        return _concatenated([part.walls for part in self.parts])

    @cached_property
    def line_rows(self) -> Ints:
        """Rows of the line in the order of their steps; ``store.line`` has the rule."""
        rows = line_rows(self.steps, file_rows(self.parts))
        return np.arange(self.count) if rows is None else rows

    def reference(self, row: int) -> Reference:
        """Where the payload of ``row`` lies; raises IndexError when there is no such row."""
        part, inner = self._place(row)
        return Reference(part.path, int(part.offsets[inner]), int(part.sizes[inner]))

    @contextmanager
    def located(self, row: int) -> Iterator[Reference]:
        """Where the payload of ``row`` lies, for reading parts of it in the block.

        Raises ``Gone`` when the file is not the one it was found in, before, or after.
        """
        part, _ = self._place(row)
        reference, identity = self.reference(row), (part.device, part.inode)
        make_sure(reference, identity)
        try:
            yield reference
        finally:
            make_sure(reference, identity)

    def read(self, row: int) -> bytes:
        """The payload's bytes; raises ``Gone`` when the file they were found in is no longer there."""
        part, _ = self._place(row)
        payload = read_payload(self.reference(row), (part.device, part.inode))
        return payload if part.transcode is None else part.transcode(self.kind, payload)

    def is_plain(self, row: int) -> bool:
        """Whether the payload lies in the file as our message, so that parts of it can be read there."""
        return self._place(row)[0].transcode is None

    def _place(self, row: int) -> tuple[ReferencePart, int]:
        if not 0 <= row < self.count:
            raise IndexError(f"row {row} of {self.count}")
        number = bisect_right(self._ends, row)
        return self.parts[number], row - (self._ends[number - 1] if number else 0)


def _columns_of(parts: Sequence[ScalarPart]) -> Columns:
    if len(parts) == 1:
        part = parts[0]
        return Columns(part.steps, part.walls, part.values, part.starts, file_rows(parts))
    return Columns(
        steps=np.concatenate([part.steps for part in parts]),
        walls=np.concatenate([part.walls for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        starts=segment_rows(parts),
        files=file_rows(parts),
    )


def _concatenated(columns: list[npt.NDArray[_Number]]) -> npt.NDArray[_Number]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
