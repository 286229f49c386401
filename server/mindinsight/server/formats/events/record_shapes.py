"""Shapes of records, and the matrix decoder that reads records of one shape as columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events import event_fields
from mindinsight.server.formats.events.decoder_results import Payloads, RecordBatch, Scalars
from mindinsight.server.formats.wire_format import UnparsableError, read_size, read_varint, signed, unaligned
from mindinsight.server.types import Floats, Ints

Octets2D = npt.NDArray[np.uint8]

AFTER_WALL: Final = 9  # bytes of a wall time and its key
_CONTINUED: Final = 0x80  # of a byte of a varint that another one follows
_ZEROS: Final = bytes(4)
_SEVEN: Final = np.uint64(0x7F)
WIDE: Final = 1 << 13  # bytes; such a record holds so many values that a few records pay for a shape
_MAX_WIDE_SIZE: Final = 1 << 20  # bytes; a cached shape takes several times as many
_MAX_WIDE: Final = 2  # cached shapes of wide records of one size
STEP_BITS: Final = 0x80  # of the bytes of a step: whether the number goes on


@dataclass(frozen=True, slots=True, eq=False)
class RecordShape:
    """Shape of records that differ only in their data: a parsed sample, and the bits that are equal in all of
    them."""

    event: event_fields.ParsedEvent  # of a sample or of zeros; offsets from the start of the payload
    mask: npt.NDArray[np.uint8]  # [size] which bits are the same in all records of the shape
    fixed: npt.NDArray[np.uint8]  # [size] these bits

    def step_of(self, payload: bytes) -> int:
        """Return the step of a record of this shape, 0 if it has no field of it."""
        at, size = self.event.step_at, self.event.step_size
        return signed(read_varint(payload, at, at + size)[0]) if size else 0


def record_shape(payload: bytes, schema: event_fields.Schema) -> RecordShape | None:
    """Return the shape of a record, or None if records like it cannot be read as a matrix."""
    if len(payload) >= WIDE:
        return _wide_shape(payload, schema)
    plain = _without_data(payload, schema.scalar_key)
    if plain is not None:
        return _plain_shape(plain, schema)
    return _parsed_shape(payload, schema)


@lru_cache(maxsize=1 << 12)  # the runs of a base directory record the same tags
def _plain_shape(payload: bytes, schema: event_fields.Schema) -> RecordShape | None:
    """Return the cached shape of a record of float32 scalars, given with zeros for data, or None if it has
    none."""
    return _parsed_shape(payload, schema)


def _wide_shape(payload: bytes, schema: event_fields.Schema) -> RecordShape | None:
    """Return the shape of a large record, from the cache if it is known, or None if it has none."""
    shape = known_shape(payload, schema)
    if shape is not None:
        return shape
    shape = _parsed_shape(payload, schema)
    if shape is not None and len(payload) <= _MAX_WIDE_SIZE:
        known = _wide_shapes(len(payload), schema)
        known.insert(0, shape)
        del known[_MAX_WIDE:]
    return shape


def known_shape(payload: bytes, schema: event_fields.Schema) -> RecordShape | None:
    """Return the cached shape that a large record has, or None."""
    return next((shape for shape in _wide_shapes(len(payload), schema) if is_like(payload, shape)), None)


@lru_cache(maxsize=1 << 2)
def _wide_shapes(size: int, schema: event_fields.Schema) -> list[RecordShape]:
    """Return the cached shapes of large records of ``size`` bytes, newest first. Callers change this list."""
    return []


def _parsed_shape(payload: bytes, schema: event_fields.Schema) -> RecordShape | None:
    """Return the shape of a parsed record, or None if it is not an event or not regular."""
    try:
        event = schema.parse(payload, 0, len(payload))
    except UnparsableError:
        return None
    if not _is_regular(event, len(payload)):
        return None
    mask = np.full(len(payload), 0xFF, np.uint8)
    for at, size in event.free:
        mask[at : at + size] = 0
    # Of the bytes of a step the top bits are shape: they say where the number ends.
    mask[max(event.step_at, 0) : max(event.step_at, 0) + event.step_size] = STEP_BITS
    return RecordShape(event, mask, np.frombuffer(payload, np.uint8) & mask)


def _is_regular(event: event_fields.ParsedEvent, size: int) -> bool:
    """Return True if an event holds only values with distinct tags, and at most half of its bytes are
    payloads."""
    if event.version or event.skipped or event.notes or event.closing is not None:
        return False
    if any(item.number is not None for item in event.values):
        return False
    names = {
        (item.kind in (event_fields.SCALAR, event_fields.EXACT) or item.kind, event_fields.tag_text(item.tag))
        for item in event.values
    }
    in_payloads = sum(item.size for item in event.values if item.kind in event_fields.KIND_NAMES)
    return len(names) == len(event.values) and 2 * in_payloads <= size


def _without_data(payload: bytes, scalar_key: int) -> bytes | None:
    """Return a record of wall time, step and float32 scalars with zeros for the data, or None for another
    record. Bytes of the step keep their continuation bit."""
    octets, last = bytearray(payload), len(payload)
    try:
        if octets[0] != event_fields.EVENT_WALL:
            return None
        octets[1:AFTER_WALL] = bytes(AFTER_WALL - 1)
        at = AFTER_WALL
        if octets[at] == event_fields.EVENT_STEP:
            at += 1
            while octets[at] >= _CONTINUED:
                octets[at] = _CONTINUED
                at += 1
            octets[at] = 0
            at += 1
        if octets[at] != event_fields.EVENT_SUMMARY:
            return None
        length, at = read_size(payload, at + 1, last)
        if at + length != last:
            return None
        while at < last:
            size = octets[at + 3]
            if size + 7 >= _CONTINUED or octets[at : at + 3] != bytes(
                (event_fields.SUMMARY_VALUE, size + 7, event_fields.VALUE_TAG)
            ):
                return None
            at += size + 9
            if octets[at - 5] != scalar_key or at > last:
                return None
            octets[at - 4 : at] = _ZEROS
    except (IndexError, UnparsableError):
        return None
    return bytes(octets)


def is_like(payload: bytes, shape: RecordShape) -> bool:
    """Return True if a record has the shape."""
    if len(payload) != len(shape.mask):
        return False
    return bool(((np.frombuffer(payload, np.uint8) & shape.mask) == shape.fixed).all())


def step_column(matrix: Octets2D, at: int, size: int) -> Ints:
    """Return the varints of one width in the columns from ``at`` on, [n] int64."""
    steps = np.zeros(len(matrix), np.uint64)
    for index in range(size):
        bits = matrix[:, at + index].astype(np.uint64)
        bits &= _SEVEN
        bits <<= np.uint64(7 * index)
        steps |= bits
    return steps.view(np.int64)


_MIN_RECORDS: Final = 48  # records of one shape that pay for the set-up
# Wide records that pay for a new shape; fewer are read only if the shape is known.
_MIN_WIDE_RECORDS: Final = 3
_MANY_COLUMNS: Final = 64  # values of a record from which one gather is faster than one copy per column
_RARE: Final = 16  # a shape is rare if fewer than one in 16 records of its length has it
_SAMPLE: Final = 64  # records examined first
_WIDE_SAMPLE: Final = 4  # the same of wide records, of which a section holds few
_MIN_GROUPED: Final = 2048  # records of one length from which grouping by tag first pays off
_MAX_KEY_BYTES: Final = 8  # bytes that distinguish the tags of records of one length
_RARE_SHAPES: Final = 4  # consecutive rare shapes after which the rest is left to the next decoder
CACHED: Final = 1 << 18  # bytes of a matrix processed at a time; they stay in the processor's cache


def read_shapes(
    data: bytes, starts: Ints, sizes: Ints, rows: Ints, schema: event_fields.Schema
) -> tuple[list[RecordBatch], Ints]:
    """Decode the records ``rows`` of frequent shapes, and return batches and the rows left over.
    ``starts`` and ``sizes`` are the offsets and payload sizes of all records."""
    parts: list[RecordBatch] = []
    if len(rows) < _min_records(int(sizes[rows].max(initial=0))):
        return parts, rows
    taken = np.zeros(len(starts), np.bool_)
    misses = 0
    similar = (
        group
        for same_size in _by_size(sizes, rows)
        for group in _by_tags(data, starts, same_size, int(sizes[same_size[0]]), schema)
    )
    for group in similar:
        rest, minimum = group, _min_records(int(sizes[group[0]]))
        while len(rest) >= minimum and misses < _RARE_SHAPES:
            size, begins = int(sizes[rest[0]]), starts[rest] + HEADER_SIZE
            look_up = record_shape if len(rest) >= _MIN_WIDE_RECORDS else known_shape
            shape = look_up(data[begins[0] : begins[0] + size], schema)
            if shape is None or not _frequent(data, begins, shape):
                misses, rest = misses + 1, rest[1:]
                continue
            matrix = _matrix(data, begins, size)
            alike = _alike(matrix, shape)
            if np.count_nonzero(alike) < minimum:
                misses, rest = misses + 1, rest[~alike]
                continue
            misses, chosen, rest = 0, rest[alike], rest[~alike]
            parts.append(_part(data, matrix if alike.all() else matrix[alike], shape, chosen, starts))
            taken[chosen] = True
    return parts, rows[~taken[rows]]


def _min_records(size: int) -> int:
    """Return the number of records of ``size`` bytes from which decoding as a matrix is faster."""
    return 1 if size >= WIDE else _MIN_RECORDS


def _by_size(sizes: Ints, rows: Ints) -> list[Ints]:
    """Group rows by record size, most frequent first. Rare sizes are omitted."""
    keys = sizes[rows]
    if len(keys) and keys.max() < 1 << 16:
        keys = keys.astype(np.uint16)  # sorted by radix
    order = np.argsort(keys, kind="stable")
    edges = np.concatenate([[0], np.flatnonzero(np.diff(keys[order])) + 1, [len(rows)]])
    counts = np.diff(edges)
    frequent = [
        group
        for group in np.argsort(-counts, kind="stable").tolist()
        if counts[group] >= _min_records(int(sizes[rows[order[edges[group]]]]))
    ]
    return [rows[order[edges[group] : edges[group + 1]]] for group in frequent]


def _by_tags(data: bytes, starts: Ints, rows: Ints, size: int, schema: event_fields.Schema) -> list[Ints]:
    """Group rows with records of one size by the few bytes in which their tags differ. The grouping is
    only a hint. Records of one shape in two groups are still read correctly."""
    if len(rows) < _MIN_GROUPED:
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
    tags = len(sample) ** 2 // (
        2 * max(len(sample) - len(different), 1)
    )  # estimate from repeated samples (birthday problem)
    if tags * _MIN_RECORDS > len(rows):
        return [rows]
    keys, octets = np.zeros(len(rows), np.uint64), np.frombuffer(data, np.uint8)
    for position, column in enumerate(places[:_MAX_KEY_BYTES].tolist()):
        keys |= octets[begins + column].astype(np.uint64) << np.uint64(8 * position)
    groups, left = [], np.ones(len(rows), np.bool_)
    for key in np.unique(keys[:: max(len(begins) // _SAMPLE, 1)]):
        chosen = keys == key
        groups.append(rows[chosen])
        left &= ~chosen
    return [*groups, rows[left]] if left.any() else groups


def _frequent(data: bytes, begins: Ints, shape: RecordShape) -> bool:
    """Return True if at least one in ``_RARE`` of a sample of the records has the shape."""
    sample = _SAMPLE if len(shape.mask) < WIDE else _WIDE_SAMPLE
    some = begins[:: max(len(begins) // sample, 1)]
    alike = _alike(_matrix(data, some, len(shape.mask)), shape)
    return bool(np.count_nonzero(alike) * _RARE >= len(some))


def _matrix(data: bytes, starts: Ints, size: int) -> Octets2D:
    """Return the ``size`` bytes from each start, [n, size]. A view if the starts are evenly spaced."""
    gaps = np.diff(starts)
    if len(gaps) and (gaps == gaps[0]).all():
        return np.ndarray((len(starts), size), np.uint8, data, int(starts[0]), (int(gaps[0]), 1))
    windows = np.ndarray((len(data) - size + 1, size), np.uint8, data, 0, (1, 1))
    return windows[starts]


def cache_blocks(count: int, width: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows of ``width`` bytes that fit into the processor's cache."""
    rows = max(CACHED // max(width, 1), 1)
    for first in range(0, count, rows):
        yield slice(first, first + rows)


def _alike(matrix: Octets2D, shape: RecordShape) -> npt.NDArray[np.bool_]:
    """Return which rows have the shape, [n] bool."""
    same = np.ones(len(matrix), np.bool_)
    for block in cache_blocks(*matrix.shape):
        equal = (matrix[block] & shape.mask) == shape.fixed
        if not equal.all():  # one test of all rows is much faster than one per row
            same[block] = equal.all(axis=1)
    return same


def _part(data: bytes, matrix: Octets2D, shape: RecordShape, rows: Ints, starts: Ints) -> RecordBatch:
    """Decode the records ``rows``, the rows of ``matrix``, which all have the shape."""
    event, begins = shape.event, starts[rows] + HEADER_SIZE
    scalars, payloads = [], []
    for kind, dtype in ((event_fields.SCALAR, "<f4"), (event_fields.EXACT, "<f8")):
        chosen = [item for item in event.values if item.kind == kind]
        if chosen:
            tags = tuple(event_fields.tag_text(item.tag) for item in chosen)
            scalars.append(Scalars(tags, rows, _columns(data, matrix, begins, chosen, dtype)))
    for item in event.values:
        if item.kind in event_fields.KIND_NAMES:
            offsets = begins + item.at
            sizes = np.full(len(rows), item.size, np.int64)
            payloads.append(
                Payloads(
                    event_fields.KIND_NAMES[item.kind], event_fields.tag_text(item.tag), rows, offsets, sizes
                )
            )
    walls = np.zeros(len(rows), np.float64)
    if event.wall_at >= 0:
        walls[:] = matrix[:, event.wall_at : event.wall_at + 8].view("<f8")[:, 0]
    return RecordBatch(
        rows, step_column(matrix, event.step_at, event.step_size), walls, tuple(scalars), tuple(payloads)
    )


def _columns(
    data: bytes, matrix: Octets2D, begins: Ints, items: list[event_fields.EventValue], dtype: str
) -> Floats:
    """Return the values of the given fields, [fields, n]."""
    if len(items) >= _MANY_COLUMNS:
        return unaligned(data, dtype)[np.array([item.at for item in items])[:, None] + begins]
    columns = [matrix[:, item.at : item.at + item.size].view(dtype)[:, 0] for item in items]
    values = np.empty((len(columns), len(matrix)), dtype)
    for block in cache_blocks(*matrix.shape):
        for value, column in zip(values, columns, strict=True):
            value[block] = column[block]
    return values
