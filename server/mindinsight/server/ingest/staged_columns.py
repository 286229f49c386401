"""Staged columns of one file: scalars and references that grow while readers hold views of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from mindinsight.server.ingest.cold_columns import ColdColumns, TagValues, ValueFile, ValueSection
from mindinsight.server.types import Doubles, Floats, Ints, ReferenceColumns, ScalarBlock, ScalarRows

_MIN_ROWS: Final = 16  # rows of the first buffer
_LARGE_COLUMN: Final = 65_536  # numbers; larger buffers grow by a quarter instead of doubling
_SPARE_RATIO: Final = 16  # spare rows are kept up to one in 16


class GrowingColumn:
    """Column to which rows are appended.

    Rows that readers have seen are never written again.

    The buffer doubles while it is small and later grows by a quarter. A row is copied a few times at most,
    and a large column has little unused memory.
    """

    __slots__ = ("_data", "_view", "count")

    def __init__(self, rows: npt.NDArray[Any]) -> None:
        """Create a column that owns ``rows``. The caller must not write to them."""
        self._data = rows
        self._view: npt.NDArray[Any] | None = None
        self.count = len(rows)

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Append rows. A float32 column becomes float64 when float64 rows are appended."""
        end = self.count + len(rows)
        dtype = np.promote_types(self._data.dtype, rows.dtype)
        if end > len(self._data) or dtype != self._data.dtype or not self._data.flags.writeable:
            spare = self.count if self.count < _LARGE_COLUMN else self.count // 4
            grown = np.empty(max(end, self.count + spare, _MIN_ROWS), dtype)
            grown[: self.count] = self._data[: self.count]
            self._data = grown
        self._data[self.count : end] = rows
        self._view = None
        self.count = end

    def view(self) -> npt.NDArray[Any]:
        """Return an immutable view of all rows. The same object is returned until rows are appended."""
        if self._view is None:
            self._view = self._data if self.count == len(self._data) else self._data[: self.count]
            if self._view.flags.writeable:
                self._view = self._view.view()
                self._view.flags.writeable = False
        return self._view

    def trim(self) -> bool:
        """Shrink the buffer if much of it is unused, and return True if the rows moved to a new buffer."""
        spare = len(self._data) - self.count
        if spare * _SPARE_RATIO < self.count:
            return False
        self._data = self._data[: self.count].copy()
        self._view = None
        return True

    def share(self, other: GrowingColumn) -> None:
        """Share the memory of ``other``, which has equal rows. The first of both that gets more rows is
        copied, because neither may write to shared memory."""
        self._data = other._data = other.view()
        self._view = other._view = None
        self.count = other.count

    def relocate(self, rows: npt.NDArray[Any]) -> None:
        """Replace the buffer by ``rows``, a read-only array equal to the rows of the column."""
        self._data, self._view = rows, None

    def copy(self) -> GrowingColumn:
        """Return an independent column with the same rows."""
        return GrowingColumn(self._data[: self.count].copy())


class Axis:
    """Steps and wall times of rows recorded together, and the rows at which steps go back or sessions begin.

    Sessions of a training in one file are numbered. ``session`` is the session of the last row.
    """

    __slots__ = ("session", "session_rows", "starts", "steps", "walls")

    def __init__(
        self, steps: Ints, walls: Doubles, starts: Ints | None = None, sessions: Ints | None = None
    ) -> None:
        """Create an axis. ``sessions`` [n] is the session of each row, None if there is only one."""
        self.steps = GrowingColumn(steps)
        self.walls = GrowingColumn(walls)
        self.starts = GrowingColumn(_find_starts(steps, None) if starts is None else starts)
        self.session = 0 if sessions is None else int(sessions[0])
        self.session_rows: list[int] = []
        self._note_sessions(0, sessions)

    def append(self, steps: Ints, walls: Doubles, sessions: Ints | None = None) -> None:
        """Append rows, at least one. ``sessions`` [n] is the number of the session of each row, None if
        all rows are of one session."""
        self._note_sessions(self.steps.count, sessions)
        starts = _find_starts(steps, int(self.steps.view()[-1]))
        if len(starts):
            self.starts.append(starts + self.steps.count)
        self.steps.append(steps)
        self.walls.append(walls)

    def copy(self) -> Axis:
        """Return an independent axis with the same rows."""
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


