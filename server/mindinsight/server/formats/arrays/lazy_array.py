"""Lazy array: values of a tensor read part by part, so that many gigabytes are never in memory.

``Stored`` reads what is asked for from where it lies in a file; ``Held`` is for what had to be read whole
(packed archives, device formats that are turned, Fortran order).
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final, Protocol

import numpy as np

from mindinsight.server.formats.arrays.element_types import Array, element_type, is_known, widen_bfloat16
from mindinsight.server.formats.arrays.npy import ArrayHeader, npz_member
from mindinsight.server.formats.file_bytes import opened, read_stretch

PIECE: Final = 1 << 18  # elements read at once: a megabyte or two stay in a cache
BLOCK: Final = 8 << 20  # bytes read at once for a part


class Values(Protocol):
    """Values to be read by parts. Reading may raise ``UnreadableError`` at any time: files change."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Of the arrays that are given."""

    def pieces(self) -> Iterator[Array]:
        """All elements, flat and in C order; ``PIECE`` at a time, the last piece shorter."""

    def part(self, window: Sequence[slice | int]) -> Array:
        """What indexing the whole array by ``window`` would give; missing axes are whole."""


@dataclass(frozen=True, slots=True)
class Held:
    """Values that are in memory."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.array.dtype

    def pieces(self) -> Iterator[Array]:
        whole = self.array.flags.c_contiguous
        flat = self.array.reshape(-1) if whole else self.array.flat  # a copy of each piece, not of all
        for start in range(0, self.array.size, PIECE):
            yield flat[start : start + PIECE]

    def part(self, window: Sequence[slice | int]) -> Array:
        return np.asarray(self.array[tuple(window)])


@dataclass(frozen=True, slots=True)
class Stored:
    """Values that lie in a file in C order, one after the other."""

    path: Path
    offset: int  # bytes before the first
    shape: tuple[int, ...]
    item: np.dtype[np.generic]  # as they lie in the file
    name: str  # canonical type; "bfloat16" lies there as uint16

    @property
    def dtype(self) -> np.dtype[np.generic]:
        if self.name == self.item.name:
            return self.item if self.item.isnative else self.item.newbyteorder("=")
        return self._decoded(np.empty(0, np.uint8)).dtype

    def pieces(self) -> Iterator[Array]:
        return self.stretch(0, math.prod(self.shape))

    def stretch(self, first: int, end: int) -> Iterator[Array]:
        """Elements from ``first`` to before ``end``, in pieces: what one of several processes reads."""
        with opened(self.path) as file:
            for start in range(first, end, PIECE):
                yield self._read(file, start, min(PIECE, end - start))

    def part(self, window: Sequence[slice | int]) -> Array:
        with opened(self.path) as file:
            return self._part(file, 0, self.shape, tuple(window))

    def _part(
        self, file: IO[bytes], first: int, shape: tuple[int, ...], window: tuple[slice | int, ...]
    ) -> Array:
        """The part of the block of ``shape`` that begins with element ``first``."""
        if not shape or not window:
            return self._read(file, first, math.prod(shape)).reshape(shape)
        (head, *rest), (length, *inner) = window, shape
        row = math.prod(inner)
        if isinstance(head, int):
            at = range(length)[head]
            return self._part(file, first + at * row, tuple(inner), tuple(rest))
        rows = range(length)[head]
        together = max(1, BLOCK // max(1, row * self.item.itemsize))
        groups = [rows[i : i + together] for i in range(0, len(rows), together)] or [rows]
        parts = [self._rows(file, first, group, tuple(inner), tuple(rest)) for group in groups]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _rows(
        self,
        file: IO[bytes],
        first: int,
        rows: range,
        inner: tuple[int, ...],
        rest: tuple[slice | int, ...],
    ) -> Array:
        """Some rows, each cut by ``rest``: read in one stretch unless a single one is too long for that."""
        row = math.prod(inner)
        if len(rows) == 1 and row * self.item.itemsize > BLOCK:
            return self._part(file, first + rows[0] * row, inner, rest)[np.newaxis]
        low, high = (min(rows), max(rows) + 1) if rows else (0, 0)
        block = self._read(file, first + low * row, (high - low) * row).reshape(high - low, *inner)
        cut = np.asarray(block[(slice(None, None, rows.step), *rest)])
        return cut if cut.size == block.size else cut.copy()  # not to hold the block for a part of it

    def _read(self, file: IO[bytes], first: int, count: int) -> Array:
        size = self.item.itemsize
        return self._decoded(read_stretch(file, self.offset + first * size, count * size))

    def _decoded(self, raw: Array) -> Array:
        items = raw.view(self.item)
        if self.name == "bfloat16":
            return widen_bfloat16(items)
        known = element_type(self.name).decode if is_known(self.name) else None
        if known is not None:
            return known(items)
        return items if items.dtype.isnative else items.astype(items.dtype.newbyteorder("="))


@dataclass(frozen=True, slots=True)
class Scattered(Stored):
    """Values whose bytes lie in several stretches of a file, in order: how ``.ckpt`` saves over 512 MiB."""

    stretches: tuple[tuple[int, int], ...] = ()  # (offset, size) in the file

    def _read(self, file: IO[bytes], first: int, count: int) -> Array:
        width = self.item.itemsize
        start, end = first * width, (first + count) * width
        parts, passed = [], 0
        for offset, size in self.stretches:
            low, high = max(start, passed), min(end, passed + size)
            if low < high:
                parts.append(read_stretch(file, offset + low - passed, high - low))
            passed += size
        return self._decoded(parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint8), *parts]))


def stored_npz(path: Path, name: str) -> Stored | None:
    """The values of an array of a ``.npz`` file; None where it is compressed or not in C order."""
    header, offset = npz_member(path, name)
    if offset is None:
        return None
    return stored_npy(path, replace(header, offset=offset + header.offset))


def stored_npy(path: Path, header: ArrayHeader) -> Stored | None:
    """The values of a ``.npy`` file; None when they are not in C order, or take no bytes."""
    if header.stored.itemsize == 0:
        return None
    if header.fortran and sum(axis > 1 for axis in header.shape) > 1:
        return None
    item = np.dtype("<u2") if header.dtype == "bfloat16" else header.stored
    return Stored(path, header.offset, header.shape, item, header.dtype)


def stored_as(path: Path, offset: int, shape: tuple[int, ...], name: str) -> Stored | None:
    """Values of a type by its name; None when the type is not known, or several share a byte."""
    if not is_known(name) or element_type(name).packed > 1:
        return None
    kind = element_type(name)
    return Stored(path, offset, shape, np.dtype(kind.stored), kind.name)


def write_npy(values: Values) -> Iterator[bytes]:
    """A tensor as the bytes of a ``.npy`` file, a part at a time."""
    yield from npy_header(values.dtype, values.shape)
    for piece in values.pieces():
        yield piece.tobytes()


def npy_header(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> Iterator[bytes]:
    """What a ``.npy`` file in C order begins with."""
    head = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    yield head.getvalue()
