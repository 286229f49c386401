"""Shape of a record: everything in its payload but the data, as a mask over its bytes.

Records of one shape have one length and differ only at known offsets, so many of them are a matrix of bytes,
in which wall time, step and every value are columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.event_message import ParsedEvent
from mindinsight.server.formats.events.fields import (
    EVENT_STEP,
    EVENT_SUMMARY,
    EVENT_WALL,
    EXACT,
    KIND_NAMES,
    SCALAR,
    SUMMARY_VALUE,
    VALUE_TAG,
    tag_text,
)
from mindinsight.server.formats.events.schema import Schema
from mindinsight.server.formats.wire_format import UnparsableError, read_varint, signed
from mindinsight.server.types import Ints

Octets2D = npt.NDArray[np.uint8]

_AFTER_WALL: Final = 9  # bytes of a wall time and its key
_LEAST: Final = 0x80  # of a byte of a varint that another one follows
_ZEROS: Final = bytes(4)
_SEVEN: Final = np.uint64(0x7F)
WIDE: Final = 1 << 13  # bytes of a record that holds so many values that few such records are worth a shape
_WIDEST: Final = 1 << 20  # bytes of a record whose shape is kept, which takes several times as many
_MOST_WIDE: Final = 2  # shapes kept of wide records of one size
_STEP_BITS: Final = 0x80  # of the bytes of a step: whether the number goes on


@dataclass(frozen=True, slots=True, eq=False)
class RecordShape:
    """Shape of records, and the event of one that has it, or of zeros in its place."""

    event: ParsedEvent  # with offsets from the start of its payload
    mask: npt.NDArray[np.uint8]  # [size] which bits are the same in all records of the shape
    fixed: npt.NDArray[np.uint8]  # [size] these bits

    def step_of(self, payload: bytes) -> int:
        """The step of a record of this shape."""
        at, size = self.event.step_at, self.event.step_size
        return signed(read_varint(payload, at, at + size)[0]) if size else 0


def record_shape(payload: bytes, schema: Schema) -> RecordShape | None:
    """The shape of a record, or None when reading its like as a matrix would be wrong or slow."""
    if len(payload) >= WIDE:
        return _wide_shape(payload, schema)
    plain = _without_data(payload, schema.scalar_key)
    if plain is not None:
        return _plain_shape(plain, schema)
    return _parsed_shape(payload, schema)


@lru_cache(maxsize=1 << 12)  # the runs of a base directory record the same tags
def _plain_shape(payload: bytes, schema: Schema) -> RecordShape | None:
    return _parsed_shape(payload, schema)


def _wide_shape(payload: bytes, schema: Schema) -> RecordShape | None:
    """The shape of a wide record, which is parsed once: its like is known by comparing bytes."""
    shape = known_shape(payload, schema)
    if shape is not None:
        return shape
    shape = _parsed_shape(payload, schema)
    if shape is not None and len(payload) <= _WIDEST:
        known = _wide_shapes(len(payload), schema)
        known.insert(0, shape)
        del known[_MOST_WIDE:]
    return shape


def known_shape(payload: bytes, schema: Schema) -> RecordShape | None:
    """The shape of a wide record if another one had it."""
    return next((shape for shape in _wide_shapes(len(payload), schema) if is_like(payload, shape)), None)


@lru_cache(maxsize=1 << 2)
def _wide_shapes(size: int, schema: Schema) -> list[RecordShape]:
    """Shapes of wide records of ``size`` bytes, the newest first."""
    return []


def _parsed_shape(payload: bytes, schema: Schema) -> RecordShape | None:
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
    mask[max(event.step_at, 0) : max(event.step_at, 0) + event.step_size] = _STEP_BITS
    return RecordShape(event, mask, np.frombuffer(payload, np.uint8) & mask)


def _is_regular(event: ParsedEvent, size: int) -> bool:
    """Whether an event of ``size`` bytes holds nothing but different values, most of it not in payloads."""
    if event.version or event.skipped or event.notes or event.closing is not None:
        return False
    if any(entry.number is not None for entry in event.entries):
        return False
    names = {(entry.kind in (SCALAR, EXACT) or entry.kind, tag_text(entry.tag)) for entry in event.entries}
    in_payloads = sum(entry.size for entry in event.entries if entry.kind in KIND_NAMES)
    return len(names) == len(event.entries) and 2 * in_payloads <= size


def _without_data(payload: bytes, scalar_key: int) -> bytes | None:
    """A record of a wall time, a step and float32 scalars, in this order, with zeros for the data.

    None for any other record. Bytes of a step keep the bit that says whether the number goes on.
    """
    octets, last = bytearray(payload), len(payload)
    try:
        if octets[0] != EVENT_WALL:
            return None
        octets[1:_AFTER_WALL] = bytes(_AFTER_WALL - 1)
        at = _AFTER_WALL
        if octets[at] == EVENT_STEP:
            at += 1
            while octets[at] >= _LEAST:
                octets[at] = _LEAST
                at += 1
            octets[at] = 0
            at += 1
        if octets[at] != EVENT_SUMMARY:
            return None
        length, at = read_varint(payload, at + 1, last)
        if at + length != last:
            return None
        while at < last:
            size = octets[at + 3]
            if size + 7 >= _LEAST or octets[at : at + 3] != bytes((SUMMARY_VALUE, size + 7, VALUE_TAG)):
                return None
            at += size + 9
            if octets[at - 5] != scalar_key or at > last:
                return None
            octets[at - 4 : at] = _ZEROS
    except (IndexError, UnparsableError):
        return None
    return bytes(octets)


def is_like(payload: bytes, shape: RecordShape) -> bool:
    """Whether a record has a shape."""
    if len(payload) != len(shape.mask):
        return False
    return bool(((np.frombuffer(payload, np.uint8) & shape.mask) == shape.fixed).all())


def step_column(matrix: Octets2D, at: int, size: int) -> Ints:
    """[n] varints of one width from the columns ``at`` on: seven bits of each byte, lowest first."""
    steps = np.zeros(len(matrix), np.uint64)
    for index in range(size):
        bits = matrix[:, at + index].astype(np.uint64)
        bits &= _SEVEN
        bits <<= np.uint64(7 * index)
        steps |= bits
    return steps.view(np.int64)
