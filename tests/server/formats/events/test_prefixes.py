"""Prefix decoder: scalars that many records begin with, in columns, and where each record goes on."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.events.fields import VALUE_SCALAR
from mindinsight.server.formats.events.prefixes import read_prefixes

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
