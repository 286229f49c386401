"""Encoder of scalars, single or in columns over many steps, and of jobs to framed records."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
from google_crc32c import value as crc32c

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, MASK_DELTA, encode_record
from mindinsight.proto.kinds import EXACT_SCALAR, KINDS_BY_NAME
from mindinsight.writer.encoding import events, wire
from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item, real_numbers
from mindinsight.writer.encoding.events import Job, summary_event, value_tag

# Range in which float32 shows no difference. Above, neighbouring integers merge. Below, digits are lost.
LARGEST: Final = float(1 << 24)
SMALLEST: Final = 2.0**-126  # smallest normal float32

Bytes = npt.NDArray[np.uint8]
EncodeScalar: TypeAlias = Callable[[str, float], bytes]  # a Summary.Value that ends with its float32
EncodeEvent: TypeAlias = Callable[[int, float, Sequence[bytes]], bytes]  # of step, wall time and values
_WALL_AT: Final = HEADER_SIZE + 1  # after the key byte of field 1
_FIELD: Final = KINDS_BY_NAME["scalar"].number
_STEP_AT: Final = _WALL_AT + 9  # after the wall time and the key byte of field 2


@dataclass(frozen=True)
class Layout:
    """Record to be copied for one set of tags and one width of the step, with the byte positions of its
    values."""

    width: int  # bytes of the step, 0 for step 0
    template: Bytes  # [size] a record with every changing byte in place
    value_at: npt.NDArray[np.intp]  # [4 * tags] places of the value bytes


def number(tag: str, value: Any) -> float:
    """Return the single number in ``value``. Integers beyond 2**53 are rounded to a float64. Raises TypeError
    if there are no real numbers, ValueError for several or an int beyond float64."""
    if not isinstance(value, (float, int)) and hasattr(value, "item"):
        value = _element(value)
    if isinstance(value, (float, int)):
        try:
            return float(value)
        except OverflowError as error:
            raise ValueError(f"scalar '{tag}': the integer is larger than any float64") from error
    values = real_numbers(tag, value).values
    if values.size != 1:
        raise ValueError(f"scalar '{tag}' must have one element, got shape {values.shape}")
    return float(values.reshape(-1)[0])


def _element(array: Any) -> Any:
    """Return the single element of an array as a Python number, 30 times faster than the full conversion.
    Return the array itself if it is not one real number. The caller then reports the reason."""
    try:
        element = array.item()
    except Exception:  # noqa: BLE001, RUF100 - every framework has errors of its own here
        return array
    return element if element.__class__ in (float, int, bool) else array


def scalar(tag: str, number: float) -> bytes:
    """Return a Summary.Value with the float32 that every reader shows, and the float64 if it differs
    visibly. A difference is visible for a finite magnitude above 2**24, or below the smallest normal
    float32, that float32 cannot represent."""
    if math.isfinite(number) and (abs(number) > LARGEST or 0 < abs(number) < SMALLEST):
        with np.errstate(over="ignore"):
            narrow = float(np.float32(number))
        exact = wire.double(EXACT_SCALAR, number) if narrow != number else b""
        return value_tag(tag) + wire.single(_FIELD, narrow) + exact
    return value_tag(tag) + wire.single(_FIELD, number)


def encode(
    jobs: Sequence[Job], encode_scalar: EncodeScalar = scalar, encode_event: EncodeEvent = summary_event
) -> list[bytes]:
    """Return a framed record for each of ``jobs``, of only scalars, by default in MindSpore's format.
    ``encode_scalar`` and ``encode_event`` are those of the format."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, (step, _, pairs, _, _) in enumerate(jobs):
        width = (step.bit_length() + 6) // 7 if step >= 0 else 10  # bytes of the varint, none for step 0
        groups.setdefault((width, *pairs[::2]), []).append(index)
    records = [b""] * len(jobs)
    for (width, *tags), rows in groups.items():
        offsets = layout(tuple(tags), width, encode_scalar, encode_event)
        alike = _encode_alike(offsets, [jobs[row] for row in rows], encode_scalar, encode_event)
        for row, record in zip(rows, alike, strict=True):
            records[row] = record
    return records


@lru_cache(maxsize=256)
def layout(
    tags: tuple[str, ...], width: int, encode_scalar: EncodeScalar, encode_event: EncodeEvent
) -> Layout:
    """Return a record of scalars ``tags``, to be copied, and the byte positions of its values. ``width``
    is the number of bytes of the step in the record, 0 for step 0. ``encode_scalar`` and ``encode_event``
    are those of the format."""
    step = 0 if width == 0 else 1 << 7 * (width - 1) if width < 10 else -1
    encoded = [encode_scalar(tag, 0.0) for tag in tags]
    record = encode_record(encode_event(step, 0.0, encoded))
    ends = np.cumsum([len(wire.block(1, value)) for value in encoded])
    first = len(record) - FOOTER_SIZE - int(ends[-1])
    value_at = (first + ends[:, None] - 4 + np.arange(4)).reshape(-1)
    return Layout(width, np.frombuffer(record, np.uint8), value_at)


