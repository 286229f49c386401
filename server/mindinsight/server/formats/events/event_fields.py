"""Fields of an event: their keys, the wire schema by which decoders find values, and an exact parser."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.proto.kinds import EXACT_SCALAR, KINDS
from mindinsight.server.formats.wire_format import Octets, message_fields, read_varint, signed
from mindinsight.server.types import Kind

EVENT_WALL: Final = 1 << 3 | 1
EVENT_STEP: Final = 2 << 3
EVENT_VERSION: Final = 3 << 3 | 2
EVENT_SUMMARY: Final = 5 << 3 | 2
EVENT_EXPLAIN: Final = 6 << 3 | 2
EVENT_CLOSING: Final = 1002 << 3 | 2
CLOSING_ERROR: Final = 1 << 3 | 2
SUMMARY_VALUE: Final = 1 << 3 | 2
VALUE_TAG: Final = 1 << 3 | 2
VALUE_SCALAR: Final = 3 << 3 | 5
VALUE_EXACT: Final = EXACT_SCALAR << 3 | 1

# Codes of kinds in arrays; an exact scalar is a scalar whose float64 was recorded too.
SCALAR, EXACT = 1, 2
CODES: Final = {
    kind.name: EXACT + position
    for position, kind in enumerate((kind for kind in KINDS if kind.storage == "payload"), 1)
}
KIND_NAMES: Final = {code: name for name, code in CODES.items()}
EVENT_KINDS: Final = {kind.key: CODES[kind.name] for kind in KINDS if kind.message == "Event"}
VALUE_KINDS: Final = {
    VALUE_SCALAR: SCALAR,
    **{
        kind.key: CODES[kind.name]
        for kind in KINDS
        if kind.number and kind.name in CODES and kind.message == "Summary.Value"
    },
}


def tag_text(tag: bytes) -> str:
    r"""A tag as text; bytes that are not UTF-8 appear as ``\xff``, which every encoder and page can show."""
    return tag.decode("utf-8", "backslashreplace")


_DOUBLE: Final = struct.Struct("<d")
_CONTENTS: Final = (EVENT_VERSION, EVENT_SUMMARY, EVENT_EXPLAIN, EVENT_CLOSING, *EVENT_KINDS)
_MOST_ERROR: Final = 1000  # bytes of the error in a closing record


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of an event; ``at`` and ``size`` say where its number or its payload message lies."""

    kind: int
    tag: bytes
    at: int
    size: int
    number: float | None = None  # of a scalar that is not stored as a float where ``at`` says


@dataclass(slots=True)
class ParsedEvent:
    """What one record holds. ``free`` are the (offset, size) of all bytes that are data and not shape."""

    wall: float = 0.0
    step: int = 0
    wall_at: int = -1
    step_at: int = -1
    step_size: int = 0
    version: bytes = b""
    closing: bytes | None = None  # the error of a closing record
    entries: list[Entry] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[tuple[str, bytes]] = field(default_factory=list)  # facts about the run, by name
    free: list[tuple[int, int]] = field(default_factory=list)


# Reads the field of a key, data[start:stop], into an event.
ReadContent: TypeAlias = Callable[[ParsedEvent, Octets, int, int, int], None]


def parse_event(data: Octets, at: int, end: int) -> ParsedEvent:
    """The event in ``data[at:end]``. Raises UnparsableError."""
    event, holds = parse_fields(data, at, end, _CONTENTS, _read_content)
    if not holds:
        event.skipped.append("unknown")
    return event


def parse_fields(
    data: Octets, at: int, end: int, contents: Collection[int], read: ReadContent
) -> tuple[ParsedEvent, bool]:
    """Parse wall time and step of the event in ``data[at:end]``, and ``read`` its content.

    ``contents`` are the keys of the fields of which an event has one: of several the last counts, as protobuf
    has it, but parts of one summary are one. Raises UnparsableError, also for fields replaced later: wrong
    bytes there make the rest doubtful.

    Returns:
        The event, and whether it has any content.
    """
    event = ParsedEvent()
    content: list[tuple[int, int, int]] = []
    replaced: list[tuple[int, int, int]] = []
    for key, start, stop in message_fields(data, at, end):
        if key == EVENT_WALL:
            event.wall_at, event.wall = start, _DOUBLE.unpack(data[start:stop])[0]
        elif key == EVENT_STEP:
            event.step_at, event.step_size = start, stop - start
            event.step = signed(read_varint(data, start, stop)[0])
        elif key in contents:
            goes_on = key == EVENT_SUMMARY and content and content[-1][0] == key  # parts of one message
            if not goes_on:
                replaced += content
                content = []
            content.append((key, start, stop))
    for key, start, stop in replaced:
        read(ParsedEvent(), data, key, start, stop)
    event.free += [(event.wall_at, 8)] if event.wall_at >= 0 else []
    for key, start, stop in content:
        read(event, data, key, start, stop)
    return event, bool(content)


def _read_content(event: ParsedEvent, data: Octets, key: int, start: int, stop: int) -> None:
    if key == EVENT_SUMMARY:
        for part, first, last in message_fields(data, start, stop):
            if part == SUMMARY_VALUE:
                _read_value(event, data, first, last)
    elif key in EVENT_KINDS:
        event.entries.append(Entry(EVENT_KINDS[key], b"", start, stop - start))
        event.free.append((start, stop - start))
    elif key == EVENT_VERSION:
        event.version = data[start:stop]
    elif key == EVENT_CLOSING:
        errors = [span for part, *span in message_fields(data, start, stop) if part == CLOSING_ERROR]
        at, end = errors[-1] if errors else (start, start)
        event.closing = data[at : min(end, at + _MOST_ERROR)]
    else:
        event.skipped.append("explain")


def _read_value(event: ParsedEvent, data: Octets, at: int, end: int) -> None:
    tag, value, exact = b"", None, None
    for key, start, stop in message_fields(data, at, end):
        if key == VALUE_TAG:
            tag = data[start:stop]
        elif key in VALUE_KINDS:
            value = (VALUE_KINDS[key], start, stop)
        elif key == VALUE_EXACT:
            exact = (EXACT, start, stop)
    if exact and (value is None or value[0] == SCALAR):
        if value:
            event.free.append((value[1], 4))
        value = exact
    if value is None:
        event.skipped.append("unknown")
        return
    kind, start, stop = value
    event.entries.append(Entry(kind, tag, start, stop - start))
    event.free.append((start, stop - start))


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """What MindSpore's events and those of TensorBoard differ in; framing and layout are the same."""

    parse: Callable[[Octets, int, int], ParsedEvent]
    scalar_key: int  # of the float32 in Summary.Value
    exact_key: int  # of the float64 beside it; 0 when there is none
    payload_codes: npt.NDArray[np.uint8]  # [256] code of the kind by field key in Summary.Value
    tensor_kinds: tuple[Kind, ...] = ()  # what the first event of a tag may say its tensors to be
    whole: tuple[int, ...] = ()  # codes of kinds whose payload is the whole Summary.Value


def payload_codes(kinds: dict[int, int]) -> npt.NDArray[np.uint8]:
    """Lookup table from the codes of kinds by field key; keys of two bytes are left out."""
    return np.array([kinds.get(key, 0) for key in range(256)], np.uint8)


MINDSPORE: Final = Schema(
    parse=parse_event,
    scalar_key=VALUE_SCALAR,
    exact_key=VALUE_EXACT,
    payload_codes=payload_codes({key: code for key, code in VALUE_KINDS.items() if key != VALUE_SCALAR}),
)
