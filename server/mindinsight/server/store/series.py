"""One tag of one run in columns, as readers see it: whole, immutable, in file order, oldest file first."""

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

from mindinsight.server.store.parts import ReferencePart, ScalarPart, file_rows, segment_rows
from mindinsight.server.store.payloads import make_sure, read_payload
from mindinsight.server.types import Doubles, Floats, Ints, Kind, Reference

_Number = TypeVar("_Number", np.int64, np.float64)


def _zero() -> Ints:
    return np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Columns:
    """One scalar series, whole, in file order."""

    steps: Ints  # [n]
    walls: Doubles  # [n] Unix seconds
    values: Floats  # [n]
    starts: Ints  # [s] row at which each segment starts; the first is 0. No line joins two segments
    files: Ints = field(default_factory=_zero)  # [f] row at which each file's rows start; the first is 0


class ScalarSeries:
    """One scalar tag of one run.

    ``version`` is that of the snapshot in which the series last changed. ``generation`` changes when
    rows below ``count`` changed (a file was replaced, or an older file grew): a cursor into the rows
    stays good as long as it does not.
    """

    def __init__(self, tag: str, parts: Sequence[ScalarPart], version: int, generation: int = 0) -> None:
        """``parts`` holds at least one part, oldest file first."""
        last = parts[-1]
        self.tag = tag
        self.parts = tuple(parts)
        self.version = version
        self.generation = generation
        self.count = sum([len(part.steps) for part in parts])
        self.last_step: int = last.steps.item(-1)
        self.last_wall: float = last.walls.item(-1)
        self.last_value: float = last.values.item(-1)
        self._columns: Columns | None = None

    def columns(self) -> Columns:
        """Every row; no copy when one file holds them all, else concatenated once."""
        if self._columns is None:
            self._columns = _columns_of(self.parts)
        return self._columns

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
    def starts(self) -> Ints:
        return segment_rows(self.parts)

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
        return read_payload(self.reference(row), (part.device, part.inode))

    def _place(self, row: int) -> tuple[ReferencePart, int]:
        if not 0 <= row < self.count:
            raise IndexError(f"row {row} of {self.count}")
        number = bisect_right(self._ends, row)
        return self.parts[number], row - (self._ends[number - 1] if number else 0)


def merged(columns: Columns) -> Columns:
    """One line with increasing steps, the way a resumed training is meant.

    Of equal steps the later row wins. Where a newer file begins, the older files' rows from that
    step on give way to it; within one file, a step that goes back takes its place in the order.
    """
    steps = columns.steps
    if bool(np.all(steps[1:] > steps[:-1])):
        return Columns(steps, columns.walls, columns.values, _zero())
    kept = np.flatnonzero(_not_replaced(columns))
    order = kept[np.argsort(steps[kept], kind="stable")]
    ordered = steps[order]
    rows = order[np.append(ordered[1:] != ordered[:-1], True)]
    return Columns(steps[rows], columns.walls[rows], columns.values[rows], _zero())


def _not_replaced(columns: Columns) -> npt.NDArray[np.bool_]:
    """[n] whether a row lies below the first step of every newer file."""
    kept = np.ones(len(columns.steps), dtype=np.bool_)
    firsts = columns.files
    bound = columns.steps[firsts[-1] :].min()
    for first, end in zip(firsts[-2::-1], firsts[:0:-1], strict=True):
        steps = columns.steps[first:end]
        kept[first:end] = steps < bound
        bound = min(bound, steps.min())
    return kept


def _columns_of(parts: Sequence[ScalarPart]) -> Columns:
    if len(parts) == 1:
        part = parts[0]
        return Columns(part.steps, part.walls, part.values, part.starts)
    return Columns(
        steps=np.concatenate([part.steps for part in parts]),
        walls=np.concatenate([part.walls for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        starts=segment_rows(parts),
        files=file_rows(parts),
    )


def _concatenated(columns: list[npt.NDArray[_Number]]) -> npt.NDArray[_Number]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