def _find_starts(steps: Ints, before: int | None) -> Ints:
    """Return the rows at which a segment starts. ``before`` is the step of the row before the first, or
    None."""
    back = np.flatnonzero(steps[1:] < steps[:-1]) + 1
    if before is None or steps[0] < before:
        return np.concatenate([np.zeros(1, np.int64), back])
    return back


_MAX_WAITING: Final = 1 << 19  # values that wait before they are added to columns
_SAMPLE: Final = 8  # rows that decide which columns are compared


class ScalarGroup:
    """Scalar tags that were always recorded together: one axis, and one matrix with a row for each tag.

    The first values may be in ``sections`` on disk. The others, at least the last one, are in the matrix.
    """

    __slots__ = ("_count", "_matrix", "_view", "axis", "sections", "tags")

    def __init__(
        self,
        axis: Axis,
        tags: Iterable[str],
        values: Floats,
        sections: tuple[ValueSection, ...] = (),
    ) -> None:
        """Create a group that owns ``values`` [k, n]. The caller must not write to them."""
        self.axis = axis
        self.tags = {tag: row for row, tag in enumerate(tags)}  # row of each tag in the matrix
        self.sections = sections
        self._matrix = values  # [k, n or more]
        self._count = values.shape[1]
        self._view: Floats | None = None

    @property
    def values(self) -> Floats:
        """Return an immutable view of the values in memory, [k, n]. Rows that belong to no tag are
        meaningless."""
        if self._view is None:
            self._view = self._matrix[:, : self._count]
            self._view.flags.writeable = False
        return self._view

    @property
    def own_size(self) -> int:
        """Return the number of values in memory."""
        size: int = len(self.tags) * self._count
        return size

    @property
    def own_values(self) -> Floats:
        """Return the values in memory in the order of the tags, [k, n]."""
        rows = list(self.tags.values())
        return self.values if len(rows) == len(self._matrix) else self.values[rows]

    def append(self, steps: Ints, walls: Doubles, values: Floats, sessions: Ints | None = None) -> None:
        """Append rows, at least one. ``values`` [k, n] are in the order of the tags. ``sessions`` [n] is
        the number of the session of each row, None if all rows are of one session."""
        self.axis.append(steps, walls, sessions)
        end, capacity = self._count + values.shape[1], self._matrix.shape[1]
        dtype = np.promote_types(self._matrix.dtype, values.dtype)
        if end > capacity or dtype != self._matrix.dtype or len(self.tags) < len(self._matrix):
            spare = self._count if self._matrix.size < _LARGE_COLUMN else self._count // 4
            grown = np.empty((len(self.tags), max(end, self._count + spare, _MIN_ROWS)), dtype)
            with np.errstate(invalid="ignore"):  # signalling NaN when float32 becomes float64
                grown[:, : self._count] = self.own_values
            self._relocate(grown)
        with np.errstate(invalid="ignore"):
            self._matrix[:, self._count : end] = values
        self._count, self._view = end, None

    def split(self, tags: Sequence[str]) -> ScalarGroup:
        """Split `tags` into a new group, because later events record them without the others, and
        return it."""
        values = self.values[[self.tags.pop(tag) for tag in tags]]
        return ScalarGroup(self.axis.copy(), tags, values, self.sections)

    def trim(self) -> bool:
        """Shrink the matrix if much of it is unused, and return True if the values were moved."""
        if (self._matrix.shape[1] - self._count) * _SPARE_RATIO < self._count:
            return False
        self._relocate(self.own_values.copy())
        return True

    def relocate(self, values: npt.NDArray[Any]) -> None:
        """Replace the matrix by equal and read-only ``values``, tag by tag in their order."""
        self._relocate(values.reshape(len(self.tags), -1))

    def store(self, cold: ColdColumns, file: ValueFile | None) -> ValueFile | None:
        """Move all values except the last of each tag to a file, and return the file, or None if they stay
        in memory. Without ``file`` it is a new one."""
        values = self.own_values
        known = self.sections[-1].tags if self.sections else {}
        tags = known if list(known) == list(self.tags) else {tag: row for row, tag in enumerate(self.tags)}
        section = cold.store(tags, values[:, :-1], file)
        if section is None:
            return None
        self.sections = (*self.sections, section)
        self._count = 1
        self._relocate(values[:, -1:].copy())
        return section.file

    def stored(self, tag: str) -> TagValues | None:
        """Return the values of a tag on disk, or None without any."""
        count = self.axis.steps.count - self._count
        return TagValues(self.sections, tag, count) if count else None

    def _relocate(self, matrix: Floats) -> None:
        """Replace the matrix by one with the rows of the tags in their order."""
        if len(self.tags) < len(self._matrix):
            self.tags = {tag: row for row, tag in enumerate(self.tags)}
        self._matrix, self._view = matrix, None


