"""Columnar decoder of records of many shapes: in each step the next value of every record is located.

For records whose shape does not repeat often enough to be a matrix: tags that come and go, payloads of
ever new lengths. What is not written the usual way (fields in order of number, nothing unknown) is left to
the sequential decoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.formats.events.chunk import (
    NO_ENTRIES,
    Entries,
    RecordBatch,
    Scalars,
    by_tag,
    choose,
    join_columns,
)
from mindinsight.server.formats.events.fields import EVENT_STEP, EVENT_SUMMARY, EVENT_WALL
from mindinsight.server.formats.events.prefixes import read_prefixes
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.formats.events.tags import TagNumbers
from mindinsight.server.formats.events.value_columns import (
    LOOK_AHEAD,
    ValueSpans,
    next_value_spans,
    read_values,
)
from mindinsight.server.formats.wire_format import unaligned, varints
from mindinsight.server.types import Doubles, Ints

_FEWEST: Final = 16  # records for which a step in numpy costs less than as many values in Python
_SHORT: Final = 20_000  # bytes; fewer records than that are read to their end if it is near
_CHUNK: Final = 1 << 14  # records, and values, read at a time: the columns stay in the processor's cache


@dataclass(frozen=True, slots=True)
class _Heads:
    """What comes before the values in each record."""

    fits: npt.NDArray[np.bool_]
    walls: Doubles
    steps: Ints
    values: Ints  # offset of the first value


def read_columnar(
    data: bytes, starts: Ints, sizes: Ints, rows: Ints, schema: Schema
) -> tuple[list[RecordBatch], Ints]:
    """Those of the records ``rows`` that are written in the usual way, and the numbers of all others."""
    begins = starts[rows] + HEADER_SIZE
    ends = begins + sizes[rows]
    inside = np.flatnonzero(ends + LOOK_AHEAD <= len(data))
    if len(inside) < _FEWEST:
        return [], rows
    begins, ends, numbers = begins[inside], ends[inside], rows[inside]
    heads = _heads(data, begins, ends)
    tags = TagNumbers(len(data) // 16)  # bytes a tagged value takes, about
    steps, prefixes = [NO_ENTRIES], []
    fitting = np.flatnonzero(heads.fits)
    for chunk in np.split(fitting, range(_CHUNK, len(fitting), _CHUNK)):
        pieces, at = read_prefixes(data, chunk, heads.values[chunk], ends[chunk], schema.scalar_key)
        prefixes += pieces
        steps += _values(data, heads, at, ends, chunk, tags, schema)
    entries, good = join_columns(steps), heads.fits
    if not good[entries.rows].all():
        entries = choose(entries, good[entries.rows])
    tagged = by_tag(replace(entries, rows=numbers[entries.rows]), tags.names)
    common = tuple(_only(piece, good, numbers) for piece in prefixes)
    part = RecordBatch(
        numbers[good],
        heads.steps[good],
        heads.walls[good],
        common + tagged.scalars,
        tagged.payloads,
        tagged.lone,
    )
    return [part], np.setdiff1d(rows, part.rows, assume_unique=True)


def _only(piece: Scalars, good: npt.NDArray[np.bool_], numbers: Ints) -> Scalars:
    """The rows of ``piece`` that are good, by the numbers they have in the whole piece of the file."""
    chosen = good[piece.rows]
    if chosen.all():
        return replace(piece, rows=numbers[piece.rows])
    return Scalars(piece.tags, numbers[piece.rows[chosen]], piece.values[:, chosen])


def _values(
    data: bytes, heads: _Heads, at: Ints, ends: Ints, rows: Ints, tags: TagNumbers, schema: Schema
) -> Iterator[Entries]:
    """The values of the records ``rows`` from ``at`` on; marks the records that do not fit."""
    waiting: list[ValueSpans] = []
    count = 0
    rows, at = rows[at < ends[rows]], at[at < ends[rows]]
    while len(rows) >= _FEWEST or (len(rows) and int((ends[rows] - at).max()) < _SHORT):
        spans = next_value_spans(data, rows, at)
        inside = spans.ends <= ends[rows]
        if not inside.all():
            heads.fits[rows[~inside]] = False
            spans = choose(spans, inside)
        waiting.append(spans)
        count += len(spans.rows)
        if count >= _CHUNK:
            yield _read(data, heads, waiting, tags, schema)
            waiting, count = [], 0
        going = spans.ends < ends[spans.rows]
        rows, at = spans.rows[going], spans.ends[going]
    heads.fits[rows] = False
    if waiting:
        yield _read(data, heads, waiting, tags, schema)


def _read(data: bytes, heads: _Heads, spans: list[ValueSpans], tags: TagNumbers, schema: Schema) -> Entries:
    entries = read_values(data, join_columns(spans) if len(spans) > 1 else spans[0], tags, schema)
    if entries.kinds.all():
        return entries
    heads.fits[entries.rows[entries.kinds == 0]] = False
    return choose(entries, entries.kinds != 0)


def _heads(data: bytes, at: Ints, ends: Ints) -> _Heads:
    octets, last = np.frombuffer(data, np.uint8), len(data) - 1
    fits = (ends - at >= 11) & (octets[at] == EVENT_WALL)
    walls = unaligned(data, "<f8")[at + 1].astype(np.float64)
    at = at + 9
    has_step = octets[at] == EVENT_STEP
    steps, after = varints(octets, at + 1)
    steps[~has_step] = 0
    at = np.minimum(np.where(has_step, after, at), last)
    fits &= octets[at] == EVENT_SUMMARY
    length, values = varints(octets, np.minimum(at + 1, last))
    fits &= (values + length == ends) & (length >= 0)
    return _Heads(fits, walls, steps, values)
