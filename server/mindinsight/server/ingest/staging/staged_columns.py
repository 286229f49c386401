"""Scalars and references of one file, in columns that share what they have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.staging.growing_column import Axis, GrowingColumn
from mindinsight.server.types import Doubles, Floats, Ints, ReferenceColumns, ScalarBlock

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
    however records are mixed or cut into stretches.
    """

    __slots__ = ("groups",)

    def __init__(self) -> None:
        self.groups: dict[str, ScalarGroup] = {}

    def fold(self, block: ScalarBlock, sessions: Ints | None = None) -> None:
        """Add the rows of one block; ``sessions`` [n] says which session of the training each is of."""
        if not len(block.steps):
            return
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
            self.groups[tag] = group

    def compact(self, cold: ColdColumns | None = None) -> list[str]:
        """Hold equal steps, and equal wall times, of different groups once; the tags whose columns moved.

        With ``cold``, columns are moved there if they are large.
        """
        moved = self._share()
        return list(self.groups) if cold is not None and self._move(cold) else moved

    def _share(self) -> list[str]:
        known: dict[tuple[float, ...], GrowingColumn] = {}
        moved: list[str] = []
        for group in {id(group): group for group in self.groups.values()}.values():
            columns = [group.axis.steps, group.axis.walls]
            trimmed = [column.trim() for column in (*columns, *group.values.values())]
            shared = [_shared(column, known) for column in columns]
            if any(trimmed) or any(shared):
                moved += group.values
        return moved

    def _move(self, cold: ColdColumns) -> bool:
        """Move all columns to ``cold``, those that share their memory once; whether that was done."""
        groups = {id(group): group for group in self.groups.values()}.values()
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
            group = self.groups.get(tag)
            groups.setdefault(id(group), (group, []))[1].append(tag)
        return list(groups.values())


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