class ScalarTable:
    """Scalars of one file.

    Tags share an axis as long as they are recorded together.

    A tag that is recorded without the others gets a group of its own, so there are at most as many groups as
    tags, however records are mixed or split into sections. Added rows wait until a reader asks, or until
    there are many: a wide run has work for each of its tags, which is done for many sections at once.
    """

    __slots__ = ("_count", "_file", "_groups", "_grown", "_waiting", "in_memory")

    def __init__(self) -> None:
        self.in_memory = 0  # values in the groups that are not on disk
        self._file: ValueFile | None = None  # to which values are written
        self._groups: dict[str, ScalarGroup] = {}
        self._waiting: list[ScalarBlock | ScalarRows] = []
        self._count = 0  # waiting values
        self._grown: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._groups or self._waiting)

    @property
    def groups(self) -> dict[str, ScalarGroup]:
        """Return the group of each tag."""
        self.settle()
        return self._groups

    def take_grown(self) -> list[str]:
        """Return the tags that got rows since the last call, and reset the list."""
        self.settle()
        grown, self._grown = list(self._grown), {}
        return grown

    def fold(self, piece: ScalarBlock | ScalarRows, sessions: Ints | None = None) -> None:
        """Add rows of scalars, which may be queued until `settle`. ``sessions`` [n] is the number of the
        session of each row, None if all rows are of one session. Nothing happens without rows."""
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
        if self._count >= _MAX_WAITING:
            self.settle()

    def settle(self) -> None:
        """Add the waiting rows to the columns."""
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
        for block in _merge_blocks(blocks):
            self._add(block)
        for joined in ScalarRows.joined(rows) if rows else ():
            for block in _blocks_of_equal_axes(joined):
                self._add(block)

    def _add(self, block: ScalarBlock, sessions: Ints | None = None) -> None:
        """Append the rows of a block to the groups of its tags."""
        self._grown.update(dict.fromkeys(block.tags))
        self.in_memory += block.values.size
        rows = {tag: row for row, tag in enumerate(block.tags)}
        for group, tags in self._groups_of(block.tags):
            if group is None:
                axis = Axis(block.steps, block.walls, None, sessions)
                self._set_group(ScalarGroup(axis, tags, _rows_of(block.values, rows, tags)))
                continue
            if len(tags) < len(group.tags):
                group = group.split(tags)  # noqa: PLW2901
                self._set_group(group)
            values = _rows_of(block.values, rows, list(group.tags))
            group.append(block.steps, block.walls, values, sessions)

    def put(self, group: ScalarGroup) -> None:
        """Add a group from the cache, as the group of all its tags."""
        self.in_memory += group.own_size
        self._set_group(group)

    def _set_group(self, group: ScalarGroup) -> None:
        """Set the group of its tags."""
        self._groups.update(dict.fromkeys(group.tags, group))

    def files(self) -> set[ValueFile]:
        """Return the files on disk with values of these scalars."""
        return {section.file for group in self._by_id() for section in group.sections}

    def store(self, cold: ColdColumns, smallest: int) -> list[str]:
        """Move the values of groups with at least ``smallest`` values in memory to disk, and return the
        tags. The last value of each stays in memory."""
        self.settle()
        moved: list[str] = []
        for group in self._by_id():
            size = group.own_size
            if size < max(smallest, 2 * len(group.tags)):
                continue
            file = group.store(cold, self._file)
            if file is None:
                break
            self._file = file
            self.in_memory += group.own_size - size
            moved += group.tags
        return moved

    def _by_id(self) -> Iterable[ScalarGroup]:
        """Return every group of scalars, each once."""
        return {id(group): group for group in self._groups.values()}.values()

    def compact(self, cold: ColdColumns | None = None) -> list[str]:
        """Store equal steps, and equal wall times, of different groups once, and return the tags that
        moved. With ``cold``, large columns are moved there."""
        self.settle()
        moved = self._share()
        return list(self._groups) if cold is not None and self._move(cold) else moved

    def _share(self) -> list[str]:
        """Share the memory of equal columns of steps or times, and return the tags whose columns moved in
        memory."""
        known: dict[tuple[float, ...], GrowingColumn] = {}
        moved: list[str] = []
        for group in self._by_id():
            columns = [group.axis.steps, group.axis.walls]
            trimmed = [group.trim(), *(column.trim() for column in columns)]
            shared = [_share_equal(column, known) for column in columns]
            if any(trimmed) or any(shared):
                moved += group.tags
        return moved

    def _move(self, cold: ColdColumns) -> bool:
        """Move all columns to ``cold``, shared memory once, and return True if they moved."""
        groups = self._by_id()
        columns = [column for group in groups for column in (group.axis.steps, group.axis.walls)]
        rows = {id(column.view()): column.view() for column in columns}
        matrices = [group.own_values.reshape(-1) for group in groups]
        arrays = [*rows.values(), *matrices]
        moved = cold.move(arrays)
        if all(new is old for new, old in zip(moved, arrays, strict=True)):
            return False
        moved_rows = dict(zip(rows, moved, strict=False))
        for column in columns:
            column.relocate(moved_rows[id(column.view())])
        for group, matrix in zip(groups, moved[len(rows) :], strict=True):
            group.relocate(matrix)
        return True

    def _groups_of(self, tags: tuple[str, ...]) -> list[tuple[ScalarGroup | None, list[str]]]:
        """Return the groups of the tags, each with its tags. New tags have the group None."""
        groups: dict[int, tuple[ScalarGroup | None, list[str]]] = {}
        for tag in tags:
            group = self._groups.get(tag)
            groups.setdefault(id(group), (group, []))[1].append(tag)
        return list(groups.values())