def _encode_alike(
    offsets: Layout, jobs: Sequence[Job], encode_scalar: EncodeScalar, encode_event: EncodeEvent
) -> list[bytes]:
    """Return the records of ``jobs`` with the same tags and width of step, encoded as one matrix."""
    numbers = np.array([job[2][1::2] for job in jobs], np.float64)
    with np.errstate(over="ignore"):
        floats = numbers.astype("<f4")
    matrix = np.empty((len(jobs), offsets.template.size), np.uint8)
    matrix[:] = offsets.template
    matrix[:, _WALL_AT : _WALL_AT + 8] = _rows_of_bytes(np.array([job[1] for job in jobs], "<f8"))
    steps = np.array([job[0] for job in jobs], np.int64).view(np.uint64)
    for index in range(offsets.width):  # a varint: seven bits a byte, the highest set in all but the last
        more = 128 if index < offsets.width - 1 else 0
        matrix[:, _STEP_AT + index] = (steps >> np.uint64(7 * index)) & np.uint64(127) | np.uint64(more)
    matrix[:, offsets.value_at] = _rows_of_bytes(floats)
    _fill_checksums(matrix)
    size, blob = matrix.shape[1], matrix.tobytes()
    records = [blob[start : start + size] for start in range(0, len(blob), size)]
    for row in _rows_to_keep_exact(numbers, floats):
        step, wall, pairs, _, _ = jobs[row]
        values = [*map(encode_scalar, pairs[::2], pairs[1::2])]
        records[row] = encode_record(encode_event(step, wall, values))
    return records


def _rows_of_bytes(array: npt.NDArray[Any]) -> Bytes:
    return array.view(np.uint8).reshape(len(array), -1)


def _fill_checksums(matrix: Bytes) -> None:
    payloads = matrix[:, HEADER_SIZE:-FOOTER_SIZE]
    size, blob = payloads.shape[1], payloads.tobytes()
    crcs = np.array([crc32c(blob[start : start + size]) for start in range(0, len(blob), size)], "<u4")
    masked = (crcs >> 15 | crcs << 17) + np.uint32(MASK_DELTA)  # as in ``masked_crc``, for all at once
    matrix[:, -FOOTER_SIZE:] = _rows_of_bytes(masked)


def _rows_to_keep_exact(numbers: npt.NDArray[np.float64], floats: npt.NDArray[np.float32]) -> list[int]:
    magnitude = np.abs(numbers)
    outside = (magnitude > LARGEST) | (magnitude < SMALLEST)
    changed = outside & (numbers != floats) & np.isfinite(numbers)
    return [int(row) for row in np.flatnonzero(changed.any(axis=1))]


# Receives an item that could not be encoded, and its step. The rest of the step is kept.
Failed: TypeAlias = Callable[[Exception, Item, int], None]


def encode_jobs(jobs: Sequence[Job], failed: Failed) -> list[bytes]:
    """Return a framed record for each job in order, empty if no value of the job could be encoded.
    ``failed`` receives each item that could not be encoded."""
    plain = iter(encode([job for job in jobs if not job[3]]))
    return [_encode_items(job, failed) if job[3] else next(plain) for job in jobs]


def _encode_items(job: Job, failed: Failed) -> bytes:
    if events.is_message(job):
        return encode_record(events.message_event(job))
    return encode_step(job, failed, scalar, events.value, summary_event)


def encode_step(
    job: Job,
    failed: Failed,
    encode_scalar: EncodeScalar,
    encode_item: Callable[[Item], bytes],
    encode_event: EncodeEvent,
) -> bytes:
    """Return the framed record of a step in one of the formats, empty if no value could be encoded.
    ``failed`` receives each item that could not be encoded, and all items of an event that is too large."""
    step, wall, pairs, items, _ = job
    encoded = [encode_scalar(tag, number) for tag, number in zip(pairs[::2], pairs[1::2], strict=True)]
    for item in items:
        try:
            encoded.append(encode_item(item))
        except Exception as error:  # noqa: BLE001, RUF100 - one value must not take the others with it
            failed(error, item, step)
    event = encode_event(step, wall, encoded) if encoded else b""
    if len(event) > LARGEST_EVENT:
        for item in items:
            failed(ValueError(f"the step has {len(event)} bytes, more than {LARGEST_EVENT}"), item, step)
        return b""
    return encode_record(event) if event else b""
