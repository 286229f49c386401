"""Reduction of tensors for drawing: histograms, heat maps and notable elements, read by parts."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from mindinsight.server.compute.tensor_statistics import PIECE, Array, bin_edges, measure_values
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.types import Doubles


def bin_values(values: Values, bins: int) -> tuple[Doubles, Doubles]:
    """Return the counts of ``bins`` bins of equal width for the finite elements, and the edges of the bins.

    Complex numbers are counted by magnitude. The bins of a constant tensor span a range around it, usually of
    at most one. Without a finite element the counts are 0, and the edges go from 0 to 1. The tensor is read
    twice.
    """
    statistics = measure_values(values)
    if statistics.minimum is None or statistics.maximum is None:
        return np.zeros(bins), np.linspace(0.0, 1.0, bins + 1)
    edges = bin_edges(float(statistics.minimum), float(statistics.maximum), bins)
    counts = np.zeros(bins)
    for flat in values.pieces():
        for start in range(0, flat.size, PIECE):
            numbers = _magnitudes(flat[start : start + PIECE])
            counts += np.histogram(numbers[np.isfinite(numbers)], bins=edges)[0]
    return counts, edges


def find_elements(values: Values) -> dict[str, list[int]]:
    """Return the index of the first element that is ``minimum``, ``maximum``, NaN (``nans``), Inf
    (``positive_infs``) or -Inf (``negative_infs``), by this name. Names without such an element are left out.

    The names are fields of `Statistics`. Minimum and maximum are of the finite elements. Complex numbers
    count by magnitude.
    """
    firsts: dict[str, tuple[Any, int]] = {}
    start = 0
    for piece in values.pieces():
        numbers = np.abs(piece) if piece.dtype.kind == "c" else np.asarray(piece)
        finite = np.isfinite(numbers)
        if not finite.all():
            masks = np.isnan(numbers), numbers == np.inf, numbers == -np.inf
            for name, mask in zip(("nans", "positive_infs", "negative_infs"), masks, strict=True):
                if mask.any():
                    firsts.setdefault(name, (None, start + int(mask.argmax())))
        at = np.flatnonzero(finite)
        if at.size:
            low, high = int(at[numbers[at].argmin()]), int(at[numbers[at].argmax()])
            if "minimum" not in firsts or numbers[low] < firsts["minimum"][0]:
                firsts["minimum"] = numbers[low], start + low
            if "maximum" not in firsts or numbers[high] > firsts["maximum"][0]:
                firsts["maximum"] = numbers[high], start + high
        start += numbers.size
    return {name: [int(i) for i in np.unravel_index(at, values.shape)] for name, (_, at) in firsts.items()}


def shrink_rows(read: Callable[[int, int], Array], rows: int, most: int) -> Doubles:
    """Return a table, read by ``read(first row, end)``, shrunk to at most ``most`` rows and columns. The
    table has ``rows`` rows. A cell is the element farthest from zero of those in its place. A single large
    or non-finite element stays visible. Complex numbers count by magnitude."""
    if rows <= most:
        return _shrink_columns(_magnitudes(read(0, rows)), most)
    ends = np.linspace(0, rows, most + 1).astype(np.int64).tolist()
    groups = itertools.pairwise(ends)
    lines = [_shrink_columns(_reduce_rows(_magnitudes(read(*group)), 1), most) for group in groups]
    return np.concatenate(lines)


def _magnitudes(table: Array) -> Doubles:
    return (np.abs(table) if table.dtype.kind == "c" else table).astype(np.float64)


def _shrink_columns(table: Doubles, most: int) -> Doubles:
    return _reduce_rows(table.T, most).T


def _reduce_rows(table: Doubles, most: int) -> Doubles:
    """Return the table with at most ``most`` rows. Of neighbouring rows, each column retains the element
    farthest from zero."""
    if table.shape[0] <= most:
        return table
    starts = np.linspace(0, table.shape[0], most, endpoint=False).astype(np.int64)
    high, low = np.maximum.reduceat(table, starts), np.minimum.reduceat(table, starts)
    return np.where(np.abs(low) > np.abs(high), low, high)
