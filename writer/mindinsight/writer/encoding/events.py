"""Encoder of events and lineage events (summary.proto, lineage.proto) from jobs."""

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from mindinsight.proto.framing import encode_record
from mindinsight.proto.kinds import KINDS, KINDS_BY_NAME, LINEAGE_FIELDS
from mindinsight.writer.encoding import wire
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.kinds import encoder

VERSION: Final = "MindSpore.Event:1"
_WALL, _STEP, _VERSION, _SUMMARY, _CLOSING = 1, 2, 3, 5, 1002
_TAG: Final = 1  # of Summary.Value
_LONGEST_ERROR: Final = 200  # characters
# Kinds with separate events, and their fields in Event or LineageEvent.
MESSAGE_FIELDS: Final = {
    **{kind.name: kind.number for kind in KINDS if kind.message == "Event"},
    **LINEAGE_FIELDS,
}
_RUN_WIDE: Final = {*LINEAGE_FIELDS, *(kind.name for kind in KINDS if kind.run_wide)}


# Values of one call of record() for the background thread: step, wall time (Unix seconds), scalars as
# [tag, value, tag, value, ...], the other values, and the bytes of memory all this takes. A graph, an
# alert or a lineage message is a separate job with one item. A plain tuple, as making one costs the loop
# least.
Job: TypeAlias = tuple[int, float, list[Any], Sequence[Item], int]


def version_record() -> bytes:
    """Return the first record of a summary file."""
    return encode_record(wire.double(_WALL, time.time()) + wire.block(_VERSION, VERSION.encode()))


def closing_record(error: BaseException | None) -> bytes:
    """Return the last record of a recorder's last summary file. ``error`` ended the training, or is None."""
    closing = b"" if error is None else wire.block(1, _one_line(error).encode(errors="backslashreplace"))
    return encode_record(wire.double(_WALL, time.time()) + wire.block(_CLOSING, closing))


def summary_event(step: int, wall: float, encoded: Iterable[bytes]) -> bytes:
    """Return a serialised Event with all ``encoded`` Summary.Value messages."""
    summary = b"".join([wire.block(1, value) for value in encoded])
    return wire.double(_WALL, wall) + wire.integer(_STEP, step) + wire.block(_SUMMARY, summary)


def message_event(job: Job) -> bytes:
    """Return the serialised Event of a graph or alert, or the LineageEvent of a lineage message."""
    step, wall, _, (item,), _ = job
    assert isinstance(item.payload, bytes)
    at = b"" if item.kind in _RUN_WIDE else wire.integer(_STEP, step)
    return wire.double(_WALL, wall) + at + wire.block(MESSAGE_FIELDS[item.kind], item.payload)


def value(item: Item) -> bytes:
    """Return ``item`` as a serialised Summary.Value."""
    number = KINDS_BY_NAME[item.kind].number
    return value_tag(item.tag) + wire.block(number, encoder(item.kind).message(item))


def value_tag(tag: str) -> bytes:
    """Return the serialised field ``tag`` of a Summary.Value."""
    return wire.block(_TAG, tag.encode())


def is_lineage(job: Job) -> bool:
    """Return True if ``job`` is a message for the lineage file."""
    return bool(job[3]) and job[3][0].kind in LINEAGE_FIELDS


def is_message(job: Job) -> bool:
    """Return True if ``job`` is a separate event: a graph, an alert or a lineage message."""
    return bool(job[3]) and job[3][0].kind in MESSAGE_FIELDS


def job_names(job: Job) -> list[tuple[str, int]]:
    """Return tag and step of every value in ``job``, for log messages."""
    step, _, pairs, items, _ = job
    return [(tag, step) for tag in (*pairs[::2], *(item.tag for item in items))]


def _one_line(error: BaseException) -> str:
    """Return the class and the first line of the message of an exception."""
    name = type(error).__name__
    try:
        message = str(error).strip().partition("\n")[0]
    except Exception:  # noqa: BLE001, RUF100 - a class of the user's; its error must not hide the first one
        message = ""
    return (f"{name}: {message}" if message else name)[:_LONGEST_ERROR]