def _rows_of(values: Floats, rows: dict[str, int], tags: list[str]) -> Floats:
    """Return the rows of the tags, without a copy if they are all rows in their order."""
    return values if list(rows) == tags else values[[rows[tag] for tag in tags]]


def _merge_blocks(blocks: Iterable[ScalarBlock]) -> Iterator[ScalarBlock]:
    """Yield the blocks of the same tags joined, unless another block with one of the tags comes between."""
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
    """Return one block with the rows of all blocks."""
    if len(blocks) == 1:
        return blocks[0]
    with np.errstate(invalid="ignore"):  # signalling NaN when float32 is joined with float64
        values = np.concatenate([block.values for block in blocks], axis=1)
    offsets, steps, walls = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("offsets", "steps", "walls")
    )
    return ScalarBlock(blocks[0].tags, offsets, steps, walls, values)


def _blocks_of_equal_axes(rows: ScalarRows) -> Iterator[ScalarBlock]:
    """Yield the rows as blocks of tags with equal steps and wall times. Rows are copied, because a block
    may outlive the others."""
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


def _share_equal(column: GrowingColumn, known: dict[tuple[float, ...], GrowingColumn]) -> bool:
    """Share the memory of a ``known`` column with equal rows, and return True if there is such a column."""
    rows = column.view()
    sample = rows[:: max(len(rows) // _SAMPLE, 1)].tolist()
    other = known.setdefault((rows.dtype.num, len(rows), *sample), column)
    if other is column or other.view() is rows or not np.array_equal(other.view(), rows):
        return False
    column.share(other)
    return True


class ReferenceGroup:
    """Payload references of one tag of one kind: an axis, and offset and size of each payload."""

    __slots__ = ("axis", "offsets", "sizes")

    def __init__(self, axis: Axis, offsets: Ints, sizes: Ints) -> None:
        self.axis = axis
        self.offsets = GrowingColumn(offsets)
        self.sizes = GrowingColumn(sizes)

    def append(self, columns: ReferenceColumns, sessions: Ints | None = None) -> None:
        """Append the rows of ``columns``, at least one. ``sessions`` [n] is the number of the session of
        each row, None if all rows are of one session."""
        self.axis.append(columns.steps, columns.walls, sessions)
        self.offsets.append(columns.offsets)
        self.sizes.append(columns.sizes)
