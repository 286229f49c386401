"""Decoder of event files in which a training repeats the same records in each step.

The records of one step, a few or thousands, become one row of a table of columns.
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, masked_crc
from mindinsight.server.formats.events import record_shapes
from mindinsight.server.formats.events.columnar import read_layout
from mindinsight.server.formats.events.decoder_results import RaggedScalars, RecordBatch, Scalars
from mindinsight.server.formats.events.event_fields import EXACT, SCALAR, ParsedEvent, Schema, tag_text
from mindinsight.server.formats.wire_format import unaligned
from mindinsight.server.types import Ints

_WIDE: Final = 1 << 11  # bytes compared at once, at least; a row joins several short rounds
_WORD: Final = 8  # bytes compared as one number, several times faster than single bytes
_SEVEN: Final = np.uint64(0x7F)
_EIGHT: Final = np.uint64(8)
_HEADER_MASK: Final = np.full(HEADER_SIZE, 0xFF, np.uint8)
_FOOTER_MASK: Final = np.zeros(FOOTER_SIZE, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Layout of the n records with k scalars that a training writes in every step (a round).

    Offsets count from the first header.
    """

    begins: Ints  # [n] of the payloads
    walls: Ints  # [n] offsets of the wall times
    step_ends: Ints  # [n] offsets after the steps
    step_sizes: Ints  # [n] bytes of the steps, at most eight
    tags: tuple[str, ...]  # [k]
    records: Ints  # [k] record of each scalar
    numbers: Ints  # [k] offset of each scalar
    exact: npt.NDArray[np.bool_]  # [k] whether the scalar is a float64
    stride: int  # bytes
    several: int  # rounds that are compared as one row
    mask: npt.NDArray[np.uint8]  # [several * stride] which bits are the same in all rounds
    fixed: npt.NDArray[np.uint8]  # [several * stride] these bits

    def starts(self, at: int, count: int) -> Ints:
        """Return the starts of the records of ``count`` rounds from ``at`` on."""
        return (at + self.stride * np.arange(count)[:, None] + self.begins - HEADER_SIZE).ravel()

    def columns(self, data: bytes, start: int, count: int, offsets: Ints, dtype: str) -> npt.NDArray[Any]:
        """Return the numbers at ``offsets`` [m] in each of ``count`` rounds from ``start`` on, [m, count]."""
        numbers = np.empty((len(offsets), count), dtype)
        if len(offsets) > count:
            begins = start + self.stride * np.arange(count)
            for block in record_shapes.cache_blocks(count, self.stride):
                numbers[:, block] = unaligned(data, dtype)[offsets[:, None] + begins[block]]
            return numbers
        begins_at = (start + offsets).tolist()
        columns = [np.ndarray((count,), dtype, data, first, (self.stride,)) for first in begins_at]
        for block in record_shapes.cache_blocks(count, self.stride):
            for row, column in zip(numbers, columns, strict=True):
                row[block] = column[block]
        return numbers

    def steps(self, words: npt.NDArray[np.uint64], records: Ints) -> Ints:
        """Return the steps of ``records`` [m] in each of ``count`` rounds, [m, count]. ``words`` [n, count]
        are the eight bytes before the end of each step's varint."""
        sizes = self.step_sizes[records]
        bits = words[records] >> (64 - 8 * sizes[:, None]).astype(np.uint64)  # by 64 bits: zero in NumPy
        steps = bits & _SEVEN
        for index in range(1, int(sizes.max())):
            bits >>= _EIGHT
            steps |= (bits & _SEVEN) << np.uint64(7 * index)
        return steps.view(np.int64)

    def first_steps(self, data: bytes, start: int) -> Ints:
        """Return the steps of the records of the round at ``start``, [n]."""
        words = self.columns(data, start, 1, self.step_ends - _WORD, "<u8")
        return self.steps(words, np.arange(len(words)))[:, 0]

    def count(self, data: bytes, start: int, most: int) -> int:
        """Return how many consecutive rounds from ``start`` on have this layout, at most ``most``."""
        batch = max(record_shapes.CACHED // (self.several * self.stride), 1) * self.several
        for first in range(0, most, batch):
            tried = min(batch, most - first)
            agreeing = self._alike(data, start + first * self.stride, tried)
            if agreeing < tried:
                return first + agreeing
        return most

    def _alike(self, data: bytes, start: int, rounds: int) -> int:
        """Return how many of the first ``rounds`` from ``start`` on have this layout, up to the first other
        one."""
        octets = np.frombuffer(data, np.uint8, rounds * self.stride, start)
        row = self.several * self.stride
        at = len(octets) - len(octets) % row
        kind = np.dtype(np.uint8 if row % _WORD else np.uint64)
        words = octets[:at].reshape(-1, row).view(kind)
        same = (words & self.mask.view(kind)) == self.fixed.view(kind)
        if not same.all():
            at = int(same.argmin()) * kind.itemsize // row * row
        last = octets[at : at + row]
        alike = (last & self.mask[: len(last)]) == self.fixed[: len(last)]
        return rounds if alike.all() else (at + int(alike.argmin())) // self.stride


@lru_cache(maxsize=64)  # shapes are the same objects in all files that record the same tags
def joined(shapes: tuple[record_shapes.RecordShape, ...]) -> Round:
    """Return the round whose records have these shapes. Cached for all files that record the same tags."""
    masks, fixed, begins, at = [], [], [], 0
    for shape in shapes:
        masks += [_HEADER_MASK, shape.mask, _FOOTER_MASK]
        length = len(shape.mask).to_bytes(HEADER_SIZE - 4, "little")
        header = length + masked_crc(length).to_bytes(4, "little")
        fixed += [np.frombuffer(header, np.uint8), shape.fixed, _FOOTER_MASK]
        begins.append(at + HEADER_SIZE)
        at += HEADER_SIZE + len(shape.mask) + FOOTER_SIZE
    unit = _WORD // math.gcd(_WORD, at)
    several = math.ceil(_WIDE / at / unit) * unit
    events = [shape.event for shape in shapes]
    values = [(number, item) for number, event in enumerate(events) for item in event.values]
    return Round(
        np.array(begins),
        np.array([begin + event.wall_at for begin, event in zip(begins, events, strict=True)]),
        np.array([begin + _step_end(event) for begin, event in zip(begins, events, strict=True)]),
        np.array([event.step_size for event in events]),
        tuple(tag_text(item.tag) for _, item in values),
        np.array([number for number, _ in values], np.int64),
        np.array([begins[number] + item.at for number, item in values], np.int64),
        np.array([item.kind == EXACT for _, item in values], np.bool_),
        at,
        several,
        np.tile(np.concatenate(masks), several),
        np.tile(np.concatenate(fixed), several),
    )


def _step_end(event: ParsedEvent) -> int:
    """Return the offset after the step, or after the wall time of an event without a step."""
    return event.step_at + event.step_size if event.step_size else event.wall_at + _WORD


_SINGLE: Final = 6  # bytes of the float32 before an exact scalar, and of the key between them
_MAX_STRIDE: Final = 1 << 21  # bytes of a round of many records


def many_records(data: bytes, starts: Ints, sizes: Ints, row: int, schema: Schema) -> Round | None:
    """Return the layout of a round of very many records that begins with record ``row``, or None. The
    round ends before its first tag occurs again. Its records are decoded as columns, because they are too
    many to parse one by one."""
    begin, size = int(starts[row]) + HEADER_SIZE, int(sizes[row])
    shape = record_shapes.record_shape(data[begin : begin + size], schema)
    if shape is None or not shape.event.values or not _is_plain(shape.event):
        return None
    first = shape.event.values[0]
    key = data[begin + _step_end(shape.event) : begin + first.at - (_SINGLE if first.kind == EXACT else 0)]
    position = data.find(key, begin + size, begin + size + _MAX_STRIDE)
    end = int(np.searchsorted(starts, position, side="right")) - 1
    if position < 0 or (np.diff(starts[row : end + 1]) != sizes[row:end] + HEADER_SIZE + FOOTER_SIZE).any():
        return None
    begins = starts[row:end] + HEADER_SIZE
    layout = read_layout(data, begins, begins + sizes[row:end], schema)
    if layout is None:
        return None
    heads, table, tags = layout
    origin, stride = int(starts[row]), int(starts[end] - starts[row])
    mask = np.full(stride, 0xFF, np.uint8)
    exact, step_sizes = (
        table.kinds == EXACT,
        np.maximum(heads.step_ends - begins - record_shapes.AFTER_WALL - 1, 0),
    )
    for offsets, width in (
        (begins + sizes[row:end], FOOTER_SIZE),
        (begins + 1, _WORD),
        (table.offsets[~exact], 4),
        (table.offsets[exact], 8),
        (table.offsets[exact] - _SINGLE, 4),
    ):
        mask[(offsets - origin)[:, None] + np.arange(width)] = 0
    for width in np.unique(step_sizes).tolist():
        ends = heads.step_ends[step_sizes == width] - origin
        mask[ends[:, None] - np.arange(1, width + 1)] = record_shapes.STEP_BITS
    octets = np.frombuffer(data, np.uint8, stride, origin)
    return Round(
        begins - origin,
        begins - origin + 1,
        heads.step_ends - origin,
        step_sizes,
        tuple(tags[number] for number in table.tags.tolist()),
        table.rows,
        table.offsets - origin,
        exact,
        stride,
        1,
        mask,
        octets & mask,
    )


MIN_RECORDS: Final = 64  # records in rounds that pay for the set-up
_MAX_KNOWN: Final = 4  # known rounds per header of the first record, and known large rounds
_LARGE: Final = 1 << 16  # bytes of a large round, which takes several times as many


class KnownRounds(NamedTuple):
    """Sequence of ``repeats`` consecutive rounds (records of one step) of the same layout, from record
    ``row`` on."""

    row: int  # number of their first record
    model: Round
    repeats: int


def learn(data: bytes, start: int, model: Round, schema: Schema) -> None:
    """Add the layout of a frequent round, which begins at ``start``, to those known in this process."""
    large = model.stride >= _LARGE
    models = _large_models(schema) if large else _models(data[start : start + HEADER_SIZE], schema)
    if model not in models:
        models.insert(0, model)
        del models[_MAX_KNOWN:]


def find(data: bytes, at: int, row: int, schema: Schema) -> KnownRounds | None:
    """Return the rounds of a known layout that begin at ``at`` with record ``row``, or None. All records
    of the first round must have one step, because a round does not begin in the middle of a step."""
    header = data[at : at + HEADER_SIZE]
    large = (model for model in _large_models(schema) if model.fixed[:HEADER_SIZE].tobytes() == header)
    for model in (*_models(header, schema), *large):
        length, most = len(model.begins), (len(data) - at) // model.stride
        if most * length < MIN_RECORDS:
            continue
        count = model.count(data, at, most)
        if count * length >= MIN_RECORDS and _has_one_step(data, at, model):
            return KnownRounds(row, model, count)
    return None


def _has_one_step(data: bytes, at: int, model: Round) -> bool:
    """Return True if all records of the round at ``at`` have the same step."""
    if len(model.begins) == 1:
        return True
    ends, sizes = (at + model.step_ends).tolist(), model.step_sizes.tolist()
    return len({data[end - size : end] for end, size in zip(ends, sizes, strict=True)}) == 1


@lru_cache(maxsize=1 << 8)
def _models(header: bytes, schema: Schema) -> list[Round]:
    """Return the cached list of rounds that begin with this record header, newest first. Callers change
    it."""
    return []


@cache
def _large_models(schema: Schema) -> list[Round]:
    """Return the cached list of large rounds, newest first. Callers change it."""
    return []


_MAX_ROUND: Final = 256  # records of a round
_MISSES: Final = 4  # consecutive failed attempts after which the rest is left to the next decoder
_MANY: Final = 64  # axes of a round from which ragged columns are faster than one object for each


@dataclass(frozen=True, slots=True)
class RoundRecords:
    """Result of the round decoder: the records read, and those left over."""

    batches: list[RecordBatch]
    left: Ints  # numbers of the records that are in no round
    begun: int  # records at the end that begin a round which is not whole


def read_rounds(
    data: bytes,
    starts: Ints,
    sizes: Ints,
    schema: Schema,
    known: Iterable[KnownRounds] = (),
) -> RoundRecords:
    """Decode the records in frequent rounds, and return them and the records left over. Add the layouts of
    the rounds to those known in this process. ``starts`` and ``sizes`` are the offsets and payload sizes
    of all records. ``known`` are rounds found while the records were scanned."""
    batches: list[RecordBatch] = []
    left = np.ones(len(starts), np.bool_)
    row = misses = taken = begun = 0
    waiting = deque(known)
    # records that are wide on average are left to record_shapes.py
    wide = len(starts) and int(sizes.sum()) >= record_shapes.WIDE * len(starts)
    while (
        not (wide or begun) and misses < _MISSES + taken // MIN_RECORDS and len(starts) - row >= MIN_RECORDS
    ):
        model: Round | None
        while waiting and waiting[0].row < row:
            waiting.popleft()
        if waiting and waiting[0].row - row < MIN_RECORDS:
            (row, model, count), skipped = waiting.popleft(), 0
        else:
            row, skipped, model = _next_round(data, starts, sizes, row, schema)
            count = 0 if model is None else _count(data, starts[row:], model)
        if model is None or count * len(model.begins) < MIN_RECORDS:
            row, misses = row + skipped, misses + 1
            continue
        learn(data, int(starts[row]), model, schema)
        end = row + count * len(model.begins)
        batches.append(_batch(data, int(starts[row]), row, count, model))
        left[row:end] = False
        row, taken = end, taken + min(end - row, MIN_RECORDS * count)
        begun = len(starts) - row if len(starts) - row < len(model.begins) else 0
    return RoundRecords(batches, np.flatnonzero(left), begun)


def _next_round(
    data: bytes, starts: Ints, sizes: Ints, row: int, schema: Schema
) -> tuple[int, int, Round | None]:
    """Find a round at ``row`` or, if that is within a step, at the beginning of the next step. Return the
    number of its first record, how many records to skip if it is not frequent, and its layout or None."""
    model, skipped = _round_at(data, starts, sizes, row, schema)
    behind = 0 if model is None else _next_step(data, starts[row:], model)
    if behind:
        model, skipped = _round_at(data, starts, sizes, row + behind, schema)
    return row + behind, skipped, model


def _round_at(data: bytes, starts: Ints, sizes: Ints, row: int, schema: Schema) -> tuple[Round | None, int]:
    """Return the round that begins with record ``row`` and ends before the first repeated tag, or None.
    Also returns how many records to skip if this round is not frequent. That is the position of the
    repeated tag, because a round may begin there."""
    shapes: list[record_shapes.RecordShape] = []
    records: dict[bytes, int] = {}
    end = min(row + _MAX_ROUND + 1, len(starts))
    if end - row > _MAX_ROUND and not _recurs(data, starts[row:end], sizes[row:end], schema):
        return many_records(data, starts, sizes, row, schema), 1
    spans = zip((starts[row:end] + HEADER_SIZE).tolist(), sizes[row:end].tolist(), strict=True)
    for number, (at, size) in enumerate(spans):
        payload = data[at : at + size]
        if shapes and record_shapes.is_like(payload, shapes[0]):
            return joined(tuple(shapes)), number
        shape = record_shapes.record_shape(payload, schema)
        if shape is None or not _is_plain(shape.event):
            return None, number + 1
        tags = [item.tag for item in shape.event.values]
        again = [records[tag] for tag in tags if tag in records]
        if again:
            return joined(tuple(shapes)), again[0] or number
        records.update(dict.fromkeys(tags, number))
        shapes.append(shape)
    return None, 1


def _recurs(data: bytes, starts: Ints, sizes: Ints, schema: Schema) -> bool:
    """Return True if the last record has the shape of an earlier one, as if rounds had repeated."""
    places = np.flatnonzero(sizes == sizes[-1])
    payloads = [data[at + HEADER_SIZE : at + HEADER_SIZE + int(sizes[-1])] for at in starts[places].tolist()]
    shape = record_shapes.record_shape(payloads.pop(), schema)
    return shape is None or any(record_shapes.is_like(payload, shape) for payload in payloads)


def _is_plain(event: ParsedEvent) -> bool:
    """Return True if an event has a wall time, a step of at most eight bytes, and scalars only."""
    kinds = {item.kind for item in event.values}
    return event.wall_at >= 0 and event.step_size <= _WORD and kinds <= {SCALAR, EXACT}


def _next_step(data: bytes, starts: Ints, model: Round) -> int:
    """Return the index of the first record in a round whose step differs from the one before, or 0 if none
    does."""
    if not _whole(starts, 1, model):
        return 0
    changes = np.flatnonzero(np.diff(model.first_steps(data, int(starts[0]))))
    return int(changes[0]) + 1 if len(changes) else 0


def _count(data: bytes, starts: Ints, model: Round) -> int:
    """Return how many consecutive rounds of the layout ``model`` begin at the first of ``starts``."""
    every = starts[:: len(model.begins)]
    most, begin = len(starts) // len(model.begins), int(starts[0])
    evenly = every[:most] == np.arange(begin, begin + most * model.stride, model.stride)
    agreeing = most if evenly.all() else int(evenly.argmin())
    return _whole(starts, model.count(data, begin, min(agreeing, (len(data) - begin) // model.stride)), model)


def _whole(starts: Ints, rounds: int, model: Round) -> int:
    """Return ``rounds``, or one less if the last round is not complete."""
    if not rounds:
        return 0
    last = starts[(rounds - 1) * len(model.begins) : rounds * len(model.begins)]
    return rounds if (last - last[0] + HEADER_SIZE == model.begins).all() else rounds - 1


def _batch(data: bytes, start: int, row: int, count: int, model: Round) -> RecordBatch:
    """Decode ``count`` rounds, the first of which is record ``row`` at ``start``. Scalars of records with
    equal steps and wall times refer to the first such record."""
    length = len(model.begins)
    words = model.columns(data, start, count, model.step_ends - _WORD, "<u8")
    walls = model.columns(data, start, count, model.walls, "<f8")
    homes = _homes(model.step_sizes, words, walls.view(np.uint64))
    firsts = np.flatnonzero(homes == np.arange(length))
    rows = row + np.arange(length)[:, None] + length * np.arange(count)
    values = [
        (chosen, model.columns(data, start, count, model.numbers[chosen], dtype))
        for chosen, dtype in ((~model.exact, "<f4"), (model.exact, "<f8"))
        if chosen.any()
    ]
    scalars, ragged = [], []
    for chosen, numbers in values:
        tags, home = [*compress(model.tags, chosen)], homes[model.records[chosen]]
        if len(firsts) >= _MANY:
            counts = np.full(len(tags), count)
            ragged.append(RaggedScalars(tuple(tags), counts, rows[home].ravel(), numbers.ravel()))
            continue
        for first in np.unique(home).tolist():
            mine = home == first
            scalars.append(
                Scalars(tuple(compress(tags, mine)), rows[first], numbers if mine.all() else numbers[mine])
            )
    axes = (rows[firsts].ravel(), model.steps(words, firsts).ravel(), walls[firsts].ravel())
    return RecordBatch(*axes, tuple(scalars), (), tuple(ragged))


def _homes(step_sizes: Ints, words: npt.NDArray[Any], walls: npt.NDArray[Any]) -> Ints:
    """Return [n], for each record of a round, the first record with equal steps and wall times in all
    rounds."""
    if (step_sizes == step_sizes[0]).all() and (words == words[0]).all() and (walls == walls[0]).all():
        return np.zeros(len(words), np.int64)
    homes: dict[tuple[int, bytes, bytes], int] = {}
    keys = zip(step_sizes.tolist(), words, walls, strict=True)
    axes = ((size, word.tobytes(), wall.tobytes()) for size, word, wall in keys)
    return np.array([homes.setdefault(axis, number) for number, axis in enumerate(axes)])
