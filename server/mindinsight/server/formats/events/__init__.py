"""Decoder of event files: one section of a file as columns.

The records of a training loop repeat: the same tags and the same lengths, step after step. After the
checksums of all records have been verified (framing.py), four decoders run in turn, and each takes the
records it reads fastest. They are rounds of records (rounds.py), frequent shapes read as matrices of bytes
(record_shapes.py), records of many shapes read column by column (columnar.py), and the remaining records
field by field (sequential.py). A long record is read in blocks, and its payloads are skipped.

Damaged bytes are skipped and listed. The reason is a key of the locale files:

- ``damage.body_crc``: a record whose payload does not match its checksum
- ``damage.unparsable``: a record with correct checksums that is not an event
- ``damage.many_values``: a long record with more fields than the limit of an event
- ``damage.length_crc``: from a length that does not match its checksum to the next valid header
- ``damage.length``: the same, after a length that no record can have
- ``damage.zeros``: only zeros where a record should begin
- ``damage.noise``: no record up to the end of the section
"""

import errno
import os
from contextlib import nullcontext
from dataclasses import replace

from mindinsight.proto.framing import HEADER_SIZE
from mindinsight.server.files.opener import opened, read_at
from mindinsight.server.formats.events.columnar import read_columnar
from mindinsight.server.formats.events.decoder_results import RecordBatch, assemble, event_times
from mindinsight.server.formats.events.event_fields import MINDSPORE, Schema
from mindinsight.server.formats.events.framing import FRAME_SIZE, Records, payload_size, verified_records
from mindinsight.server.formats.events.record_shapes import read_shapes
from mindinsight.server.formats.events.rounds import read_rounds
from mindinsight.server.formats.events.sequential import Facts, read_long_record, read_sequentially
from mindinsight.server.formats.read_limits import EVENT
from mindinsight.server.types import Damage, DecodedSection

__all__ = ["decode", "read_section"]


def read_section(path: str | int, offset: int, size: int, schema: Schema = MINDSPORE) -> DecodedSection:
    """Read the whole records in ``size`` bytes from ``offset``, where a record begins. Raises OSError if the
    file cannot be read.

    ``path`` may be an open descriptor, which stays open. A record longer than ``size`` is read to its end if
    the file holds all of it. Memory use is a small multiple of ``size`` or of the limit of an event.
    """
    with nullcontext(path) if isinstance(path, int) else opened(path) as descriptor:
        file_end = os.fstat(descriptor).st_size
        data = read_at(descriptor, offset, max(size, HEADER_SIZE))
        if data[:HEADER_SIZE] == bytes(HEADER_SIZE):
            hole = _end_of_hole(descriptor, offset, file_end) - offset
            if hole == file_end - offset:  # allocated, and not written yet
                return DecodedSection(offset, hole, 0)
            if hole > len(data):
                skipped = Damage(offset, hole - HEADER_SIZE + 1, "damage.zeros")
                return DecodedSection(offset + skipped.size, 0, 0, damage=(skipped,))
        promised = payload_size(data[:HEADER_SIZE]) if len(data) >= HEADER_SIZE else None
        missing = 0 if promised is None else promised + FRAME_SIZE - len(data)
        if missing > file_end - offset - len(data):
            return DecodedSection(offset, max(file_end - offset, len(data)), 0)
        if missing > 0 and promised is not None and promised > EVENT.size:
            return _read_long(descriptor, offset, promised, schema)
        if missing > 0:
            data += read_at(descriptor, offset + len(data), missing)
    return decode(data, offset, offset + len(data) >= file_end, schema)


def _end_of_hole(descriptor: int, offset: int, file_end: int) -> int:
    """Return the offset from `offset` on where a file has bytes on disk: `offset` itself if that is
    unknown."""
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA)
    except OSError as error:
        return file_end if error.errno == errno.ENXIO else offset
    except AttributeError:  # Windows
        return offset


def _read_long(descriptor: int, offset: int, size: int, schema: Schema) -> DecodedSection:
    """Read the record of ``size`` payload bytes at ``offset``. The file holds all of it."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        record = read_long_record(file, offset, size, schema)
    if record is None:
        return DecodedSection(offset, os.fstat(descriptor).st_size - offset, 0)
    return _build_section(*record, 0, 0, schema)


def decode(
    data: bytes | memoryview, base_offset: int, at_end: bool, schema: Schema = MINDSPORE
) -> DecodedSection:
    """Decode the whole records of ``data``, which begins at ``base_offset`` of a file, and may be its end.
    It begins with a record. With ``at_end`` the file ends with ``data``, and an incomplete record at the
    end is counted in ``pending``."""
    data = bytes(data)
    records = verified_records(data, at_end, schema)
    rounds = read_rounds(data, records.starts, records.sizes, schema, records.rounds)
    rows = rounds.left
    if rounds.begun and not at_end:  # the next section begins with a whole round
        records, rows = records.without_last(rounds.begun), rows[: -rounds.begun]
    starts, sizes = records.starts, records.sizes
    shaped, rows = read_shapes(data, starts, sizes, rows, schema)
    mixed, rows = read_columnar(data, starts, sizes, rows, schema)
    others, remarks = read_sequentially(data, starts, sizes, rows, schema)
    return _build_section(
        records,
        rounds.batches + shaped + mixed + others,
        remarks,
        base_offset,
        len(data) - records.end if at_end else 0,
        schema,
    )


def _build_section(
    records: Records,
    batches: list[RecordBatch],
    remarks: Facts,
    base_offset: int,
    pending: int,
    schema: Schema,
) -> DecodedSection:
    """Return the decoded section for ``records``. Their offsets are relative to ``base_offset``."""
    blocks, rows, references = assemble(records.starts, batches, base_offset, schema.tensor_kinds)
    first_event, last_event = event_times(batches)
    damage = sorted(records.damage + remarks.damage, key=lambda region: region.offset)
    return DecodedSection(
        next_offset=base_offset + records.end,
        pending=pending,
        records=len(records.starts),
        blocks=blocks,
        rows=rows,
        references=references,
        damage=tuple(replace(region, offset=region.offset + base_offset) for region in damage),
        version=remarks.version,
        closing=remarks.closing,
        skipped=remarks.skipped,
        notes=tuple(replace(note, offset=note.offset + base_offset) for note in remarks.notes),
        first_event=first_event,
        last_event=last_event,
    )
