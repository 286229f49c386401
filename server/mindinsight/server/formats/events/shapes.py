"""Matrix decoder: records of one shape read as columns.

A shape is everything in a record but its data: field numbers, lengths, tags. Records of a shape have one
length and differ only at known places, so they are a matrix of bytes, one row per record, in which wall
time, step and every value are columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.chunk import Payloads, RecordBatch, Scalars
from mindinsight.server.formats.events.event_message import Entry
from mindinsight.server.formats.events.fields import EXACT, KIND_NAMES, SCALAR, tag_text
from mindinsight.server.formats.events.record_shape import (
    WIDE,
    Octets2D,
    RecordShape,
    known_shape,
    record_shape,
    step_column,
)
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Floats, Ints

_FEWEST: Final = 48  # records of a shape that are worth the set-up
_FEWEST_WIDE: Final = 3  # the same of wide records; fewer are read by a shape that is known
_MANY_COLUMNS: Final = 64  # values of a record that are gathered at once
_RARE: Final = 16  # a shape is rare when less than one in so many records of its length has it
_SAMPLE: Final = 64  # records that are looked at first
_MANY: Final = 2048  # records of one length from which telling their tags apart first is worth it
_MOST_TELLING: Final = 8  # bytes by which the tags of records of one length are told apart
_RARE_SHAPES: Final = 4  # after so many rare shapes one after another the rest is read another way
_CACHED: Final = 1 << 18  # bytes of a matrix worked on at a time, to stay in the processor's cache


def read_shapes(
    data: bytes, starts: Ints, sizes: Ints, rows: Ints, schema: Schema
) -> tuple[list[RecordBatch], Ints]:
    """Those of the records ``rows`` whose shapes are frequent, and the numbers of all others.

    ``starts`` and ``sizes`` tell where all records and how long their payloads are.
    """
    parts: list[RecordBatch] = []
    if len(rows) < _fewest(int(sizes[rows].max(initial=0))):
        return parts, rows
    taken = np.zeros(len(starts), np.bool_)
    misses = 0
    similar = (
        group
        for same_size in _by_size(sizes, rows)
        for group in _by_tags(data, starts, same_size, int(sizes[same_size[0]]), schema)
    )
    for group in similar:
        rest, fewest = group, _fewest(int(sizes[group[0]]))
        while len(rest) >= fewest and misses < _RARE_SHAPES:
            size, begins = int(sizes[rest[0]]), starts[rest] + HEADER_SIZE
            look_up = record_shape if len(rest) >= _FEWEST_WIDE else known_shape
            shape = look_up(data[begins[0] : begins[0] + size], schema)
            if shape is None or not _frequent(data, begins, shape):
                misses, rest = misses + 1, rest[1:]
                continue
            matrix = _matrix(data, begins, size)
            alike = _alike(matrix, shape)
            if np.count_nonzero(alike) < fewest:
                misses, rest = misses + 1, rest[~alike]
                continue
            misses, chosen, rest = 0, rest[alike], rest[~alike]
            parts.append(_part(data, matrix if alike.all() else matrix[alike], shape, chosen, starts))
            taken[chosen] = True
    return parts, rows[~taken[rows]]


def _fewest(size: int) -> int:
    """How many records of ``size`` bytes are worth the set-up."""
    return 1 if size >= WIDE else _FEWEST


def _by_size(sizes: Ints, rows: Ints) -> list[Ints]:
    """Records of one length each, the most frequent length first; rare lengths are left out."""
    keys = sizes[rows]
    if len(keys) and keys.max() < 1 << 16:
        keys = keys.astype(np.uint16)  # sorted by radix
    order = np.argsort(keys, kind="stable")
    edges = np.concatenate([[0], np.flatnonzero(np.diff(keys[order])) + 1, [len(rows)]])
    counts = np.diff(edges)
    frequent = [
        group
        for group in np.argsort(-counts, kind="stable").tolist()
        if counts[group] >= _fewest(int(sizes[rows[order[edges[group]]]]))
    ]
    return [rows[order[edges[group] : edges[group + 1]]] for group in frequent]


def _by_tags(data: bytes, starts: Ints, rows: Ints, size: int, schema: Schema) -> list[Ints]:
    """Records of one length, split by the few bytes in which their tags differ: each shape finds its own.

    Only a grouping: records that are apart although their shapes are the same are read all the same.
    """
    if len(rows) < _MANY:
        return [rows]
    begins = starts[rows] + HEADER_SIZE
    shape = record_shape(data[begins[0] : begins[0] + size], schema)
    if shape is None:
        return [rows]
    sample = _matrix(data, begins[:: max(len(begins) // _SAMPLE, 1)], size)
    places = np.flatnonzero(((sample != sample[0]).any(axis=0)) & (shape.mask == 0xFF))
    if not len(places):
        return [rows]
    different = np.unique(sample[:, places], axis=0)
    tags = len(sample) ** 2 // (2 * max(len(sample) - len(different), 1))  # about, as birthdays have it
    if tags * _FEWEST > len(rows):
        return [rows]
    keys, octets = np.zeros(len(rows), np.uint64), np.frombuffer(data, np.uint8)
    for position, column in enumerate(places[:_MOST_TELLING].tolist()):
        keys |= octets[begins + column].astype(np.uint64) << np.uint64(8 * position)
    groups, left = [], np.ones(len(rows), np.bool_)
    for key in np.unique(keys[:: max(len(begins) // _SAMPLE, 1)]):
        chosen = keys == key
        groups.append(rows[chosen])
        left &= ~chosen
    return [*groups, rows[left]] if left.any() else groups


def _frequent(data: bytes, begins: Ints, shape: RecordShape) -> bool:
    """Whether enough of some records that lie at ``begins`` have the shape."""
    some = begins[:: max(len(begins) // _SAMPLE, 1)]
    alike = _alike(_matrix(data, some, len(shape.mask)), shape)
    return bool(np.count_nonzero(alike) * _RARE >= len(some))


def _matrix(data: bytes, starts: Ints, size: int) -> Octets2D:
    """[n, size] bytes from each of ``starts``; a view when they are evenly spaced."""
    gaps = np.diff(starts)
    if len(gaps) and (gaps == gaps[0]).all():
        return np.ndarray((len(starts), size), np.uint8, data, int(starts[0]), (int(gaps[0]), 1))
    windows = np.ndarray((len(data) - size + 1, size), np.uint8, data, 0, (1, 1))
    return windows[starts]


def _blocks(matrix: Octets2D) -> Iterator[slice]:
    rows = max(_CACHED // max(matrix.shape[1], 1), 1)
    for first in range(0, len(matrix), rows):
        yield slice(first, first + rows)


def _alike(matrix: Octets2D, shape: RecordShape) -> npt.NDArray[np.bool_]:
    same = np.ones(len(matrix), np.bool_)
    for block in _blocks(matrix):
        equal = (matrix[block] & shape.mask) == shape.fixed
        if not equal.all():  # asked first, as it is answered so much faster
            same[block] = equal.all(axis=1)
    return same


def _part(data: bytes, matrix: Octets2D, shape: RecordShape, rows: Ints, starts: Ints) -> RecordBatch:
    event, begins = shape.event, starts[rows] + HEADER_SIZE
    scalars, payloads = [], []
    for kind, dtype in ((SCALAR, "<f4"), (EXACT, "<f8")):
        chosen = [entry for entry in event.entries if entry.kind == kind]
        if chosen:
            tags = tuple(tag_text(entry.tag) for entry in chosen)
            scalars.append(Scalars(tags, rows, _columns(data, matrix, begins, chosen, dtype)))
    for entry in event.entries:
        if entry.kind in KIND_NAMES:
            offsets = begins + entry.at
            sizes = np.full(len(rows), entry.size, np.int64)
            payloads.append(Payloads(KIND_NAMES[entry.kind], tag_text(entry.tag), rows, offsets, sizes))
    walls = np.zeros(len(rows), np.float64)
    if event.wall_at >= 0:
        walls[:] = matrix[:, event.wall_at : event.wall_at + 8].view("<f8")[:, 0]
    return RecordBatch(
        rows, step_column(matrix, event.step_at, event.step_size), walls, tuple(scalars), tuple(payloads)
    )


def _columns(data: bytes, matrix: Octets2D, begins: Ints, entries: list[Entry], dtype: str) -> Floats:
    if len(entries) >= _MANY_COLUMNS:
        return unaligned(data, dtype)[np.array([entry.at for entry in entries])[:, None] + begins]
    columns = [matrix[:, entry.at : entry.at + entry.size].view(dtype)[:, 0] for entry in entries]
    values = np.empty((len(columns), len(matrix)), dtype)
    for block in _blocks(matrix):
        for value, column in zip(values, columns, strict=True):
            value[block] = column[block]
    return values
