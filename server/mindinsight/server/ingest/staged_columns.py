"""Staged columns of one file: scalars and references that grow while readers hold views of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.types import Doubles, Floats, Ints, ReferenceColumns, ScalarBlock, ScalarRows

_SMALLEST: Final = 16  # rows
_LARGE: Final = 65_536  # rows
_MUCH_SPARE: Final = 16  # one row of room for so many rows


class GrowingColumn:
    """One column of which only rows beyond the ones already seen are ever written.

    Room doubles while it is small and later grows by a quarter: a row is copied a few times at most, and
    a large column never has much more room than rows.
    """

    __slots__ = ("_data", "_view", "count")

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        """Take ``rows`` as they are; nobody else may write to them."""
        self._data = rows
        self._view: npt.NDArray[Any] | None = None
        self.count = len(rows)

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Add rows; the column becomes float64 when float64 rows come to a float32 one."""
        end = self.count + len(rows)
        dtype = np.promote_types(self._data.dtype, rows.dtype)
        if end > len(self._data) or dtype != self._data.dtype or not self._data.flags.writeable:
            spare = self.count if self.count < _LARGE else self.count // 4
            grown = np.empty(max(end, self.count + spare, _SMALLEST), dtype)
            grown[: self.count] = self._data[: self.count]
            self._data = grown
        self._data[self.count : end] = rows
        self._view = None
        self.count = end

    def view(self) -> npt.NDArray[Any]:
        """The rows so far; read-only, the same for ever, and the same object until rows are added."""
        if self._view is None:
            self._view = self._data if self.count == len(self._data) else self._data[: self.count]
            if self._view.flags.writeable:
                self._view = self._view.view()
                self._view.flags.writeable = False
        return self._view

    def trim(self) -> bool:
        """Give up spare room when there is much of it; whether the rows lie elsewhere now."""
        spare = len(self._data) - self.count
        if spare * _MUCH_SPARE < self.count:
            return False
        self._data = self._data[: self.count].copy()
        self._view = None
        return True

    def share(self, other: GrowingColumn) -> None:
        """Hold the rows of ``other``, which are equal, in one piece of memory with it.

        Whichever of the two gets more rows first moves away, as neither may write there.
        """
        self._data = other._data = other.view()
        self._view = other._view = None
        self.count = other.count

    def relocate(self, rows: npt.NDArray[Any]) -> None:
        """Hold ``rows``, which are equal and read-only, instead of its own."""
        self._data, self._view = rows, None

    def copy(self) -> GrowingColumn:
        """A column of its own with the same rows."""
        return GrowingColumn(self._data[: self.count].copy())


class Axis:
    """Step and wall time of rows that came together, and where the step went back or a session began.

    Sessions of a training in one file are numbered; ``session`` is that of the last row.
    """

    __slots__ = ("session", "session_rows", "starts", "steps", "walls")

    def __init__(
        self, steps: Ints, walls: Doubles, starts: Ints | None = None, sessions: Ints | None = None
    ) -> None:
        """``sessions`` [n] is the session of each row; None when there is but one."""
        self.steps = GrowingColumn(steps)
        self.walls = GrowingColumn(walls)
        self.starts = GrowingColumn(_starts(steps, None) if starts is None else starts)
        self.session = 0 if sessions is None else int(sessions[0])
        self.session_rows: list[int] = []
        self._note_sessions(0, sessions)

    def append(self, steps: Ints, walls: Doubles, sessions: Ints | None = None) -> None:
        """Add rows; there is at least one."""
        self._note_sessions(self.steps.count, sessions)
        starts = _starts(steps, int(self.steps.view()[-1]))
        if len(starts):
            self.starts.append(starts + self.steps.count)
        self.steps.append(steps)
        self.walls.append(walls)

    def copy(self) -> Axis:
        copied = Axis.__new__(Axis)
        copied.steps, copied.walls, copied.starts = self.steps.copy(), self.walls.copy(), self.starts.copy()
        copied.session, copied.session_rows = self.session, list(self.session_rows)
        return copied

    def _note_sessions(self, row: int, sessions: Ints | None) -> None:
        """Note the rows from ``row`` on at which another session begins."""
        if sessions is not None:
            before = np.concatenate([[self.session], sessions[:-1]])
            self.session_rows += (np.flatnonzero(sessions != before) + row).tolist()
            self.session = int(sessions[-1])


def _starts(steps: Ints, before: int | None) -> Ints:
    """Rows at which a segment starts, given the step of the row before the first, None when there is none."""
    back = np.flatnonzero(steps[1:] < steps[:-1]) + 1
    if before is None or steps[0] < before:
        return np.concatenate([np.zeros(1, np.int64), back])
    return back


