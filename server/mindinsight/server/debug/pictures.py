"""Tensors made small enough to be drawn, read by parts where they are large."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from mindinsight.server.compute.statistics import PIECE, Array, bin_edges, measure_values
from mindinsight.server.formats.arrays.stored import Values
from mindinsight.server.types import Doubles


def binned_values(values: Values, bins: int) -> tuple[Doubles, Doubles]:
    """Counts of the finite elements in ``bins`` of equal width between their extremes, and the edges.

    Complex numbers are counted by magnitude. Of a constant tensor the bins are one wide around it.
    The tensor is read twice.
    """
    found = measure_values(values)
    if found.minimum is None or found.maximum is None:
        return np.zeros(bins), np.linspace(0.0, 1.0, bins + 1)
    edges = bin_edges(float(found.minimum), float(found.maximum), bins)
    counts = np.zeros(bins)
    for flat in values.pieces():
        for start in range(0, flat.size, PIECE):
            piece = flat[start : start + PIECE]
            plain = np.abs(piece).astype(np.float64) if piece.dtype.kind == "c" else piece.astype(np.float64)
            counts += np.histogram(plain[np.isfinite(plain)], bins=edges)[0]
    return counts, edges


def shrunk(table: Array, most: int) -> Doubles:
    """A table of at most ``most`` rows and columns; each cell stands for the element farthest from zero.

    So a single large element, or one that is not finite, stays to be seen. Complex numbers by magnitude.
    """
    return shrunk_rows(lambda start, stop: table[start:stop], table.shape[0], most)


def shrunk_rows(read: Callable[[int, int], Array], rows: int, most: int) -> Doubles:
    """``shrunk`` of a table whose rows are read from a first to before a last, group by group."""
    if rows <= most:
        return _narrowed(_plain(read(0, rows)), most)
    ends = np.linspace(0, rows, most + 1).astype(np.int64).tolist()
    groups = itertools.pairwise(ends)
    lines = [_narrowed(_strongest(_plain(read(*group)), 1), most) for group in groups]
    return np.concatenate(lines)


def _plain(table: Array) -> Doubles:
    return (np.abs(table) if table.dtype.kind == "c" else table).astype(np.float64)


def _narrowed(table: Doubles, most: int) -> Doubles:
    return _strongest(table.T, most).T


def _strongest(table: Doubles, most: int) -> Doubles:
    """Rows brought down to ``most`` by taking, column by column, the strongest of neighbouring rows."""
    if table.shape[0] <= most:
        return table
    starts = np.linspace(0, table.shape[0], most, endpoint=False).astype(np.int64)
    high, low = np.maximum.reduceat(table, starts), np.minimum.reduceat(table, starts)
    return np.where(np.abs(low) > np.abs(high), low, high)
