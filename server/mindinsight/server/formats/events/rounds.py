"""Round decoder: records that repeat in the same order, read as one row of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, masked_crc
from mindinsight.server.formats.events.decoder_results import RecordBatch, Scalars
from mindinsight.server.formats.events.event_fields import EXACT, SCALAR, ParsedEvent, Schema, tag_text
from mindinsight.server.formats.events.record_shapes import (
    CACHED,
    WIDE,
    RecordShape,
    cache_blocks,
    is_like,
    record_shape,
    step_column,
)
from mindinsight.server.types import Ints

_WIDE: Final = 1 << 11  # bytes compared at once, at least; a row joins several short rounds
_WORD: Final = 8  # bytes compared as one number, several times faster than single bytes
_HEADER_MASK: Final = np.full(HEADER_SIZE, 0xFF, np.uint8)
_FOOTER_MASK: Final = np.zeros(FOOTER_SIZE, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Layout of the records of one round. Offsets count from the first header."""

    shapes: tuple[RecordShape, ...]
    begins: tuple[int, ...]  # of the payloads
    stride: int  # bytes
    several: int  # rounds that are compared as one row, of whole words
    mask: npt.NDArray[np.uint8]  # [several * stride] which bits are the same in all rounds
    fixed: npt.NDArray[np.uint8]  # [several * stride] these bits

    def starts(self, at: int, count: int) -> Ints:
        """Return the starts of the records of ``count`` rounds from ``at`` on."""
        heads = np.array(self.begins, np.int64) - HEADER_SIZE
        return (at + self.stride * np.arange(count)[:, None] + heads).ravel()

    def count(self, data: bytes, start: int, most: int) -> int:
        """Return how many of at most ``most`` rounds from ``start`` on match headers and tags."""
        batch = max(CACHED // (self.several * self.stride), 1) * self.several
        for first in range(0, most, batch):
            tried = min(batch, most - first)
            agreeing = self._alike(data, start + first * self.stride, tried)
            if agreeing < tried:
                return first + agreeing
        return most

    def _alike(self, data: bytes, start: int, rounds: int) -> int:
        """Return how many of ``rounds`` from ``start`` on match, up to the first that does not."""
        octets = np.frombuffer(data, np.uint8, rounds * self.stride, start)
        row = self.several * self.stride
        at = len(octets) - len(octets) % row
        words = octets[:at].reshape(-1, row).view(np.uint64)
        same = (words & self.mask.view(np.uint64)) == self.fixed.view(np.uint64)
        if not same.all():
            at = int(same.argmin()) * _WORD // row * row
        last = octets[at : at + row]
        alike = (last & self.mask[: len(last)]) == self.fixed[: len(last)]
        return rounds if alike.all() else (at + int(alike.argmin())) // self.stride


@lru_cache(maxsize=64)  # shapes are the same objects in all files that record the same tags
def joined(shapes: tuple[RecordShape, ...]) -> Round:
    """Return the round of records of these shapes. Cached for all files that record the same tags."""
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
    columns = [np.tile(np.concatenate(arrays), several) for arrays in (masks, fixed)]
    return Round(shapes, tuple(begins), at, several, *columns)


MIN_RECORDS: Final = 64  # records in rounds that pay for the set-up
_MAX_KNOWN: Final = 4  # known rounds per header of the first record


class KnownRounds(NamedTuple):
    """Run of ``repeats`` consecutive rounds with the same layout, starting at record ``row``."""

    row: int  # number of their first record
    model: Round
    repeats: int


def learn(data: bytes, start: int, model: Round, schema: Schema) -> None:
    """Remember a round that occurred frequently at ``start``."""
    models = _models(data[start : start + HEADER_SIZE], schema)
    if model not in models:
        models.insert(0, model)
        del models[_MAX_KNOWN:]


def find(data: bytes, at: int, row: int, schema: Schema) -> KnownRounds | None:
    """Return the known rounds that begin at ``at`` with record ``row``, or None.

    All records of the first round must have one step, because a round does not begin in the middle of a step.
    """
    for model in _models(data[at : at + HEADER_SIZE], schema):
        length, most = len(model.shapes), (len(data) - at) // model.stride
        if most * length < MIN_RECORDS or not model.count(data, at, 1) or not _has_one_step(data, at, model):
            continue
        count = model.count(data, at, most)
        if count * length >= MIN_RECORDS:
            return KnownRounds(row, model, count)
    return None


def _has_one_step(data: bytes, at: int, model: Round) -> bool:
    """Return True if all records of the round at ``at`` have the same step."""
    steps = {
        data[at + begin + shape.event.step_at : at + begin + shape.event.step_at + shape.event.step_size]
        for begin, shape in zip(model.begins, model.shapes, strict=True)
    }
    return len(steps) == 1


@lru_cache(maxsize=1 << 8)
def _models(header: bytes, schema: Schema) -> list[Round]:
    """Return the cached list of rounds that begin with this record header, newest first.

    Callers change it.
    """
    return []


_MAX_ROUND: Final = 256  # records of a round
_MISSES: Final = 4  # consecutive failed attempts after which the rest is left to the next decoder
_DTYPES: Final = {SCALAR: "<f4", EXACT: "<f8"}


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
    """Decode the records in frequent rounds.

    ``starts`` and ``sizes`` are the offsets and payload sizes of all records. ``known`` are rounds found
    while the records were scanned.
    """
    batches: list[RecordBatch] = []
    left = np.ones(len(starts), np.bool_)
    row = misses = taken = begun = 0
    by_row = {rounds.row: rounds for rounds in known}
    wide = len(starts) and int(sizes.mean()) >= WIDE  # record_shapes.py reads wide records
    while not wide and len(starts) - row >= MIN_RECORDS and misses < _MISSES + taken // MIN_RECORDS:
        model: Round | None
        if row in by_row:
            _, model, count = by_row[row]
            skipped = 0
        else:
            row, skipped, model = _next_round(data, starts, sizes, row, schema)
            count = 0 if model is None else _count(data, starts[row:], model)
        if model is None or count * len(model.shapes) < MIN_RECORDS:
            row, misses = row + skipped, misses + 1
            continue
        learn(data, int(starts[row]), model, schema)
        end = row + count * len(model.shapes)
        batches.append(_batch(data, int(starts[row]), row, count, model))
        left[row:end] = False
        row, taken = end, taken + end - row
        begun = len(starts) - row if len(starts) - row < len(model.shapes) else 0
    return RoundRecords(batches, np.flatnonzero(left), begun)


def _next_round(
    data: bytes, starts: Ints, sizes: Ints, row: int, schema: Schema
) -> tuple[int, int, Round | None]:
    """Find the round at ``row`` or at the next step.

    Returns its first record, how many records to skip if it is not frequent, and its layout or None.
    """
    model, skipped = _round_at(data, starts, sizes, row, schema)
    behind = 0 if model is None else _next_step(data, starts[row:], model)
    if behind:
        model, skipped = _round_at(data, starts, sizes, row + behind, schema)
    return row + behind, skipped, model


def _round_at(data: bytes, starts: Ints, sizes: Ints, row: int, schema: Schema) -> tuple[Round | None, int]:
    """Return the round that begins with record ``row`` and ends before the first repeated tag, or None.

    Also returns how many records to skip if this round is not frequent. That is the position of the repeated
    tag, because a round may begin there.
    """
    shapes: list[RecordShape] = []
    records: dict[bytes, int] = {}
    end = min(row + _MAX_ROUND + 1, len(starts))
    if end - row > _MAX_ROUND and not _recurs(data, starts[row:end], sizes[row:end], schema):
        return None, 1
    spans = zip((starts[row:end] + HEADER_SIZE).tolist(), sizes[row:end].tolist(), strict=True)
    for number, (at, size) in enumerate(spans):
        payload = data[at : at + size]
        if shapes and is_like(payload, shapes[0]):
            return joined(tuple(shapes)), number
        shape = record_shape(payload, schema)
        if shape is None or not all(item.kind in _DTYPES for item in shape.event.values):
            return None, number + 1
        tags = [item.tag for item in shape.event.values]
        again = [records[tag] for tag in tags if tag in records]
        if again:
            return joined(tuple(shapes)), again[0] or number
        records.update(dict.fromkeys(tags, number))
        shapes.append(shape)
    return None, 1


def _recurs(data: bytes, starts: Ints, sizes: Ints, schema: Schema) -> bool:
    """Return True if the last of the records has the shape of an earlier one, as in rounds."""
    places = np.flatnonzero(sizes == sizes[-1])
    payloads = [data[at + HEADER_SIZE : at + HEADER_SIZE + int(sizes[-1])] for at in starts[places].tolist()]
    shape = record_shape(payloads.pop(), schema)
    return shape is None or any(is_like(payload, shape) for payload in payloads)


def _next_step(data: bytes, starts: Ints, model: Round) -> int:
    """Return the first record of a round that starts a new step, or 0 if there is none."""
    steps = [
        shape.step_of(data[at + HEADER_SIZE : at + HEADER_SIZE + len(shape.mask)])
        for shape, at in zip(model.shapes, starts[: len(model.shapes)].tolist(), strict=True)
    ]
    return next((number for number in range(1, len(steps)) if steps[number] != steps[number - 1]), 0)


def _count(data: bytes, starts: Ints, model: Round) -> int:
    """Return how many consecutive rounds begin at the first of ``starts``."""
    every = starts[:: len(model.shapes)]
    most, begin = len(starts) // len(model.shapes), int(starts[0])
    evenly = every[:most] == np.arange(begin, begin + most * model.stride, model.stride)
    agreeing = most if evenly.all() else int(evenly.argmin())
    return _whole(starts, model.count(data, begin, min(agreeing, (len(data) - begin) // model.stride)), model)


def _whole(starts: Ints, rounds: int, model: Round) -> int:
    """Return ``rounds``, or one less if a record of the last round is not in place."""
    if not rounds:
        return 0
    last = starts[(rounds - 1) * len(model.shapes) : rounds * len(model.shapes)]
    return rounds if (last - last[0] + HEADER_SIZE == model.begins).all() else rounds - 1


def _batch(data: bytes, start: int, row: int, count: int, model: Round) -> RecordBatch:
    """Decode ``count`` rounds, the first of which is record ``row`` at ``start``.

    Scalars of records with equal steps and wall times refer to the first such record.
    """
    items = [
        (number, item, begin + item.at)
        for number, (shape, begin) in enumerate(zip(model.shapes, model.begins, strict=True))
        for item in shape.event.values
    ]
    axes = _Axes(data, start, model, count)
    columns = [
        np.ndarray((count,), _DTYPES[item.kind], data, start + at, (model.stride,)) for _, item, at in items
    ]
    values: list[npt.NDArray[Any]] = [np.empty_like(column) for column in columns]
    for block in cache_blocks(count, model.stride):
        axes.read(block)
        for value, column in zip(values, columns, strict=True):
            value[block] = column[block]
    firsts = axes.firsts()
    pieces: dict[tuple[int, str], list[int]] = {}
    for index, (number, _, _) in enumerate(items):
        pieces.setdefault((firsts[number], values[index].dtype.str), []).append(index)
    length = len(model.shapes)
    rows = {number: row + number + length * np.arange(count) for number in dict.fromkeys(firsts)}
    scalars = tuple(
        Scalars(
            tuple(tag_text(items[index][1].tag) for index in indices),
            rows[number],
            np.stack([values[index] for index in indices]),
        )
        for (number, _), indices in pieces.items()
    )
    return RecordBatch(
        np.concatenate([*rows.values()]),
        np.concatenate([axes.steps[number] for number in rows]),
        np.concatenate([axes.walls[number] for number in rows]),
        scalars,
    )


def _words(event: ParsedEvent) -> list[int]:
    """Return the offsets of the 8-byte words that hold the wall time and the step.

    The word that ends with the step also covers bytes before it, which are the same in all records.
    """
    walls = [event.wall_at] if event.wall_at >= 0 else []
    if not event.step_size:
        return walls
    long = [event.step_at] if event.step_size > _WORD else []
    return [*walls, *long, event.step_at + event.step_size - _WORD]


class _Axes:
    """Columns of steps and wall times of the records of a round.

    A column is written only after it differs from the column of the first record.
    """

    def __init__(self, data: bytes, start: int, model: Round, count: int) -> None:
        self._events = [shape.event for shape in model.shapes]
        self._alike = [event.step_size == self._events[0].step_size for event in self._events]  # so far
        self._octets = np.ndarray((count, model.stride), np.uint8, data, start)
        self._begins = model.begins
        self._words = [
            [np.ndarray((count,), "<i8", data, start + begin + at, (model.stride,)) for at in _words(event)]
            for event, begin in zip(self._events, model.begins, strict=True)
        ]
        self.steps = np.zeros((len(model.shapes), count), np.int64)
        self.walls = np.zeros((len(model.shapes), count))

    def read(self, block: slice) -> None:
        """Read the steps and wall times of the rounds ``block``."""
        first = [words[block].tobytes() for words in self._words[0]]
        for number, (event, columns) in enumerate(zip(self._events, self._words, strict=True)):
            if number and self._alike[number]:
                if [words[block].tobytes() for words in columns] == first:
                    continue
                self._alike[number] = False
                self.steps[number, : block.start] = self.steps[0, : block.start]
                self.walls[number, : block.start] = self.walls[0, : block.start]
            if event.wall_at >= 0:
                self.walls[number, block] = columns[0][block].view(np.float64)
            if event.step_size:
                octets = self._octets[block, self._begins[number] + event.step_at :]
                self.steps[number, block] = step_column(octets, 0, event.step_size)

    def firsts(self) -> list[int]:
        """Return for each record of a round the first record with the same steps and wall times."""
        firsts: list[int] = []
        for number, alike in enumerate(self._alike):
            others = [] if alike else [first for first in dict.fromkeys(firsts) if first]
            same = (first for first in others if self._is_same(first, number))
            firsts.append(0 if alike else next(same, number))
        return firsts

    def _is_same(self, first: int, second: int) -> bool:
        """Return True if two records have the same steps and wall times in all rounds."""
        walls, steps = self.walls.view(np.int64), self.steps
        if walls[first, 0] != walls[second, 0] or steps[first, 0] != steps[second, 0]:
            return False
        return bool((walls[first] == walls[second]).all() and (steps[first] == steps[second]).all())
