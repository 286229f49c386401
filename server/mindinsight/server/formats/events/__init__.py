"""Decoder of event files: a stretch of one as columns.

The records of a training loop repeat: the same tags, the same lengths, step after step. Four decoders
follow each other, each taking what it is fast at: records that follow each other in rounds (rounds.py) and
others of frequent shapes (shapes.py) as matrices of bytes, records of ever new shapes column by column
(columnar.py), and the few that remain field by field (sequential.py). Before that the checksums of every
record are verified (records.py). A long record is read in blocks, and its payloads are passed over
(long_record.py).

What is damaged is skipped and listed, with a reason that is a key of the locale files:

- ``damage.body_crc``: a record whose payload has not its checksum
- ``damage.unparsable``: a record whose checksums are right and which is no event
- ``damage.many_values``: a long record with more fields than the budget of an event has
- ``damage.length_crc``: from a record whose length has not its checksum to the next header that has
- ``damage.length``: the same, after a length that no record can have
- ``damage.zeros``: only zeros, where a record should begin
- ``damage.noise``: no record from there to the end of the stretch
"""

from __future__ import annotations

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
from mindinsight.server.formats.events.sequential import Remarks, read_long_record, read_sequentially
from mindinsight.server.formats.read_limits import EVENT
from mindinsight.server.types import Stretch

__all__ = ["decode", "read_stretch"]


def read_stretch(path: str | int, offset: int, size: int, schema: Schema = MINDSPORE) -> Stretch:
    """Reads the whole records in ``size`` bytes from ``offset``, where a record begins.

    ``path`` may be an open descriptor, which stays open: of a file whose name may lead elsewhere by now.
    Only whole records are read; one that is longer than ``size`` is read to its end when the file has it all.
    Memory is a small multiple of ``size`` or of the budget of an event. Raises OSError when the file cannot
    be read.
    """
    with nullcontext(path) if isinstance(path, int) else opened(path) as descriptor:
        file_end = os.fstat(descriptor).st_size
        data = read_at(descriptor, offset, max(size, HEADER_SIZE))
        promised = payload_size(data[:HEADER_SIZE]) if len(data) >= HEADER_SIZE else None
        missing = 0 if promised is None else promised + FRAME_SIZE - len(data)
        if missing > file_end - offset - len(data):
            return Stretch(offset, max(file_end - offset, len(data)), 0)
        if missing > 0 and promised is not None and promised > EVENT.size:
            return _read_long(descriptor, offset, promised, schema)
        if missing > 0:
            data += read_at(descriptor, offset + len(data), missing)
    return decode(data, offset, offset + len(data) >= file_end, schema)


def _read_long(descriptor: int, offset: int, size: int, schema: Schema) -> Stretch:
    """The record of ``size`` payload bytes at ``offset``, which the file holds to its end."""
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        record = read_long_record(file, offset, size, schema)
    if record is None:
        return Stretch(offset, os.fstat(descriptor).st_size - offset, 0)
    return _stretch(*record, offset, 0, schema)


def decode(data: bytes | memoryview, base_offset: int, at_end: bool, schema: Schema = MINDSPORE) -> Stretch:
    """Decodes the whole records of ``data``, which begins with a record at ``base_offset`` of its file.

    ``at_end`` says that the file ends with ``data``; what has begun there and is not whole is ``pending``.
    """
    data = bytes(data)
    records = verified_records(data, at_end, schema)
    rounds = read_rounds(data, records.starts, records.sizes, schema, records.rounds)
    rows = rounds.left
    if rounds.begun and not at_end:  # the next stretch begins with a whole round
        records, rows = records.without_last(rounds.begun), rows[: -rounds.begun]
    starts, sizes = records.starts, records.sizes
    shaped, rows = read_shapes(data, starts, sizes, rows, schema)
    mixed, rows = read_columnar(data, starts, sizes, rows, schema)
    others, remarks = read_sequentially(data, starts, sizes, rows, schema)
    return _stretch(
        records,
        rounds.batches + shaped + mixed + others,
        remarks,
        base_offset,
        len(data) - records.end if at_end else 0,
        schema,
    )


def _stretch(
    records: Records,
    batches: list[RecordBatch],
    remarks: Remarks,
    base_offset: int,
    pending: int,
    schema: Schema,
) -> Stretch:
    """What was read from ``records``, whose offsets count from ``base_offset``."""
    assembly = assemble(records.starts, batches, base_offset, schema.tensor_kinds)
    first_event, last_event = event_times(batches)
    damage = sorted(records.damage + remarks.damage, key=lambda region: region.offset)
    return Stretch(
        next_offset=base_offset + records.end,
        pending=pending,
        records=len(records.starts),
        blocks=assembly.blocks,
        rows=assembly.rows,
        references=assembly.references,
        damage=tuple(replace(region, offset=region.offset + base_offset) for region in damage),
        version=remarks.version,
        closing=remarks.closing,
        skipped=remarks.skipped,
        notes=tuple(replace(note, offset=note.offset + base_offset) for note in remarks.notes),
        first_event=first_event,
        last_event=last_event,
    )
