"""Prefix decoder: scalars that many records begin with, in columns, and where each record goes on."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.events.columnar import (
    LOOK_AHEAD,
    TagNumbers,
    Tags,
    ValueSpans,
    next_value_spans,
    read_prefixes,
    read_values,
)
from mindinsight.server.formats.events.event_fields import EXACT, MINDSPORE, SCALAR, VALUE_SCALAR
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
    table = read_values(data, spans, tags, MINDSPORE)
    assert set(table.kinds.tolist()) == {SCALAR}
    assert [(tags.names[tag], number) for tag, number in zip(table.tags, table.numbers, strict=True)] == (
        written
    )


def test_a_number_beside_its_float32_is_exact() -> None:
    plain = Summary.Value(tag="loss", scalar_value=0.1).SerializeToString()
    exact = plain + b"\xc9\x3e" + struct.pack("<d", 0.1)  # field 1001, 8 bytes
    data, spans = spans_of([b"\x0a" + bytes([len(exact)]) + exact])
    table = read_values(data, spans, TagNumbers(8), MINDSPORE)
    assert (table.kinds.tolist(), table.numbers.tolist()) == ([EXACT], [0.1])


def test_what_is_written_in_another_order_is_left_to_protobuf() -> None:
    tag, number = b"\x0a\x04loss", b"\x1d" + struct.pack("<f", 1.0)
    values = [b"\x0a\x0b" + number + tag, b"\x0a\x0b" + tag + number]
    data, spans = spans_of(values)
    assert read_values(data, spans, TagNumbers(8), MINDSPORE).kinds.tolist() == [0, SCALAR]


SPARE = bytes(1 << 12)  # what follows in a file: the decoder looks ahead


def scalar(tag: str, value: float) -> bytes:
    name = tag.encode()
    body = b"\x0a" + bytes([len(name)]) + name + bytes([VALUE_SCALAR]) + struct.pack("<f", value)
    return b"\x0a" + bytes([len(body)]) + body


def read(records: list[bytes]) -> tuple[dict[str, dict[int, float]], list[int]]:
    """Values by tag and row, and the bytes of each record that were read."""
    ends: npt.NDArray[np.int64] = np.cumsum([len(record) for record in records], dtype=np.int64)
    at = ends - np.array([len(record) for record in records], dtype=np.int64)
    pieces, goes_on = read_prefixes(
        b"".join(records) + SPARE, np.arange(len(records)), at, ends, VALUE_SCALAR
    )
    values: dict[str, dict[int, float]] = {}
    for piece in pieces:
        for tag, column in zip(piece.tags, piece.values, strict=True):
            values.setdefault(tag, {}).update(zip(piece.rows.tolist(), column.tolist(), strict=True))
    return values, (goes_on - at).tolist()


def test_scalars_common_to_all_are_columns_and_the_rest_is_left() -> None:
    rest = b"\x0a\x05other"
    records = [scalar("loss", row) + scalar("accuracy", -row) + rest * (row % 3 == 0) for row in range(90)]
    values, used = read(records)
    assert values["loss"] == {row: float(row) for row in range(90)}
    assert values["accuracy"] == {row: float(-row) for row in range(90)}
    assert set(used) == {len(scalar("loss", 0) + scalar("accuracy", 0))}


def test_a_record_that_ends_or_differs_is_read_up_to_there() -> None:
    short, long = scalar("loss", 1.0), scalar("loss", 1.0) + scalar("lr", 0.5)
    other = scalar("loss", 1.0) + scalar("xx", 2.0)
    records = [long, short, other] * 40
    values, used = read(records)
    assert len(values["loss"]) == 120
    assert sorted(values["lr"]) == list(range(0, 120, 3))
    assert used[:3] == [len(long), len(short), len(short)]


def test_two_kinds_of_records_have_two_beginnings() -> None:
    records = [scalar("train/loss", 1.0), scalar("eval/loss", 2.0)] * 70
    values, used = read(records)
    assert (len(values["train/loss"]), len(values["eval/loss"])) == (70, 70)
    assert used == [len(record) for record in records]


def test_few_records_are_left_to_the_others() -> None:
    records = [scalar("loss", 1.0)] * 20
    expected: Any = ({}, [0] * 20)
    assert read(records) == expected


def test_a_tag_that_comes_twice_ends_the_beginning() -> None:
    records = [scalar("loss", 1.0) + scalar("loss", 2.0)] * 80
    values, used = read(records)
    assert set(values["loss"].values()) == {1.0}
    assert set(used) == {len(scalar("loss", 0))}


TAGS = st.lists(st.text("ab/é", max_size=20), min_size=1, max_size=40)


def numbers_of(table: TagNumbers, texts: list[str]) -> list[int]:
    encoded = [text.encode() for text in texts]
    sizes = np.array([len(octets) for octets in encoded], np.int64)
    offsets = np.cumsum(sizes) - sizes
    return list(table.of(b"".join(encoded) + bytes(8), Tags(offsets, sizes)))


@settings(max_examples=30)
@given(st.lists(TAGS, min_size=1, max_size=4))
def test_equal_tags_have_equal_numbers_over_all_batches(batches: list[list[str]]) -> None:
    table = TagNumbers(sum(map(len, batches)))
    for batch in batches:
        assert [table.names[number] for number in numbers_of(table, batch)] == batch
    assert sorted(table.names) == sorted({text for batch in batches for text in batch})


def test_more_tags_than_slots_are_told_apart() -> None:
    texts = [f"layer_{number}/weight" for number in range(1000)]
    table = TagNumbers(1)
    assert [table.names[number] for number in numbers_of(table, texts * 2)] == texts * 2
    assert len(table.names) == 1000


def test_tags_that_differ_in_their_last_byte_or_their_length_differ() -> None:
    texts = ["a" * 16, "a" * 15 + "b", "a" * 17, "a" * 8, "a" * 7, ""]
    table = TagNumbers(len(texts))
    assert numbers_of(table, texts) == numbers_of(table, texts)
    assert len(set(numbers_of(table, texts))) == len(texts)
