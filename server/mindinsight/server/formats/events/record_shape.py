"""Shape of a record: everything in its payload but the data, as a mask over its bytes.

Records of one shape have one length and differ only at known offsets, so many of them are a matrix of bytes,
in which wall time, step and every value are columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import unpack_from
from typing import Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.event_message import Entry, ParsedEvent
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
_SEVEN: Final = np.uint64(0x7F)
_STEP_BITS: Final = 0x80  # of the bytes of a step: whether the number goes on


@dataclass(frozen=True, slots=True)
class RecordShape:
    """Shape of records, and one event that has it."""

    event: ParsedEvent  # with offsets from the start of its payload
    mask: npt.NDArray[np.uint8]  # [size] which bits are the same in all records of the shape
    fixed: npt.NDArray[np.uint8]  # [size] these bits


def record_shape(payload: bytes, schema: Schema) -> RecordShape | None:
    """The shape of a record, or None when reading its like as a matrix would be wrong or slow."""
    event = _plain_event(payload, schema.scalar_key)
    if event is None:
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


def _plain_event(payload: bytes, scalar_key: int) -> ParsedEvent | None:
    """A wall time, a step and float32 scalars, written in this order; None for any other event."""
    try:
        if payload[0] != EVENT_WALL:
            return None
        event = ParsedEvent(unpack_from("<d", payload, 1)[0], wall_at=1)
        at = _AFTER_WALL
        if payload[at] == EVENT_STEP:
            step, after = read_varint(payload, at + 1, len(payload))
            event.step, event.step_at, event.step_size = signed(step), at + 1, after - at - 1
            at = after
        length, first = read_varint(payload, at + 1, len(payload))
        if payload[at] != EVENT_SUMMARY or first + length != len(payload):
            return None
        event.entries += _plain_entries(payload, first, scalar_key)
    except (IndexError, ValueError, UnparsableError):
        return None
    event.free = [(1, 8), *((entry.at, entry.size) for entry in event.entries)]
    return event


def _plain_entries(payload: bytes, at: int, scalar_key: int) -> Iterator[Entry]:
    """The float32 scalars from ``at`` to the end. Raises ValueError or IndexError for any other value."""
    while at < len(payload):
        size = payload[at + 3]
        end = at + 4 + size
        if size + 7 >= _LEAST or payload[at : at + 3] != bytes((SUMMARY_VALUE, size + 7, VALUE_TAG)):
            raise ValueError("not written the usual way")
        if payload[end] != scalar_key or end + 5 > len(payload):
            raise ValueError("not a scalar")
        yield Entry(SCALAR, payload[at + 4 : end], end + 1, 4)
        at = end + 5


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
