"""Parser of one TensorFlow event, field by field, and the wire schema for the fast decoders.

Event: wall_time 1, step 2, file_version 3, graph_def 4, summary 5, session_log 7, meta_graph_def 9.
Summary.Value: tag 1, simple_value 2, image 4, histo 5, audio 6, tensor 8, metadata 9. What a tensor is says
the plugin that its metadata names; only the first event of a tag needs to name it, so without a name its
own type and shape decide.
"""

from __future__ import annotations

from typing import Final

from mindinsight.server.formats.events.event_message import Entry, ParsedEvent, parse_fields
from mindinsight.server.formats.events.fields import (
    CODES,
    EVENT_SUMMARY,
    EVENT_VERSION,
    SUMMARY_VALUE,
)
from mindinsight.server.formats.events.schema import Schema, payload_codes
from mindinsight.server.formats.tensorboard.values import AUDIO, HISTO, IMAGE, SIMPLE_VALUE, read_value
from mindinsight.server.formats.wire_format import Octets, last_field, message_fields, read_varint
from mindinsight.server.types import TENSOR_KINDS

_GRAPH, _LOG, _SESSION, _RUN_METADATA, _META_GRAPH = (number << 3 | 2 for number in (4, 6, 7, 8, 9))
_SKIPPED: Final = {_LOG: "log_message", _RUN_METADATA: "run_metadata"}
_CONTENTS: Final = (EVENT_VERSION, EVENT_SUMMARY, _GRAPH, _SESSION, _META_GRAPH, *_SKIPPED)
_INNER_GRAPH: Final = 2 << 3 | 2  # graph_def in MetaGraphDef
_STATUS: Final = 1 << 3
_START, _STOP = 1, 2  # status of a session


def parse_event(data: Octets, at: int, end: int) -> ParsedEvent:
    """The event in ``data[at:end]``. Raises UnparsableError."""
    return parse_fields(data, at, end, _CONTENTS, _read_content)[0]


def _read_content(event: ParsedEvent, data: Octets, key: int, start: int, stop: int) -> None:
    if key == EVENT_SUMMARY:
        for part, first, last in message_fields(data, start, stop):
            if part == SUMMARY_VALUE:
                read_value(event, data, first, last)
    elif key == EVENT_VERSION:
        event.version = data[start:stop]
    elif key == _SESSION:
        _read_session(event, data, start, stop)
    elif key == _META_GRAPH:
        graph = last_field(data, start, stop, _INNER_GRAPH)
        if graph:
            _add_graph(event, *graph)
        else:
            event.skipped.append("meta_graph")
    elif key == _GRAPH:
        _add_graph(event, start, stop)
    else:
        event.skipped.append(_SKIPPED[key])


def _add_graph(event: ParsedEvent, start: int, stop: int) -> None:
    event.entries.append(Entry(CODES["graph"], b"", start, stop - start))
    event.free.append((start, stop - start))


def _read_session(event: ParsedEvent, data: Octets, start: int, stop: int) -> None:
    span = last_field(data, start, stop, _STATUS)
    status = read_varint(data, *span)[0] if span else 0
    if status == _START:
        event.notes.append(("session", b""))
    elif status == _STOP:
        event.closing = b""
    else:
        event.skipped.append("session_log")


_VALUE_KINDS: Final = {IMAGE: CODES["image"], HISTO: CODES["histogram"], AUDIO: CODES["audio"]}
TENSORBOARD: Final = Schema(
    parse=parse_event,
    scalar_key=SIMPLE_VALUE,
    exact_key=0,
    payload_codes=payload_codes(_VALUE_KINDS),
    tensor_kinds=TENSOR_KINDS,
    whole=(CODES["histogram"], CODES["audio"]),
)
