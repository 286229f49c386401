"""Encoder of jobs to the framed records of TensorBoard's event files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mindinsight.proto.framing import encode_record
from mindinsight.writer.encoding import counted_histogram
from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item
from mindinsight.writer.encoding.events import Job
from mindinsight.writer.encoding.jobs import Failed
from mindinsight.writer.encoding.tfevents import messages, values

# Kinds of items that are bytes: fields of a Summary.Value beside its tag, a whole one, a field of an Event,
# and a text in UTF-8.
FIELDS: Final = "fields"
VALUE: Final = "value"
EVENT: Final = "event"
TEXT: Final = "text"


def encode(jobs: Sequence[Job], failed: Failed) -> list[bytes]:
    """A framed record for each job, in order; empty where no value of the job could be encoded."""
    return [encode_record(body) if (body := _event(job, failed)) else b"" for job in jobs]


def _event(job: Job, failed: Failed) -> bytes:
    step, wall, pairs, items, _ = job
    if items and items[0].kind == EVENT:
        return messages.event(step, wall, bytes(items[0].payload))
    encoded = [messages.scalar(tag, number) for tag, number in zip(pairs[::2], pairs[1::2], strict=True)]
    for item in items:
        try:
            encoded.append(_value(item))
        except Exception as error:  # noqa: BLE001, RUF100 - one value must not take the others with it
            failed(error, item, step)
    event = messages.event(step, wall, messages.summary(encoded)) if encoded else b""
    if len(event) > LARGEST_EVENT:
        for item in items:
            failed(ValueError(f"its step has {len(event)} bytes, more than {LARGEST_EVENT}"), item, step)
        return b""
    return event


def _value(item: Item) -> bytes:
    if isinstance(item.payload, bytes):
        if item.kind == TEXT:
            return messages.value(item.tag, values.text(item.payload))
        return item.payload if item.kind == VALUE else messages.value(item.tag, item.payload)
    if item.kind == "histogram":
        return messages.value(item.tag, values.histogram(counted_histogram.count(item.payload)))
    body = values.image(item.payload) if item.kind == "image" else values.tensor(item.payload, item.dtype)
    return messages.value(item.tag, body)
