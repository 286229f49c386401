"""Fields of an event: their keys, the wire schema by which decoders find values, and an exact parser."""

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

# Codes of kinds in arrays. An exact scalar is a scalar that was recorded as float64 too.
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
    r"""Return a tag as text. Bytes that are not UTF-8 appear as ``\xff``, which any encoder accepts."""
    return tag.decode("utf-8", "backslashreplace")


_DOUBLE: Final = struct.Struct("<d")
_CONTENTS: Final = (EVENT_VERSION, EVENT_SUMMARY, EVENT_EXPLAIN, EVENT_CLOSING, *EVENT_KINDS)
_MAX_ERROR: Final = 1000  # bytes that are kept of the error in a closing record


@dataclass(frozen=True, slots=True)
class EventValue:
    """One value of an event: its kind (a code), its tag, and where its content lies.

    ``at`` and ``size`` are the span of its number or payload message.
    """

    kind: int
    tag: bytes
    at: int
    size: int
    number: float | None = None  # of a scalar that is not stored as a float at ``at``


@dataclass(slots=True)
class ParsedEvent:
    """Content of one record: wall time and step with their offsets, and values or facts.

    ``free`` holds offset and size of all bytes that vary between like records.
    """

    wall: float = 0.0
    step: int = 0
    wall_at: int = -1
    step_at: int = -1
    step_size: int = 0
    version: bytes = b""
    closing: bytes | None = None  # error of a closing record
    values: list[EventValue] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    notes: list[tuple[str, bytes]] = field(default_factory=list)  # facts about the run, by name
    free: list[tuple[int, int]] = field(default_factory=list)


# Reads the field of a key, data[start:stop], into an event.
ReadContent: TypeAlias = Callable[[ParsedEvent, Octets, int, int, int], None]


def parse_event(data: Octets, at: int, end: int) -> ParsedEvent:
    """Parse the event in ``data[at:end]``. Raises UnparsableError."""
    event, holds = parse_fields(data, at, end, _CONTENTS, _read_content)
    if not holds:
        event.skipped.append("unknown")
    return event


def parse_fields(
    data: Octets, at: int, end: int, contents: Collection[int], read: ReadContent
) -> tuple[ParsedEvent, bool]:
    """Return the event in ``data[at:end]``, and True if it has content. Raises UnparsableError, also for a
    replaced field, because wrong bytes there make the rest doubtful.

    ``contents`` are the keys of the oneof. The last one counts, as in protobuf, but several parts of a
    summary are merged. ``read`` adds the values of the content to the event.
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
    """Add the field ``key`` in ``data[start:stop]`` to the event. Raises UnparsableError."""
    if key == EVENT_SUMMARY:
        for part, first, last in message_fields(data, start, stop):
            if part == SUMMARY_VALUE:
                _read_value(event, data, first, last)
    elif key in EVENT_KINDS:
        event.values.append(EventValue(EVENT_KINDS[key], b"", start, stop - start))
        event.free.append((start, stop - start))
    elif key == EVENT_VERSION:
        event.version = data[start:stop]
    elif key == EVENT_CLOSING:
        errors = [span for part, *span in message_fields(data, start, stop) if part == CLOSING_ERROR]
        at, end = errors[-1] if errors else (start, start)
        event.closing = data[at : min(end, at + _MAX_ERROR)]
    else:
        event.skipped.append("explain")


def _read_value(event: ParsedEvent, data: Octets, at: int, end: int) -> None:
    """Add the Summary.Value in ``data[at:end]`` to the event. Raises UnparsableError."""
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
    event.values.append(EventValue(kind, tag, start, stop - start))
    event.free.append((start, stop - start))


@dataclass(frozen=True, slots=True, eq=False)
class Schema:
    """Wire schema of the events of MindSpore or TensorBoard, which have equal framing and layout."""

    parse: Callable[[Octets, int, int], ParsedEvent]
    scalar_key: int  # of the float32 in Summary.Value
    exact_key: int  # of the float64 that follows it; 0 if the format has none
    payload_codes: npt.NDArray[np.uint8]  # [256] code of the kind by field key in Summary.Value
    tensor_kinds: tuple[Kind, ...] = ()  # kinds that the first event of a tag may state for its tensors
    whole: tuple[int, ...] = ()  # kinds (codes) with the whole Summary.Value as payload


def payload_codes(kinds: dict[int, int]) -> npt.NDArray[np.uint8]:
    """Return the table [256] of ``Schema.payload_codes`` from a dict: code by key, 0 for keys without
    kind. Keys of two bytes are omitted."""
    return np.array([kinds.get(key, 0) for key in range(256)], np.uint8)


MINDSPORE: Final = Schema(
    parse=parse_event,
    scalar_key=VALUE_SCALAR,
    exact_key=VALUE_EXACT,
    payload_codes=payload_codes({key: code for key, code in VALUE_KINDS.items() if key != VALUE_SCALAR}),
)
