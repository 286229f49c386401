"""Event records of both formats, made fast: one training step as a template, filled for many steps at once.

MindSpore: one event holds all values of a step. TensorBoard: one event per value, as its writers make them.
Both frame records alike (length, masked CRC-32C, payload, masked CRC-32C).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import google_crc32c
import numpy as np

from mindinsight.proto.framing import encode_record

Format = Literal["mindspore", "tensorboard"]
FORMATS: tuple[Format, ...] = ("mindspore", "tensorboard")
FIRST_RECORD = {"mindspore": b"MindSpore.Event:1", "tensorboard": b"brain.Event:2"}
SCALAR_KEY = {"mindspore": 0x1D, "tensorboard": 0x15}  # float32 of field 3, of field 2
HISTOGRAM_FIELD = {"mindspore": 9, "tensorboard": 5}
IMAGE_FIELD, TENSOR_FIELD = 4, 8


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def scalar(tag: str, number: bytes, form: Format) -> bytes:
    """A Summary.Value with a float32 given as its four bytes."""
    return message(1, message(1, tag.encode()) + bytes([SCALAR_KEY[form]]) + number)


def value(tag: str, field: int, payload: bytes) -> bytes:
    """A Summary.Value with a message."""
    return message(1, message(1, tag.encode()) + message(field, payload))


def event(wall: float, step: int, values: Sequence[bytes], form: Format) -> bytes:
    """The framed records of one step."""
    head = b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step)
    groups = [b"".join(values)] if form == "mindspore" else values
    return b"".join(encode_record(head + message(5, group)) for group in groups)


def first_record(wall: float, form: Format) -> bytes:
    return encode_record(b"\x09" + struct.pack("<d", wall) + message(3, FIRST_RECORD[form]))


@dataclass(frozen=True)
class _Template:
    """One step as bytes, and where in it things differ from step to step."""

    filled: np.ndarray  # [size] uint8
    walls: list[int]
    steps: list[int]
    width: int  # bytes of a step
    values: list[int]
    payloads: list[tuple[int, int]]  # of each record: begin and end


def scalar_steps(
    walls: np.ndarray, steps: np.ndarray, tags: Sequence[str], numbers: np.ndarray, form: Format
) -> Iterator[bytes]:
    """Records of steps that all hold the scalars ``numbers`` [steps, tags] (float32)."""
    widths = np.array([len(varint(int(step))) for step in (steps[0], steps[-1])])
    for width in range(widths[0], widths[1] + 1):
        chosen = (steps >= (1 << 7 * (width - 1) if width > 1 else 0)) & (steps < 1 << 7 * width)
        if chosen.any():
            template = _template(tuple(tags), width, form)
            yield _filled(template, walls[chosen], steps[chosen], numbers[chosen])


@lru_cache(maxsize=4)
def _template(tags: tuple[str, ...], width: int, form: Format) -> _Template:
    marks = [struct.pack("<I", 0xFEDCBA00 + tag) for tag in range(len(tags))]
    wall = struct.pack("<d", -1.2345678901e300)
    step = (1 << 7 * width) - 1
    values = [scalar(tag, mark, form) for tag, mark in zip(tags, marks, strict=True)]
    data = event(-1.2345678901e300, step, values, form)
    places = _all_places(data, wall)
    marked = [0]
    for mark in marks:
        marked.append(data.index(mark, marked[-1]))
    payloads, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        payloads.append((at + 12, at + 12 + size))
        at += 16 + size
    return _Template(
        np.frombuffer(data, np.uint8), places, [at + 9 for at in places], width,
        marked[1:], payloads,
    )  # fmt: skip


def _all_places(data: bytes, pattern: bytes) -> list[int]:
    places, at = [], data.find(pattern)
    while at >= 0:
        places.append(at)
        at = data.find(pattern, at + 1)
    return places


def _filled(template: _Template, walls: np.ndarray, steps: np.ndarray, numbers: np.ndarray) -> bytes:
    rows = np.tile(template.filled, (len(steps), 1))
    for at in template.walls:
        rows[:, at : at + 8] = walls.astype("<f8")[:, None].view(np.uint8)
    for at in template.steps:
        for byte in range(template.width):
            more = 0x80 if byte < template.width - 1 else 0
            rows[:, at + byte] = (steps >> 7 * byte) & 0x7F | more
    for column, at in enumerate(template.values):
        rows[:, at : at + 4] = np.ascontiguousarray(numbers[:, column], "<f4")[:, None].view(np.uint8)
    for begin, end in template.payloads:
        crcs = np.array([google_crc32c.value(row[begin:end].tobytes()) for row in rows], np.uint32)
        stored = ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(0xA282EAD8)
        rows[:, end : end + 4] = stored.astype("<u4")[:, None].view(np.uint8)
    return rows.tobytes()