_MOST_WAITING: Final = 1 << 19  # values
_SAMPLE: Final = 8  # rows by which columns that may be equal are found


class ScalarGroup:
    """Scalar tags that always came together: one axis, one column of values for each tag."""

    __slots__ = ("axis", "values")

    def __init__(self, axis: Axis, values: dict[str, Floats]) -> None:
        self.axis = axis
        self.values = {tag: GrowingColumn(column) for tag, column in values.items()}

    def append(
        self, steps: Ints, walls: Doubles, values: dict[str, Floats], sessions: Ints | None = None
    ) -> None:
        """Add rows for every tag of the group."""
        self.axis.append(steps, walls, sessions)
        for tag, column in values.items():
            self.values[tag].append(column)

    def split(self, tags: Iterable[str]) -> ScalarGroup:
        """Move ``tags`` into a group of their own: from now on they come without the others."""
        parted = ScalarGroup(self.axis.copy(), {})
        parted.values = {tag: self.values.pop(tag) for tag in tags}
        return parted


class ScalarTable:
    """The scalars of one file: tags share an axis as long as they come together.

    A tag that comes without the others parts from them, so there are at most as many groups as tags,
    however records are mixed or cut into stretches. What is added waits until somebody looks, or much does:
    a wide run has work for each of its tags, which is done for many stretches at once.
    """

    __slots__ = ("_count", "_groups", "_grown", "_waiting")

    def __init__(self) -> None:
        self._groups: dict[str, ScalarGroup] = {}
        self._waiting: list[ScalarBlock | ScalarRows] = []
        self._count = 0  # of values that wait
        self._grown: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._groups or self._waiting)

    @property
    def groups(self) -> dict[str, ScalarGroup]:
        """The group of each tag."""
        self.settle()
        return self._groups

    def take_grown(self) -> list[str]:
        """The tags that got rows since this was last asked."""
        self.settle()
        grown, self._grown = list(self._grown), {}
        return grown

    def fold(self, piece: ScalarBlock | ScalarRows, sessions: Ints | None = None) -> None:
        """Add rows, at least one; ``sessions`` [n] says which session of the training each is of."""
        if not len(piece.steps):
            return
        if sessions is not None:
            self.settle()
            for block in [piece] if isinstance(piece, ScalarBlock) else piece.split():
                self._add(block, sessions[: len(block.steps)])
                sessions = sessions[len(block.steps) :]
            return
        self._waiting.append(piece)
        self._count += piece.values.size
        if self._count >= _MOST_WAITING:
            self.settle()

    def settle(self) -> None:
        """Add what waits to the columns."""
        if not self._waiting:
            return
        waiting, self._waiting, self._count = self._waiting, [], 0
        alone = {tag for piece in waiting if isinstance(piece, ScalarRows) for tag in piece.tags}
        rows: list[ScalarRows] = []
        blocks: list[ScalarBlock] = []
        for piece in waiting:
            if isinstance(piece, ScalarRows):
                rows.append(piece)
            elif alone.isdisjoint(piece.tags):
                blocks.append(piece)
            else:
                rows.append(ScalarRows.of_block(piece))
        for block in _merged(blocks):
            self._add(block)
        for joined in ScalarRows.joined(rows) if rows else ():
            for block in _together(joined):
                self._add(block)

    def _add(self, block: ScalarBlock, sessions: Ints | None = None) -> None:
        self._grown.update(dict.fromkeys(block.tags))
        columns = dict(zip(block.tags, block.values, strict=True))
        for group, tags in self._groups_of(block.tags):
            values = {tag: columns[tag] for tag in tags}
            if group is None:
                self.put(ScalarGroup(Axis(block.steps, block.walls, None, sessions), values))
            elif len(tags) == len(group.values):
                group.append(block.steps, block.walls, values, sessions)
            else:
                parted = group.split(tags)
                parted.append(block.steps, block.walls, values, sessions)
                self.put(parted)

    def put(self, group: ScalarGroup) -> None:
        """Keep a group for its tags."""
        for tag in group.values:
            self._groups[tag] = group

    def compact(self, cold: ColdColumns | None = None) -> list[str]:
        """Hold equal steps, and equal wall times, of different groups once; the tags whose columns moved.

        With ``cold``, columns are moved there if they are large.
        """
        self.settle()
        moved = self._share()
        return list(self._groups) if cold is not None and self._move(cold) else moved

    def _share(self) -> list[str]:
        known: dict[tuple[float, ...], GrowingColumn] = {}
        moved: list[str] = []
        for group in {id(group): group for group in self._groups.values()}.values():
            columns = [group.axis.steps, group.axis.walls]
            trimmed = [column.trim() for column in (*columns, *group.values.values())]
            shared = [_shared(column, known) for column in columns]
            if any(trimmed) or any(shared):
                moved += group.values
        return moved

    def _move(self, cold: ColdColumns) -> bool:
        """Move all columns to ``cold``, those that share their memory once; whether that was done."""
        groups = {id(group): group for group in self._groups.values()}.values()
        columns = [
            column
            for group in groups
            for column in (group.axis.steps, group.axis.walls, *group.values.values())
        ]
        rows = {id(column.view()): column.view() for column in columns}
        moved = dict(zip(rows, cold.move(list(rows.values())), strict=True))
        if all(moved[key] is array for key, array in rows.items()):
            return False
        for column in columns:
            column.relocate(moved[id(column.view())])
        return True

    def _groups_of(self, tags: tuple[str, ...]) -> list[tuple[ScalarGroup | None, list[str]]]:
        """The groups the tags are in, each with its tags among these; None holds the new ones."""
        groups: dict[int, tuple[ScalarGroup | None, list[str]]] = {}
        for tag in tags:
            group = self._groups.get(tag)
            groups.setdefault(id(group), (group, []))[1].append(tag)
        return list(groups.values())


