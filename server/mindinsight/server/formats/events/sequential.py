"""Sequential decoder: records that fit no other decoder, field by field, and single long records."""

import struct
from dataclasses import dataclass
from typing import IO, Final, TypeAlias

import google_crc32c
import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE
from mindinsight.server.formats.events import decoder_results
from mindinsight.server.formats.events.event_fields import EXACT, ParsedEvent, Schema, tag_text
from mindinsight.server.formats.events.framing import Records, mask_crcs
from mindinsight.server.formats.file_bytes import FileBytes
from mindinsight.server.formats.read_limits import EVENT, UnreadableError
from mindinsight.server.formats.wire_format import Octets, UnparsableError
from mindinsight.server.types import Damage, Doubles, Ints, RunNote


@dataclass(frozen=True, slots=True)
class Facts:
    """Content of a section of an event file besides values."""

    damage: tuple[Damage, ...] = ()
    version: str = ""  # of the first record that has one
    closing: str | None = None  # error in the last closing record; empty after a normal end
    skipped: tuple[tuple[str, int], ...] = ()  # names and counts of values and events that are not read
    notes: tuple[RunNote, ...] = ()  # with the offsets of their records


def read_sequentially(
    data: Octets, starts: Ints, sizes: Ints, rows: Ints, schema: Schema
) -> tuple[list[decoder_results.RecordBatch], Facts]:
    """Parse the records ``rows`` one by one, and return their values and facts. Records that are not valid
    events become damage."""
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
    remarks = Facts(tuple(damage), tag_text(version), closing, tuple(sorted(counts.items())), tuple(notes))
    return ([_part(data, events)] if events else []), remarks


def _part(data: Octets, events: dict[int, ParsedEvent]) -> decoder_results.RecordBatch:
    """Return the values of parsed events by tag."""
    names: dict[str, int] = {}
    values = [
        (row, item.kind, names.setdefault(tag_text(item.tag), len(names)), item.at, item.size)
        for row, event in events.items()
        for item in event.values
    ]
    records = (
        np.array(list(events), np.int64),
        np.array([event.step for event in events.values()], np.int64),
        np.array([event.wall for event in events.values()], np.float64),
    )
    if not values:
        return decoder_results.RecordBatch(*records)
    rows, kinds, tags, offsets, sizes = np.array(values, np.int64).reshape(-1, 5).T
    codes = kinds.astype(np.uint8)
    numbers = _numbers(data, codes, offsets.tolist())
    stated = [item.number for event in events.values() for item in event.values]
    for index, number in enumerate(stated):
        if number is not None:
            numbers[index] = number
    table = decoder_results.ValueTable(rows, codes, tags, offsets, sizes, numbers)
    return decoder_results.RecordBatch(*records, *decoder_results.group_by_tag(table, list(names)))


def _numbers(data: Octets, codes: npt.NDArray[np.uint8], offsets: list[int]) -> Doubles:
    """Return the scalars at ``offsets``, with 0 for values of other kinds."""
    scalar = codes <= EXACT
    words = [data[at : at + 8] if read else bytes(8) for at, read in zip(offsets, scalar, strict=True)]
    return decoder_results.read_numbers(b"".join(words), codes, 8 * np.arange(len(words)))


_CHECKED: Final = 1 << 22  # bytes in memory while the checksum is computed
_MAX_ZEROS: Final = 1 << 26  # bytes searched for the end of allocated space
_CRC: Final = struct.Struct("<I")
_EMPTY: Final = np.empty(0, np.int64)

LongRecord: TypeAlias = tuple[Records, list[decoder_results.RecordBatch], Facts]


def read_long_record(file: IO[bytes], offset: int, size: int, schema: Schema) -> LongRecord | None:
    """Return the record of ``size`` payload bytes at ``offset``, its batches and its facts, or None if the
    record is not written yet. A record that cannot be read is damage in the result.

    The file held the whole record when it was checked. It is not written if its checksum and all following
    bytes are zero, because that space is allocated and not written yet, or if the file became shorter.
    """
    framed = HEADER_SIZE + size + FOOTER_SIZE
    file.seek(offset + HEADER_SIZE)
    crc = _crc(file, size)
    footer = file.read(FOOTER_SIZE)
    if footer != _CRC.pack(mask_crcs(np.array([crc], np.uint32))[0]):
        if not any(footer) and _is_zero_to_end(file):
            return None
        damage = (Damage(offset, framed, "damage.body_crc"),)
        return Records(_EMPTY, _EMPTY, damage, offset + framed), [], Facts()
    record = Records(np.array([offset]), np.array([size]), (), offset + framed)
    try:
        batches, remarks = read_sequentially(
            FileBytes(file, EVENT), record.starts, record.sizes, np.array([0]), schema
        )
    except UnreadableError:
        return record, [], Facts((Damage(offset, framed, "damage.many_values"),))
    except EOFError:  # cut short meanwhile
        return None
    return record, batches, remarks


def _is_zero_to_end(file: IO[bytes]) -> bool:
    """Return True if only zeros follow. Return False after ``_MAX_ZEROS`` bytes of zeros."""
    for _ in range(_MAX_ZEROS // _CHECKED):
        block = file.read(_CHECKED)
        if block.count(0) < len(block) or not block:
            return not block
    return False


def _crc(file: IO[bytes], size: int) -> int:
    """Return the CRC-32C of the next ``size`` bytes."""
    crc = 0
    while size and (piece := file.read(min(size, _CHECKED))):
        crc = google_crc32c.extend(crc, piece)
        size -= len(piece)
    return crc
