"""Decoder of many values at once: lengths, tags, kinds and numbers as protobuf writes them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.events.fields import EXACT, SCALAR
from mindinsight.server.formats.events.schema import MINDSPORE
from mindinsight.server.formats.events.tags import TagNumbers
from mindinsight.server.formats.events.value_columns import (
    LOOK_AHEAD,
    ValueSpans,
    next_value_spans,
    read_values,
)
from mindinsight.server.formats.wire_format import FAR
from mindinsight.server.types import Ints


def spans_of(values: list[bytes]) -> tuple[bytes, ValueSpans]:
    """The bytes of values as records of one each, and where the decoder sees them."""
    begins: Ints = np.cumsum([0, *map(len, values)])[:-1]
    data = b"".join(values) + bytes(LOOK_AHEAD)
    return data, next_value_spans(data, np.arange(len(values)), begins)


def value(tag: str, **content: float) -> bytes:
    summary = Summary()
    summary.value.add(tag=tag, **content)
    return summary.SerializeToString()


@pytest.mark.parametrize("size", [1, 100, 127, 128, 300, 16_383, 16_384, 20_000])
def test_lengths_of_any_size_are_read(size: int) -> None:
    data, spans = spans_of([value("x" * size, scalar_value=1.0), value("y", scalar_value=2.0)])
    assert spans.ends[0] == len(value("x" * size, scalar_value=1.0))
    assert spans.ends[1] == len(data) - LOOK_AHEAD


def test_another_field_is_no_value() -> None:
    _, spans = spans_of([b"\x12\x03abc", value("loss", scalar_value=1.0)])
    assert spans.ends.tolist() == [FAR, 5 + len(value("loss", scalar_value=1.0))]


def test_scalars_and_their_tags() -> None:
    written = [("loss", 0.5), ("accuracy", -1.25), ("loss", 3.0), ("损失", 7.0), ("z" * 400, 9.0)]
    data, spans = spans_of([value(tag, scalar_value=number) for tag, number in written])
    tags = TagNumbers(8)
    entries = read_values(data, spans, tags, MINDSPORE)
    assert set(entries.kinds.tolist()) == {SCALAR}
    assert [(tags.names[tag], number) for tag, number in zip(entries.tags, entries.numbers, strict=True)] == (
        written
    )


def test_a_number_beside_its_float32_is_exact() -> None:
    plain = Summary.Value(tag="loss", scalar_value=0.1).SerializeToString()
    exact = plain + b"\xc9\x3e" + struct.pack("<d", 0.1)  # field 1001, 8 bytes
    data, spans = spans_of([b"\x0a" + bytes([len(exact)]) + exact])
    entries = read_values(data, spans, TagNumbers(8), MINDSPORE)
    assert (entries.kinds.tolist(), entries.numbers.tolist()) == ([EXACT], [0.1])


def test_what_is_written_in_another_order_is_left_to_protobuf() -> None:
    tag, number = b"\x0a\x04loss", b"\x1d" + struct.pack("<f", 1.0)
    values = [b"\x0a\x0b" + number + tag, b"\x0a\x0b" + tag + number]
    data, spans = spans_of(values)
    assert read_values(data, spans, TagNumbers(8), MINDSPORE).kinds.tolist() == [0, SCALAR]
