"""Parser for slice expressions such as `[0, 1:3, :]`, with one entry for each dimension of a tensor."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

Index: TypeAlias = "tuple[int | slice, ...]"

_ENTRY: Final = re.compile(r"\s*(?:(-?\d+)|(-?\d*)\s*:\s*(-?\d*)\s*(?::\s*(-?\d*))?)\s*\Z")
_LONGEST: Final = 1000  # characters: NumPy's 64 dimensions need less
MOST_SLICES: Final = 2  # a table has rows and columns


@dataclass(frozen=True)
class Table:
    """Two-dimensional view of an array of `shape` under `index`. A single remaining axis is one column."""

    shape: tuple[int, ...]
    index: Index

    @property
    def rows(self) -> int:
        """Return the number of rows, 1 if the index has no slice."""
        return len(self._positions(0))

    @property
    def columns(self) -> int:
        """Return the number of columns, 1 if the index has fewer than two slices."""
        return len(self._positions(1))

    @property
    def whole(self) -> bool:
        """Return True if the table contains the whole array in its order."""
        return all(
            isinstance(entry, slice) and _selected(size, entry) == range(size)
            for entry, size in zip(self.index, self.shape, strict=True)
        )

    def window(self, rows: slice, columns: slice = slice(None)) -> Index:
        """Return the index in the array of some rows and columns of the table."""
        index = list(self.index)
        for axis, part in zip(self._axes, (rows, columns), strict=False):
            index[axis] = _as_slice(_selected(self.shape[axis], self.index[axis])[part])
        return tuple(index)

    def blocks(self, most: int) -> Iterator[Index]:
        """Iterate over indices of blocks of at most `most` elements that cover the table, row by row."""
        width = max(1, min(self.columns, most))
        height = max(1, most // width)
        for top in range(0, self.rows, height):
            for left in range(0, self.columns, width):
                yield self.window(slice(top, top + height), slice(left, left + width))

    def shape_of(self, index: Index) -> tuple[int, int]:
        """Return the number of rows and columns of the window that an index selects."""
        sizes = [len(_selected(self.shape[axis], index[axis])) for axis in self._axes]
        return (sizes[0] if sizes else 1), (sizes[1] if len(sizes) > 1 else 1)

    @property
    def _axes(self) -> list[int]:
        return [axis for axis, entry in enumerate(self.index) if isinstance(entry, slice)]

    def _positions(self, number: int) -> range:
        axes = self._axes
        if number >= len(axes):
            return range(1)
        return _selected(self.shape[axes[number]], self.index[axes[number]])


def _selected(size: int, entry: int | slice) -> range:
    """Return the positions that a slice selects on an axis of `size`."""
    assert isinstance(entry, slice)
    return range(size)[entry]


def _as_slice(positions: range) -> slice:
    if not positions:
        return slice(0, 0)
    return slice(positions.start, positions.stop if positions.stop >= 0 else None, positions.step)


def parse_slice(text: str, shape: tuple[int, ...]) -> Index:
    """Return the index that `text`, such as `[0, 1:3]`, selects in an array of `shape`: an int or a slice for
    each dimension. Raises ValueError for a text without brackets, an invalid entry, more than two slices,
    another number of entries than dimensions, or an index out of range.

    An entry is invalid if it is neither integer nor slice, or a slice with step 0.
    """
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")) or len(stripped) > _LONGEST:
        raise ValueError("must be written in brackets")
    inside = stripped[1:-1].strip()
    entries = [_entry(part) for part in inside.split(",")] if inside else []
    if len(entries) != len(shape):
        raise ValueError(f"has {len(entries)} entries, the tensor has {len(shape)} dimensions")
    if sum(isinstance(entry, slice) for entry in entries) > MOST_SLICES:
        raise ValueError("has more than two slices")
    for entry, size in zip(entries, shape, strict=True):
        if isinstance(entry, int) and not -size <= entry < size:
            raise ValueError(f"index {entry} is out of range for a dimension of {size}")
    return tuple(entries)


def first_slice(shape: tuple[int, ...]) -> str:
    """Return the default slice of a shape as text: the last two dimensions, at index 0 of all others."""
    return "[" + ",".join(["0"] * (len(shape) - MOST_SLICES) + [":"] * min(len(shape), MOST_SLICES)) + "]"


def _entry(part: str) -> int | slice:
    match = _ENTRY.match(part)
    if match is None:
        raise ValueError(f"{part.strip()!r} is neither an integer nor a slice")
    if match[1] is not None:
        return int(match[1])
    start, stop, step = (int(text) if text else None for text in match.group(2, 3, 4))
    if step == 0:
        raise ValueError("a slice step must not be 0")
    return slice(start, stop, step)
