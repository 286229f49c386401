"""Columnar encoder of the scalars of many steps.

A loop records the same tags step after step, so the records of such steps differ in a few bytes at known
places: wall time, step, values, checksum. They are filled in column by column for all steps together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, encode_record, masked_crc
from mindinsight.writer.encoding import values, wire
from mindinsight.writer.encoding.events import Job, summary_event

Bytes = npt.NDArray[np.uint8]
_WALL_AT: Final = HEADER_SIZE + 1  # after the key byte of field 1
_STEP_AT: Final = _WALL_AT + 9  # after the wall time and the key byte of field 2


@dataclass(frozen=True)
class Layout:
    """Offsets in the record of one set of tags and one width of step."""

    template: Bytes  # [size] a record with every changing byte in place
    value_at: npt.NDArray[np.intp]  # [4 * tags] places of the value bytes


def encode(jobs: Sequence[Job]) -> list[bytes]:
    """A framed record for each of ``jobs``, which hold scalars only, in order."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, (step, _, pairs, _, _) in enumerate(jobs):
        groups.setdefault((wire.varint_width(step), *pairs[::2]), []).append(index)
    records = [b""] * len(jobs)
    for (width, *tags), rows in groups.items():
        alike = _encode_alike(tuple(tags), width, [jobs[row] for row in rows])
        for row, record in zip(rows, alike, strict=True):
            records[row] = record
    return records


@lru_cache(maxsize=256)
def layout(tags: tuple[str, ...], width: int) -> Layout:
    """Places found by writing a record whose values are a pattern of their own."""
    step = 1 << 7 * (width - 1) if width < 10 else -1
    encoded = [values.scalar(tag, 0.0) for tag in tags]
    record = encode_record(summary_event(step, 0.0, encoded))
    ends = np.cumsum([len(wire.block(1, value)) for value in encoded])
    first = len(record) - FOOTER_SIZE - int(ends[-1])
    value_at = (first + ends[:, None] - 4 + np.arange(4)).reshape(-1)
    return Layout(np.frombuffer(record, np.uint8), value_at)


def _encode_alike(tags: tuple[str, ...], width: int, jobs: Sequence[Job]) -> list[bytes]:
    numbers = np.array([job[2][1::2] for job in jobs], np.float64)
    with np.errstate(over="ignore"):
        floats = numbers.astype("<f4")
    offsets = layout(tags, width)
    matrix = np.empty((len(jobs), offsets.template.size), np.uint8)
    matrix[:] = offsets.template
    matrix[:, _WALL_AT : _WALL_AT + 8] = _rows_of_bytes(np.array([job[1] for job in jobs], "<f8"))
    _fill_steps(matrix, width, np.array([job[0] for job in jobs], np.int64).view(np.uint64))
    matrix[:, offsets.value_at] = _rows_of_bytes(floats)
    _fill_checksums(matrix)
    size, blob = matrix.shape[1], matrix.tobytes()
    records = [blob[start : start + size] for start in range(0, len(blob), size)]
    for row in _rows_to_keep_exact(numbers, floats):
        records[row] = encode_record(_with_exact_values(jobs[row]))
    return records


def _rows_of_bytes(array: npt.NDArray[Any]) -> Bytes:
    return array.view(np.uint8).reshape(len(array), -1)


def _fill_steps(matrix: Bytes, width: int, steps: npt.NDArray[np.uint64]) -> None:
    for index in range(width):
        more = 128 if index < width - 1 else 0
        matrix[:, _STEP_AT + index] = (steps >> np.uint64(7 * index)) & np.uint64(127) | np.uint64(more)


def _fill_checksums(matrix: Bytes) -> None:
    payloads = matrix[:, HEADER_SIZE:-FOOTER_SIZE]
    size, blob = payloads.shape[1], payloads.tobytes()
    crcs = [masked_crc(blob[start : start + size]) for start in range(0, len(blob), size)]
    matrix[:, -FOOTER_SIZE:] = _rows_of_bytes(np.array(crcs, "<u4"))


def _rows_to_keep_exact(numbers: npt.NDArray[np.float64], floats: npt.NDArray[np.float32]) -> list[int]:
    magnitude = np.abs(numbers)
    outside = (magnitude > values.LARGEST) | (magnitude < values.SMALLEST)
    changed = outside & (numbers != floats) & np.isfinite(numbers)
    return [int(row) for row in np.flatnonzero(changed.any(axis=1))]


def _with_exact_values(job: Job) -> bytes:
    step, wall, pairs, _, _ = job
    return summary_event(step, wall, map(values.scalar, pairs[::2], pairs[1::2]))