def _merged(blocks: Iterable[ScalarBlock]) -> Iterator[ScalarBlock]:
    """Blocks of the same tags as one, unless one of these tags came in another block in between."""
    together: dict[tuple[str, ...], list[ScalarBlock]] = {}
    tags: set[str] = set()
    for block in blocks:
        known = together.get(block.tags)
        if known is not None:
            known.append(block)
            continue
        if not tags.isdisjoint(block.tags):
            yield from map(_concatenated, together.values())
            together, tags = {}, set()
        tags.update(block.tags)
        together[block.tags] = [block]
    yield from map(_concatenated, together.values())


def _concatenated(blocks: list[ScalarBlock]) -> ScalarBlock:
    if len(blocks) == 1:
        return blocks[0]
    with np.errstate(invalid="ignore"):  # NaN of the signalling kind, float32 beside float64
        values = np.concatenate([block.values for block in blocks], axis=1)
    offsets, steps, walls = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("offsets", "steps", "walls")
    )
    return ScalarBlock(blocks[0].tags, offsets, steps, walls, values)


def _together(rows: ScalarRows) -> Iterator[ScalarBlock]:
    """The rows as blocks of tags with equal steps and wall times, copied, as they may be held alone."""
    count = int(rows.counts[0])
    if (rows.counts == count).all():
        steps, walls = (column.reshape(-1, count) for column in (rows.steps, rows.walls.view(np.int64)))
        if (steps == steps[0]).all() and (walls == walls[0]).all():
            shared = (rows.offsets[:count], rows.steps[:count].copy(), rows.walls[:count].copy())
            yield ScalarBlock(rows.tags, *shared, rows.values.reshape(-1, count))
            return
    ends = np.cumsum(rows.counts).tolist()
    alike: dict[tuple[bytes, bytes], list[int]] = {}
    for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
        key = (rows.steps[begin:end].tobytes(), rows.walls[begin:end].tobytes())
        alike.setdefault(key, []).append(number)
    for numbers in alike.values():
        spans = [slice(ends[number] - int(rows.counts[number]), ends[number]) for number in numbers]
        values = cast("Floats", np.stack([rows.values[span] for span in spans]))
        tags = tuple(rows.tags[number] for number in numbers)
        first = spans[0]
        axis = (rows.offsets[first], rows.steps[first].copy(), rows.walls[first].copy())
        yield ScalarBlock(tags, *axis, values)


def _shared(column: GrowingColumn, known: dict[tuple[float, ...], GrowingColumn]) -> bool:
    """Share the memory of a ``known`` column with equal rows; whether there is one."""
    rows = column.view()
    sample = rows[:: max(len(rows) // _SAMPLE, 1)].tolist()
    other = known.setdefault((rows.dtype.num, len(rows), *sample), column)
    if other is column or other.view() is rows or not np.array_equal(other.view(), rows):
        return False
    column.share(other)
    return True


class ReferenceGroup:
    """One tag of one kind: an axis, and where each payload lies."""

    __slots__ = ("axis", "offsets", "sizes")

    def __init__(self, axis: Axis, offsets: Ints, sizes: Ints) -> None:
        self.axis = axis
        self.offsets = GrowingColumn(offsets)
        self.sizes = GrowingColumn(sizes)

    def append(self, columns: ReferenceColumns, sessions: Ints | None = None) -> None:
        self.axis.append(columns.steps, columns.walls, sessions)
        self.offsets.append(columns.offsets)
        self.sizes.append(columns.sizes)
