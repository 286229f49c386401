"""Round decoder: a few records that follow each other again and again, read as one matrix.

TensorBoard's writers put each scalar into a record of its own, so a step of k tags is k records, and the next
step the same ones with other numbers. Such a round is a row of the matrix; wall time, step and value of each
of its records are columns. Tags of a round that have the same steps and wall times are one piece, which holds
both once. A writer that puts all scalars of a step into one record makes rounds of one record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.chunk import RecordBatch, Scalars
from mindinsight.server.formats.events.event_message import ParsedEvent
from mindinsight.server.formats.events.fields import EXACT, SCALAR, tag_text
from mindinsight.server.formats.events.record_shape import (
    WIDE,
    RecordShape,
    is_like,
    record_shape,
    step_column,
)
from mindinsight.server.formats.events.rounds.known_rounds import FEWEST, KnownRounds, learn
from mindinsight.server.formats.events.rounds.model import CACHED, Round, joined
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.types import Ints

_LONGEST: Final = 256  # records of a round
_WORD: Final = 8  # bytes
_MISSES: Final = 4  # records in a row at which no round begins; after them the rest is read another way
_DTYPES: Final = {SCALAR: "<f4", EXACT: "<f8"}


@dataclass(frozen=True, slots=True)
class RoundRecords:
    """What was read in rounds, and what was not."""

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
    """The records in frequent rounds; ``starts`` and ``sizes`` tell where all records lie.

    ``known`` are rounds that were found already.
    """
    batches: list[RecordBatch] = []
    left = np.ones(len(starts), np.bool_)
    row = misses = taken = begun = 0
    by_row = {rounds.row: rounds for rounds in known}
    wide = len(starts) and int(sizes.mean()) >= WIDE  # left to shapes.py
    while not wide and len(starts) - row >= FEWEST and misses < _MISSES + taken // FEWEST:
        model: Round | None
        if row in by_row:
            _, model, count = by_row[row]
            skipped = 0
        else:
            row, skipped, model = _next_round(data, starts, sizes, row, schema)
            count = 0 if model is None else _count(data, starts[row:], model)
        if model is None or count * len(model.shapes) < FEWEST:
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
    """First record of the round at ``row`` or at the next step, how many to skip else, and its model."""
    model, skipped = _round_at(data, starts, sizes, row, schema)
    behind = 0 if model is None else _next_step(data, starts[row:], model)
    if behind:
        model, skipped = _round_at(data, starts, sizes, row + behind, schema)
    return row + behind, skipped, model


def _round_at(data: bytes, starts: Ints, sizes: Ints, row: int, schema: Schema) -> tuple[Round | None, int]:
    """The round that begins with record ``row``: up to the next record with a tag that was before.

    The second result says how many records further on to look next when this round is not frequent: where
    that tag was before, as rounds may begin there.
    """
    shapes: list[RecordShape] = []
    records: dict[bytes, int] = {}
    end = min(row + _LONGEST + 1, len(starts))
    if end - row > _LONGEST and not _recurs(data, starts[row:end], sizes[row:end], schema):
        return None, 1
    spans = zip((starts[row:end] + HEADER_SIZE).tolist(), sizes[row:end].tolist(), strict=True)
    for number, (at, size) in enumerate(spans):
        payload = data[at : at + size]
        if shapes and is_like(payload, shapes[0]):
            return joined(tuple(shapes)), number
        shape = record_shape(payload, schema)
        if shape is None or not all(entry.kind in _DTYPES for entry in shape.event.entries):
            return None, number + 1
        tags = [entry.tag for entry in shape.event.entries]
        again = [records[tag] for tag in tags if tag in records]
        if again:
            return joined(tuple(shapes)), again[0] or number
        records.update(dict.fromkeys(tags, number))
        shapes.append(shape)
    return None, 1


def _recurs(data: bytes, starts: Ints, sizes: Ints, schema: Schema) -> bool:
    """Whether the last of some records has the shape of one before it, as it has in rounds."""
    places = np.flatnonzero(sizes == sizes[-1])
    payloads = [data[at + HEADER_SIZE : at + HEADER_SIZE + int(sizes[-1])] for at in starts[places].tolist()]
    shape = record_shape(payloads.pop(), schema)
    return shape is None or any(is_like(payload, shape) for payload in payloads)


def _next_step(data: bytes, starts: Ints, model: Round) -> int:
    """The first record of a round with another step than the one before it; 0 when there is none."""
    steps = [
        shape.step_of(data[at + HEADER_SIZE : at + HEADER_SIZE + len(shape.mask)])
        for shape, at in zip(model.shapes, starts[: len(model.shapes)].tolist(), strict=True)
    ]
    return next((number for number in range(1, len(steps)) if steps[number] != steps[number - 1]), 0)


def _count(data: bytes, starts: Ints, model: Round) -> int:
    """How many rounds follow each other at the first of ``starts``."""
    every = starts[:: len(model.shapes)]
    most, begin = len(starts) // len(model.shapes), int(starts[0])
    evenly = every[:most] == np.arange(begin, begin + most * model.stride, model.stride)
    agreeing = most if evenly.all() else int(evenly.argmin())
    return _whole(starts, model.count(data, begin, min(agreeing, (len(data) - begin) // model.stride)), model)


def _whole(starts: Ints, rounds: int, model: Round) -> int:
    """``rounds``, or one less when not every record of the last one is right."""
    if not rounds:
        return 0
    last = starts[(rounds - 1) * len(model.shapes) : rounds * len(model.shapes)]
    return rounds if (last - last[0] + HEADER_SIZE == model.begins).all() else rounds - 1


def _batch(data: bytes, start: int, row: int, count: int, model: Round) -> RecordBatch:
    """The records of ``count`` rounds, the first of which is record ``row`` at ``start``.

    Records with the same steps and wall times are given as the first of them.
    """
    entries = [
        (number, entry, begin + entry.at)
        for number, (shape, begin) in enumerate(zip(model.shapes, model.begins, strict=True))
        for entry in shape.event.entries
    ]
    axes = _Axes(data, start, model, count)
    columns = [
        np.ndarray((count,), _DTYPES[entry.kind], data, start + at, (model.stride,))
        for _, entry, at in entries
    ]
    values: list[npt.NDArray[Any]] = [np.empty_like(column) for column in columns]
    for block in _blocks(count, model.stride):
        axes.read(block)
        for value, column in zip(values, columns, strict=True):
            value[block] = column[block]
    firsts = axes.firsts()
    pieces: dict[tuple[int, str], list[int]] = {}
    for index, (number, _, _) in enumerate(entries):
        pieces.setdefault((firsts[number], values[index].dtype.str), []).append(index)
    length = len(model.shapes)
    rows = {number: row + number + length * np.arange(count) for number in dict.fromkeys(firsts)}
    scalars = tuple(
        Scalars(
            tuple(tag_text(entries[index][1].tag) for index in indices),
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


def _blocks(count: int, stride: int) -> Iterator[slice]:
    rows = max(CACHED // stride, 1)
    for first in range(0, count, rows):
        yield slice(first, first + rows)


def _words(event: ParsedEvent) -> list[int]:
    """Where the words of eight bytes begin in which the wall time, and then the step, lie.

    A word that ends with the step has bytes before it, too, which are the same in all records.
    """
    walls = [event.wall_at] if event.wall_at >= 0 else []
    if not event.step_size:
        return walls
    long = [event.step_at] if event.step_size > _WORD else []
    return [*walls, *long, event.step_at + event.step_size - _WORD]


class _Axes:
    """Steps and wall times of the records of a round, a column for each record.

    A column that is equal to that of the first record is not written as long as it is.
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
        """Take over the columns from the rounds ``block``."""
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
        """[records of a round] the first record that has the same steps and wall times."""
        firsts: list[int] = []
        for number, alike in enumerate(self._alike):
            others = [] if alike else [first for first in dict.fromkeys(firsts) if first]
            same = (first for first in others if self._is_same(first, number))
            firsts.append(0 if alike else next(same, number))
        return firsts

    def _is_same(self, first: int, second: int) -> bool:
        walls, steps = self.walls.view(np.int64), self.steps
        if walls[first, 0] != walls[second, 0] or steps[first, 0] != steps[second, 0]:
            return False
        return bool((walls[first] == walls[second]).all() and (steps[first] == steps[second]).all())
