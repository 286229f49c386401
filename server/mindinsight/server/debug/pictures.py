"""Tensors made small enough to be drawn."""

from __future__ import annotations

import numpy as np

from mindinsight.server.debug.statistics import PIECE, Array, measure
from mindinsight.server.types import Doubles


def binned(values: Array, bins: int) -> tuple[Doubles, Doubles]:
    """Counts of the finite elements in ``bins`` of equal width between their extremes, and the edges.

    Complex numbers are counted by magnitude. Of a constant tensor the bins are one wide around it.
    """
    found = measure(values)
    if found.minimum is None or found.maximum is None:
        return np.zeros(bins), np.linspace(0.0, 1.0, bins + 1)
    low, high = float(found.minimum), float(found.maximum)
    if low == high:
        low, high = low - 0.5, low + 0.5
    counts = np.zeros(bins)
    edges = 4 * np.linspace(
        low / 4, high / 4, bins + 1
    )  # the distance itself may be beyond the largest number
    flat = values.reshape(-1)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        plain = np.abs(piece).astype(np.float64) if piece.dtype.kind == "c" else piece.astype(np.float64)
        counts += np.histogram(plain[np.isfinite(plain)], bins=edges)[0]
    return counts, edges


def shrunk(table: Array, most: int) -> Doubles:
    """A table of at most ``most`` rows and columns; each cell stands for the element farthest from zero.

    So a single large element, or one that is not finite, stays to be seen. Complex numbers by magnitude.
    """
    plain = np.abs(table) if table.dtype.kind == "c" else table
    return _strongest(_strongest(plain.astype(np.float64), most).T, most).T


def _strongest(table: Doubles, most: int) -> Doubles:
    """Rows brought down to ``most`` by taking, column by column, the strongest of neighbouring rows."""
    if table.shape[0] <= most:
        return table
    starts = np.linspace(0, table.shape[0], most, endpoint=False).astype(np.int64)
    high, low = np.maximum.reduceat(table, starts), np.minimum.reduceat(table, starts)
    return np.where(np.abs(low) > np.abs(high), low, high)
