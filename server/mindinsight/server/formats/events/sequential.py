"""Sequential decoder: records that fit no other decoder, field by field."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE
from mindinsight.server.formats.events.chunk import Entries, RecordBatch, by_tag, numbers_at
from mindinsight.server.formats.events.event_message import ParsedEvent
from mindinsight.server.formats.events.fields import EXACT, tag_text
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.formats.wire_format import Octets, UnparsableError
from mindinsight.server.types import Damage, Doubles, Ints, RunNote


@dataclass(frozen=True, slots=True)
class Remarks:
    """Facts about a stretch besides its values."""

    damage: tuple[Damage, ...] = ()
    version: str = ""  # of the first record that has one
    closing: str | None = None  # error in the last closing record; empty when closed in order
    skipped: tuple[tuple[str, int], ...] = ()
    notes: tuple[RunNote, ...] = ()  # offsets are those of the records


def read_sequentially(
    data: Octets, starts: Ints, sizes: Ints, rows: Ints, schema: Schema
) -> tuple[list[RecordBatch], Remarks]:
    """The records ``rows``; those that are no events become damage."""
    events: dict[int, ParsedEvent] = {}
    damage = []
    for row in rows.tolist():
        at, size = int(starts[row]), int(sizes[row])
        try:
            events[row] = schema.parse(data, at + HEADER_SIZE, at + HEADER_SIZE + size)
        except UnparsableError:
            damage.append(Damage(at, HEADER_SIZE + size + FOOTER_SIZE, "damage.unparsable"))
    version = next((event.version for event in events.values() if event.version), b"")
    closings = [event.closing for event in events.values() if event.closing is not None]
    counts: dict[str, int] = {}
    for name in (name for event in events.values() for name in event.skipped):
        counts[name] = counts.get(name, 0) + 1
    closing = tag_text(closings[-1]) if closings else None
    notes = [
        RunNote(name, int(starts[row]), text) for row, event in events.items() for name, text in event.notes
    ]
    remarks = Remarks(tuple(damage), tag_text(version), closing, tuple(sorted(counts.items())), tuple(notes))
    return ([_part(data, events)] if events else []), remarks


def _part(data: Octets, events: dict[int, ParsedEvent]) -> RecordBatch:
    names: dict[str, int] = {}
    values = [
        (row, entry.kind, names.setdefault(tag_text(entry.tag), len(names)), entry.at, entry.size)
        for row, event in events.items()
        for entry in event.entries
    ]
    records = (
        np.array(list(events), np.int64),
        np.array([event.step for event in events.values()], np.int64),
        np.array([event.wall for event in events.values()], np.float64),
    )
    if not values:
        return RecordBatch(*records)
    rows, kinds, tags, offsets, sizes = np.array(values, np.int64).reshape(-1, 5).T
    codes = kinds.astype(np.uint8)
    numbers = _numbers(data, codes, offsets.tolist())
    stated = [entry.number for event in events.values() for entry in event.entries]
    for index, number in enumerate(stated):
        if number is not None:
            numbers[index] = number
    entries = Entries(rows, codes, tags, offsets, sizes, numbers)
    return RecordBatch(*records, *by_tag(entries, list(names)))


def _numbers(data: Octets, codes: npt.NDArray[np.uint8], offsets: list[int]) -> Doubles:
    """The numbers of scalars at ``offsets``, behind which come a record's checksum or more; others are 0."""
    scalar = codes <= EXACT
    words = [data[at : at + 8] if read else bytes(8) for at, read in zip(offsets, scalar, strict=True)]
    return numbers_at(b"".join(words), codes, 8 * np.arange(len(words)))
