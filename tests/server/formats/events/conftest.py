"""A slow and plain decoder to compare with: protobuf, one record at a time."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from mindinsight.proto.framing import decode_header, decode_payload
from mindinsight.proto.lazy_pb2 import LazyEvent, LazySummary
from mindinsight.server.types import DecodedSection

Points = dict[tuple[str, str], list[tuple[Any, ...]]]


@dataclass
class Facts:
    """Everything a section says, in a form that does not depend on how it was read."""

    points: Points = field(default_factory=dict)  # (kind, tag) -> rows in file order
    damaged: list[tuple[int, int]] = field(default_factory=list)  # touching ranges are joined
    skipped: dict[str, int] = field(default_factory=dict)
    version: str = ""
    records: int = 0
    end: int = 0

    def add(self, kind: str, tag: str, row: tuple[Any, ...]) -> None:
        self.points.setdefault((kind, tag), []).append(row)

    def skip(self, name: str) -> None:
        self.skipped[name] = self.skipped.get(name, 0) + 1

    def damage(self, start: int, end: int) -> None:
        if self.damaged and self.damaged[-1][1] == start:
            start = self.damaged.pop()[0]
        self.damaged.append((start, end))


def bits(number: float) -> bytes:
    return struct.pack("<d", number) if number == number else b"nan"


def slow_decode(data: bytes) -> Facts:
    facts, at = Facts(), 0
    while len(data) - at >= 12:
        size = decode_header(data[at : at + 12])
        if size is None or size >= 2**31:
            result = next((to for to in range(at + 1, len(data) - 11) if _plausible(data, to)), None)
            if result is None and len(data[at:].rstrip(b"\0")) < 12:
                break  # space that is not written yet
            result = len(data) - 11 if result is None else result
            facts.damage(at, result)
            at = result
            continue
        end = at + 16 + size
        if end > len(data):
            break
        payload = decode_payload(data[at + 12 : end])
        if payload is not None:
            _slow_record(facts, payload, at, end)
        elif not any(data[end - 4 :]):
            break
        else:
            facts.damage(at, end)
        at = end
    facts.end = at
    return facts


def _plausible(data: bytes, at: int) -> bool:
    size = decode_header(data[at : at + 12])
    return size is not None and size < 2**31


def _slow_record(facts: Facts, payload: bytes, at: int, end: int) -> None:
    facts.records += 1
    event = LazyEvent()
    try:
        event.ParseFromString(payload)
    except Exception:  # the type of the exception differs between versions of protobuf
        facts.damage(at, end)
        return
    what = event.WhichOneof("what")
    if what == "summary":
        for value in event.summary.value:
            _slow_value(facts, event, value, at)
    elif what == "graph_def":
        facts.add("graph", "", (event.step, bits(event.wall_time), event.graph_def))
    elif what == "alert":
        facts.add("alert", "", (event.step, bits(event.wall_time), event.alert))
    elif what == "version":
        facts.version = facts.version or event.version
    else:
        facts.skip("explain" if what else "unknown")


def _slow_value(facts: Facts, event: LazyEvent, value: LazySummary.Value, at: int) -> None:
    kind = value.WhichOneof("value")
    tag = value.tag.decode("utf-8", "backslashreplace")
    if kind in (None, "scalar_value") and (kind or value.HasField("exact_scalar")):
        number = value.exact_scalar if value.HasField("exact_scalar") else value.scalar_value
        facts.add("scalar", tag, (at, event.step, bits(event.wall_time), bits(number)))
    elif kind:
        name = "landscape" if kind == "loss_landscape" else kind
        facts.add(name, tag, (event.step, bits(event.wall_time), getattr(value, kind)))
    else:
        facts.skip("unknown")


def facts_of(sections: list[DecodedSection], data: bytes) -> Facts:
    """The same of what the decoder under test says about ``data``, in one or more sections."""
    facts = Facts()
    for section in sections:
        facts.records += section.records
        facts.end = section.next_offset
        facts.version = facts.version or section.version
        for name, count in section.skipped:
            facts.skipped[name] = facts.skipped.get(name, 0) + count
        for stretch_damage in section.damage:
            facts.damage(stretch_damage.offset, stretch_damage.offset + stretch_damage.size)
        for block in (*section.blocks, *(block for rows in section.rows for block in rows.split())):
            for tag, values in zip(block.tags, block.values, strict=True):
                columns = (block.offsets, block.steps, block.walls, values)
                for at, step, wall, value in zip(*(column.tolist() for column in columns), strict=True):
                    facts.add("scalar", tag, (at, step, bits(wall), bits(value)))
        for reference in section.references:
            rows = (reference.steps, reference.walls, reference.offsets, reference.sizes)
            for step, wall, at, size in zip(*(column.tolist() for column in rows), strict=True):
                facts.add(reference.kind, reference.tag, (step, bits(wall), data[at : at + size]))
    return facts


@pytest.fixture(scope="session")
def reference() -> Callable[[bytes], Facts]:
    return slow_decode


@pytest.fixture(scope="session")
def facts() -> Callable[[list[DecodedSection], bytes], Facts]:
    return facts_of
