"""Encoder of TensorBoard's event files: events, scalars and framed records."""

import time
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from mindinsight.proto.framing import encode_record
from mindinsight.writer.encoding import histograms, wire
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.events import Job
from mindinsight.writer.encoding.scalars import Failed, encode, encode_step

FILE_VERSION: Final = "brain.Event:2"
_WALL, _STEP, _VERSION, _GRAPH, _SUMMARY, _SESSION, _SOURCE = 1, 2, 3, 4, 5, 7, 10  # fields of Event
_TAG, _SIMPLE_VALUE = 1, 2  # fields of Summary.Value
_SESSION_START, _SESSION_STOP = 1, 2  # SessionLog.SessionStatus

# Kinds of items that are bytes: a whole Summary.Value, and a field of an Event.
VALUE: Final = "value"
EVENT: Final = "event"


def version_record() -> bytes:
    """Return the first record of a TensorBoard event file, with the version of the format and the writer's
    name."""
    source = wire.block(_SOURCE, wire.block(1, b"mindinsight.writer"))
    version = wire.block(_VERSION, FILE_VERSION.encode())
    return encode_record(wire.double(_WALL, time.time()) + version + source)


def session_start_record() -> bytes:
    """Return the field of an Event that makes readers discard older points from its step on."""
    return wire.block(_SESSION, wire.integer(1, _SESSION_START))


def closing_record() -> bytes:
    """Return the last record of a file: the session stopped. TensorBoard ignores it."""
    stopped = wire.block(_SESSION, wire.integer(1, _SESSION_STOP))
    return encode_record(encode_event(0, time.time(), stopped))


def encode_event(step: int, wall: float, body: bytes) -> bytes:
    """Return an Event with ``body``, the bytes of its remaining field. Step 0 is omitted, as in protobuf."""
    at = wire.integer(_STEP, step) if step else b""
    return b"".join((wire.double(_WALL, wall), at, body))


def encode_summary(step: int, wall: float, values: Iterable[bytes]) -> bytes:
    """Return an Event with Summary.Value messages."""
    summary = b"".join([wire.block(1, value) for value in values])
    return encode_event(step, wall, wire.block(_SUMMARY, summary))


def encode_graph(definition: bytes) -> bytes:
    """Return the field of an Event with a serialised GraphDef."""
    return wire.block(_GRAPH, definition)


def encode_scalar(tag: str, number: float) -> bytes:
    """Return a Summary.Value with a float32. A magnitude beyond float32 becomes infinite."""
    with np.errstate(over="ignore"):
        return wire.block(_TAG, tag.encode()) + wire.single(_SIMPLE_VALUE, float(np.float32(number)))


def encode_jobs(jobs: Sequence[Job], failed: Failed) -> list[bytes]:
    """Return a framed record for each job in order, empty if no value of the job could be encoded.
    ``failed`` receives each item that could not be encoded."""
    plain = iter(encode([job for job in jobs if not job[3]], encode_scalar, encode_summary))
    return [_record(job, failed) if job[3] else next(plain) for job in jobs]


def _record(job: Job, failed: Failed) -> bytes:
    step, wall, _, items, _ = job
    if items[0].kind == EVENT:
        return encode_record(encode_event(step, wall, bytes(items[0].payload)))
    return encode_step(job, failed, encode_scalar, _value, encode_summary)


def _value(item: Item) -> bytes:
    if item.kind == VALUE:
        return bytes(item.payload)
    # loads protobuf, which scalars do without
    from mindinsight.writer.encoding import tfevents_messages as messages

    if isinstance(item.payload, bytes):
        return messages.text(f"{item.tag}/text_summary", item.payload)
    if item.kind == "histogram":
        return messages.histogram(item.tag, histograms.count(item.payload))
    if item.kind == "image":
        return messages.image(item.tag, item.payload)
    return messages.tensor(item.tag, item.payload, item.dtype)
