"""Encoder of events and lineage events (summary.proto, lineage.proto), and the jobs it takes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy.typing as npt

from mindinsight.proto.framing import encode_record
from mindinsight.proto.kinds import KINDS
from mindinsight.writer.encoding import values, wire

VERSION: Final = "MindSpore.Event:1"
# Kinds that are a field of LineageEvent, by the names add_value gives them.
LINEAGE_FIELDS: Final = {
    "train_lineage": 6, "eval_lineage": 7, "dataset_graph": 9, "custom_lineage_data": 10,
}  # fmt: skip
_WALL, _STEP, _VERSION, _SUMMARY, _CLOSING = 1, 2, 3, 5, 1002
_LONGEST_ERROR: Final = 200  # characters
# Kinds whose messages are events of their own, and their fields in Event or LineageEvent.
_MESSAGE_FIELDS: Final = {
    **{kind.name: kind.number for kind in KINDS if kind.message == "Event"},
    **LINEAGE_FIELDS,
}


class Item(NamedTuple):
    """One value that is more than a number."""

    kind: str  # image, tensor, histogram, landscape, graph, alert or a key of LINEAGE_FIELDS
    tag: str
    payload: npt.NDArray[Any] | bytes  # an array of its own, or a serialised message
    dtype: str = ""  # name of the element type given, for arrays


# What one call of record() leaves for the background: step, wall time (Unix seconds), scalars as
# [tag, value, tag, value, ...], the other values, and the bytes of memory all this takes. A graph, an
# alert or a lineage message is a job of its own with one item. A plain tuple, as making one costs the loop
# least.
Job: TypeAlias = tuple[int, float, list[Any], Sequence[Item], int]


def version_record() -> bytes:
    """The record that opens a summary file."""
    return encode_record(wire.double(_WALL, time.time()) + wire.block(_VERSION, VERSION.encode()))


def closing_record(error: BaseException | None) -> bytes:
    """The record that ends the last summary file of a recorder; ``error`` is what ended the training."""
    closing = b"" if error is None else wire.block(1, _one_line(error).encode(errors="backslashreplace"))
    return encode_record(wire.double(_WALL, time.time()) + wire.block(_CLOSING, closing))


def summary_event(step: int, wall: float, encoded: Iterable[bytes]) -> bytes:
    """One event holding every ``encoded`` Summary.Value."""
    summary = b"".join([wire.block(1, value) for value in encoded])
    return wire.double(_WALL, wall) + wire.integer(_STEP, step) + wire.block(_SUMMARY, summary)


def message_event(job: Job) -> bytes:
    """The event of a graph or of an alert, or the lineage event of a lineage message."""
    step, wall, _, (item,), _ = job
    assert isinstance(item.payload, bytes)
    at = wire.integer(_STEP, step) if item.kind == "alert" else b""  # the others belong to the whole run
    return wire.double(_WALL, wall) + at + wire.block(_MESSAGE_FIELDS[item.kind], item.payload)


def value(item: Item) -> bytes:
    """``item`` as a Summary.Value."""
    if isinstance(item.payload, bytes):
        return values.landscape(item.tag, item.payload)
    if item.kind == "tensor":
        return values.tensor(item.tag, item.payload, item.dtype)
    encode = values.image if item.kind == "image" else values.histogram
    return encode(item.tag, item.payload)


def is_lineage(job: Job) -> bool:
    """True when ``job`` is a message for the lineage file."""
    return bool(job[3]) and job[3][0].kind in LINEAGE_FIELDS


def is_message(job: Job) -> bool:
    """True when ``job`` is an event of its own: a graph, an alert or a lineage message."""
    return bool(job[3]) and job[3][0].kind in _MESSAGE_FIELDS


def job_names(job: Job) -> list[tuple[str, int]]:
    """Tag and step of every value in ``job``, for messages."""
    step, _, pairs, items, _ = job
    return [(tag, step) for tag in (*pairs[::2], *(item.tag for item in items))]


def _one_line(error: BaseException) -> str:
    """Class and first line of the message."""
    name = type(error).__name__
    try:
        message = str(error).strip().partition("\n")[0]
    except Exception:  # noqa: BLE001, RUF100 - a class of the user's; its error must not hide the first one
        message = ""
    return (f"{name}: {message}" if message else name)[:_LONGEST_ERROR]
