"""Lazy array: values of a tensor read in parts, so that many gigabytes are never in memory.

``Stored`` reads the requested part from a file. ``Held`` is for values that must be read whole (packed
archives, converted device formats, Fortran order).
"""

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Final, Protocol

import numpy as np

from mindinsight.server.formats.arrays.element_types import Array, element_type, is_known, widen_bfloat16
from mindinsight.server.formats.arrays.npy import ArrayHeader, npz_member
from mindinsight.server.formats.file_bytes import opened, read_bytes

PIECE: Final = 1 << 18  # elements read at once: one or two megabytes, which stay in the processor's cache
BLOCK: Final = 8 << 20  # bytes read at once for a part of an array


class Values(Protocol):
    """Interface of a tensor's values, which are read in parts.

    Reading may raise UnreadableError at any time, because files change.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return the type of the arrays that are returned."""

    def pieces(self) -> Iterator[Array]:
        """Yield all elements, flat and in C order, ``PIECE`` at a time. The last part is shorter."""

    def part(self, window: Sequence[slice | int]) -> Array:
        """Return the result of indexing the whole array by ``window``. Missing axes are whole."""


@dataclass(frozen=True, slots=True)
class Held:
    """Values of a tensor in memory, with the interface of `Values`."""

    array: Array

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return the type of the array."""
        return self.array.dtype

    def pieces(self) -> Iterator[Array]:
        """Yield all elements, flat, ``PIECE`` at a time."""
        whole = self.array.flags.c_contiguous
        flat = self.array.reshape(-1) if whole else self.array.flat  # a copy of each piece, not of all
        for start in range(0, self.array.size, PIECE):
            yield flat[start : start + PIECE]

    def part(self, window: Sequence[slice | int]) -> Array:
        """Return the part of the array that ``window`` selects."""
        return np.asarray(self.array[tuple(window)])


@dataclass(frozen=True, slots=True)
class Stored:
    """Values of a tensor stored in a file in C order, with the interface of `Values`."""

    path: Path
    offset: int  # bytes before the first
    shape: tuple[int, ...]
    item: np.dtype[np.generic]  # type of a stored element
    name: str  # canonical type; "bfloat16" is stored as uint16

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return the type after decoding, in native byte order."""
        return _decoded_type(self.item, self.name)

    def pieces(self) -> Iterator[Array]:
        """Yield all elements, flat, ``PIECE`` at a time. Raises UnreadableError."""
        return self.elements(0, math.prod(self.shape))

    def elements(self, first: int, end: int) -> Iterator[Array]:
        """Yield the elements from ``first`` to before ``end`` in parts. Processes share an array this way.
        Raises UnreadableError."""
        with opened(self.path) as file:
            for start in range(first, end, PIECE):
                yield self._read(file, start, min(PIECE, end - start))

    def part(self, window: Sequence[slice | int]) -> Array:
        """Read the part of the array that ``window`` selects. Raises UnreadableError."""
        with opened(self.path) as file:
            return self._part(file, 0, self.shape, tuple(window))

    def _part(
        self, file: IO[bytes], first: int, shape: tuple[int, ...], window: tuple[slice | int, ...]
    ) -> Array:
        """Return the part of the block of ``shape`` that begins with element ``first``."""
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
        self, file: IO[bytes], first: int, rows: range, inner: tuple[int, ...], rest: tuple[slice | int, ...]
    ) -> Array:
        """Read some rows, each indexed by ``rest``, in one section unless a single row is too long."""
        row = math.prod(inner)
        if len(rows) == 1 and row * self.item.itemsize > BLOCK:
            return self._part(file, first + rows[0] * row, inner, rest)[np.newaxis]
        low, high = (min(rows), max(rows) + 1) if rows else (0, 0)
        block = self._read(file, first + low * row, (high - low) * row).reshape(high - low, *inner)
        cut = np.asarray(block[(slice(None, None, rows.step), *rest)])
        return cut if cut.size == block.size else cut.copy()  # a view would keep the whole block in memory

    def _read(self, file: IO[bytes], first: int, count: int) -> Array:
        """Read and decode ``count`` elements from element ``first`` on."""
        size = self.item.itemsize
        return self._decoded(read_bytes(file, self.offset + first * size, count * size))

    def _decoded(self, raw: Array) -> Array:
        """Decode stored bytes to an array in native byte order."""
        items = raw.view(self.item)
        if self.name == "bfloat16":
            return widen_bfloat16(items)
        known = element_type(self.name).decode if is_known(self.name) else None
        if known is not None:
            return known(items)
        return items if items.dtype.isnative else items.astype(items.dtype.newbyteorder("="))


@lru_cache(maxsize=64)  # the name of a type takes NumPy several microseconds
def _decoded_type(item: np.dtype[np.generic], name: str) -> np.dtype[np.generic]:
    """Return the type of elements stored as ``item`` after decoding."""
    if name == item.name:
        return item if item.isnative else item.newbyteorder("=")
    return Stored(Path(), 0, (), item, name)._decoded(np.empty(0, np.uint8)).dtype


@dataclass(frozen=True, slots=True)
class Scattered(Stored):
    """Values stored in several sections of a file, in order. ``.ckpt`` saves over 512 MiB this way."""

    sections: tuple[tuple[int, int], ...] = ()  # (offset, size) in the file

    def _read(self, file: IO[bytes], first: int, count: int) -> Array:
        """Read and decode ``count`` elements from element ``first`` on."""
        width = self.item.itemsize
        start, end = first * width, (first + count) * width
        parts, passed = [], 0
        for offset, size in self.sections:
            low, high = max(start, passed), min(end, passed + size)
            if low < high:
                parts.append(read_bytes(file, offset + low - passed, high - low))
            passed += size
        return self._decoded(parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint8), *parts]))


def stored_npz(path: Path, name: str) -> Stored | None:
    """Return the lazy values of an array of a ``.npz`` file, or None if it is compressed or not in C order.
    Raises UnreadableError."""
    header, offset = npz_member(path, name)
    if offset is None:
        return None
    return stored_npy(path, replace(header, offset=offset + header.offset))


def stored_npy(path: Path, header: ArrayHeader) -> Stored | None:
    """Return the lazy values of a ``.npy`` file, or None if it is not in C order or has no bytes."""
    if header.stored.itemsize == 0:
        return None
    if header.fortran and sum(axis > 1 for axis in header.shape) > 1:
        return None
    item = np.dtype("<u2") if header.dtype == "bfloat16" else header.stored
    return Stored(path, header.offset, header.shape, item, header.dtype)


def stored_as(path: Path, offset: int, shape: tuple[int, ...], name: str) -> Stored | None:
    """Return lazy values by type name, or None if the type is unknown or several elements share a byte."""
    if not is_known(name) or element_type(name).packed > 1:
        return None
    kind = element_type(name)
    return Stored(path, offset, shape, np.dtype(kind.stored), kind.name)


def write_npy(values: Values) -> Iterator[bytes]:
    """Yield a tensor as the bytes of a ``.npy`` file, part by part."""
    yield from npy_header(values.dtype, values.shape)
    for piece in values.pieces():
        yield piece.tobytes()


def npy_header(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> Iterator[bytes]:
    """Yield the header of a ``.npy`` file in C order."""
    head = io.BytesIO()
    descr = np.lib.format.dtype_to_descr(dtype)
    np.lib.format.write_array_header_1_0(head, {"descr": descr, "fortran_order": False, "shape": shape})
    yield head.getvalue()
