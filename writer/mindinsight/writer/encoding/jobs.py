"""Encoder of jobs to framed records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mindinsight.proto.framing import encode_record
from mindinsight.writer.encoding import events, scalars
from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item
from mindinsight.writer.encoding.events import Job

# Told about an item that could not be encoded, with its step; the rest of the step is kept.
Failed: TypeAlias = Callable[[Exception, Item, int], None]


def encode(jobs: Sequence[Job], failed: Failed) -> list[bytes]:
    """A framed record for each job, in order; empty where no value of the job could be encoded."""
    plain = iter(scalars.encode([job for job in jobs if not job[3]]))
    return [_encode_items(job, failed) if job[3] else next(plain) for job in jobs]


def _encode_items(job: Job, failed: Failed) -> bytes:
    step, wall, pairs, items, _ = job
    if events.is_message(job):
        return encode_record(events.message_event(job))
    encoded = [scalars.scalar(tag, number) for tag, number in zip(pairs[::2], pairs[1::2], strict=True)]
    for item in items:
        try:
            encoded.append(events.value(item))
        except Exception as error:  # noqa: BLE001, RUF100 - one value must not take the others with it
            failed(error, item, step)
    event = events.summary_event(step, wall, encoded) if encoded else b""
    if len(event) > LARGEST_EVENT:
        for item in items:
            failed(ValueError(f"its step has {len(event)} bytes, more than {LARGEST_EVENT}"), item, step)
        return b""
    return encode_record(event) if event else b""
