"""Records that come in rounds mean what they mean one by one, wherever rounds begin, break off and go on."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events import decode
from mindinsight.server.formats.events.event_fields import MINDSPORE, VALUE_EXACT
from mindinsight.server.formats.events.framing import verified_records
from mindinsight.server.formats.events.record_shapes import CACHED, record_shape
from mindinsight.server.formats.events.rounds import find, joined, learn, read_rounds
from mindinsight.server.formats.tensorboard import TENSORBOARD
from mindinsight.server.types import DecodedSection, ScalarBlock
from tests.narrowing import require

Point = tuple[str, int, float, float]  # tag, step, wall time, value
Wall = Callable[[int, int], float]


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    octets = bytearray()
    while number >= 0x80:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*octets, number])


def record(tag: str, step: int, wall: float, number: float, exact: bool | None = None) -> bytes:
    """An event of TensorBoard, or with `exact` given one of MindSpore."""
    name = tag.encode()
    key = b"\x15" if exact is None else b"\x1d"
    value = b"\x0a" + varint(len(name)) + name + key + struct.pack("<f", number)
    value += varint(VALUE_EXACT) + struct.pack("<d", number) if exact else b""
    summary = b"\x0a" + varint(len(value)) + value
    head = b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step)
    return encode_record(head + b"\x2a" + varint(len(summary)) + summary)


def at_once(step: int, number: int) -> float:
    return 1.7e9 + step / 16


def one_by_one(step: int, number: int) -> float:
    return 1.7e9 + step / 16 + number / 1024


def points(tags: list[str], steps: range, wall: Wall = at_once) -> Iterator[Point]:
    for step in steps:
        for number, tag in enumerate(tags):
            yield tag, step, wall(step, number), step * 100.0 + number


def read(section: DecodedSection) -> dict[str, list[tuple[int, float, float]]]:
    rows: dict[str, list[tuple[int, float, float]]] = {}
    for block in (*section.blocks, *(block for ragged in section.rows for block in ragged.split())):
        for tag, values in zip(block.tags, block.values.tolist(), strict=True):
            assert tag not in rows
            rows[tag] = list(zip(block.steps.tolist(), block.walls.tolist(), values, strict=True))
    return rows


def expected(written: list[Point]) -> dict[str, list[tuple[int, float, float]]]:
    rows: dict[str, list[tuple[int, float, float]]] = {}
    for tag, step, wall, value in written:
        rows.setdefault(tag, []).append((step, wall, value))
    return rows


TAGS = ["loss", "accuracy", "lr", "loss_2", "very/long/" + "x" * 90]


MANY = [f"layers.{number}.{'grad_norm' if number % 2 else 'lr'}" for number in range(300)]


def interleaved() -> list[Point]:
    """Rounds of five tags, and every fifty steps two tags more."""
    written: list[Point] = []
    for first in range(0, 1000, 50):
        written += points(TAGS, range(first, first + 50), one_by_one)
        written += points(["val/loss", "val/accuracy"], range(first + 49, first + 50))
    return written


CASES = {
    "one tag": [*points(["loss"], range(20_000))],
    "five tags": [*points(TAGS, range(1, 3000))],
    "with times of their own": [*points(TAGS, range(1, 3000), one_by_one)],
    "steps that go back": [*points(TAGS, range(1, 500)), *points(TAGS, range(200, 900))],
    "negative steps": [*points(TAGS, range(-300, 300))],
    "two tags more now and then": interleaved(),
    "tags one after another": [
        *points(["a"], range(300)),
        *points(["b"], range(300)),
        *points(TAGS, range(300)),
    ],
    "a tag that comes twice": [*points(["a", "b", "a", "c"], range(300))],
    "many tags": [*points(MANY, range(100, 150))],
    "many tags with times of their own": [*points(MANY, range(50), one_by_one)],
    "many tags, then one less": [*points(MANY, range(20)), *points(MANY[:-1], range(20, 40))],
    "many tags, one of them twice": [*points([*MANY, "lr", *MANY[:9], "lr"], range(20))],
    "one step behind": [
        (tag, step + number // 3, wall, value)
        for step in range(500)
        for number, (tag, _, wall, value) in enumerate(points(TAGS, range(step, step + 1)))
    ],
    "negative steps, one behind": [  # that differ in the first of ten bytes
        (tag, step - number // 3, wall, value)
        for step in range(-1000, -500)
        for number, (tag, _, wall, value) in enumerate(points(TAGS, range(step, step + 1)))
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_every_point_is_read(name: str) -> None:
    written = CASES[name]
    data = b"".join(record(*point) for point in written)
    section = decode(data, 0, True, TENSORBOARD)
    assert read(section) == expected(written)
    assert (section.damage, section.records, section.next_offset) == ((), len(written), len(data))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [5000, 40_001])
def test_pieces_of_a_file_are_the_whole(name: str, size: int) -> None:
    written = CASES[name]
    data = b"".join(record(*point) for point in written)
    rows: dict[str, list[tuple[int, float, float]]] = {}
    at = 0
    while at < len(data):
        section = decode(data[at : at + size], at, at + size >= len(data), TENSORBOARD)
        assert at < section.next_offset <= at + size
        for tag, more in read(section).items():
            rows.setdefault(tag, []).extend(more)
        at = section.next_offset
    assert rows == expected(written)


def blocks_of(written: list[Point]) -> tuple[ScalarBlock, ...]:
    return decode(b"".join(record(*point) for point in written), 0, True, TENSORBOARD).blocks


def test_tags_of_one_time_hold_their_steps_once() -> None:
    blocks = blocks_of([*points(TAGS, range(1, 3000))])
    assert [(block.tags, block.steps.shape, block.values.dtype) for block in blocks] == [
        (tuple(TAGS), (2999,), np.dtype(np.float32))
    ]


def test_a_piece_ends_with_a_whole_round() -> None:
    data = b"".join(record(*point) for point in points(TAGS, range(1, 3000)))
    cut = decode(data[:100_000], 0, False, TENSORBOARD)
    assert len(cut.blocks) == 1
    assert cut.records == 5 * len(cut.blocks[0].steps)
    following = decode(data[cut.next_offset :], cut.next_offset, True, TENSORBOARD)
    assert [block.tags for block in following.blocks] == [tuple(TAGS)]
    assert following.blocks[0].steps[0] == cut.blocks[0].steps[-1] + 1


def test_a_round_at_the_end_of_the_file_need_not_be_whole() -> None:
    written = [*points(TAGS, range(1, 3000))][:-2]
    data = b"".join(record(*point) for point in written)
    section = decode(data, 0, True, TENSORBOARD)
    assert (read(section), section.next_offset) == (expected(written), len(data))


@pytest.mark.parametrize("number", [0, 1, 77, 1234, 4998, 4999])
def test_a_damaged_record_takes_nothing_with_it(number: int) -> None:
    written = [*points(TAGS, range(1, 1001))]
    records = [record(*point) for point in written]
    at = sum(map(len, records[:number]))
    data = bytearray(b"".join(records))
    data[at + 20] ^= 1
    section = decode(bytes(data), 0, True, TENSORBOARD)
    assert [(region.offset, region.size, region.reason) for region in section.damage] == [
        (at, len(records[number]), "damage.body_crc")
    ]
    assert read(section) == expected(written[:number] + written[number + 1 :])


def test_a_record_of_another_kind_between_rounds_is_read() -> None:
    written = [*points(TAGS, range(1, 1001))]
    records = [record(*point) for point in written]
    session = encode_record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x3a\x02\x08\x01")
    records.insert(2502, session)  # within a round
    section = decode(b"".join(records), 0, True, TENSORBOARD)
    assert read(section) == expected(written)
    assert [(note.name, note.offset) for note in section.notes] == [
        ("session", sum(map(len, records[:2502])))
    ]


def test_rounds_are_counted_up_to_the_first_that_differs() -> None:
    records = [record(*point) for point in points(["x", "longer"], range(128, 9000))]
    data = b"".join(records)
    model = joined(tuple(require(record_shape(record[12:-4], TENSORBOARD)) for record in records[:2]))
    assert model.stride == len(records[0]) + len(records[1])
    assert (len(data) > 2 * CACHED, model.count(data, 0, 8872)) == (True, 8872)
    for other in (0, 1, 63, 5000, 8871):  # another tag in one record, or another length of it
        for at in (data.index(b"longer", other * model.stride), other * model.stride):
            changed = bytearray(data)
            changed[at] ^= 1
            assert model.count(bytes(changed), 0, 8872) == other
    assert model.stride % 8  # words of eight bytes are compared, which lie across two rounds


def encoded(written: list[Point]) -> list[bytes]:
    return [record(*point) for point in written]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("left_out", [0, 3])
def test_a_second_file_is_read_like_the_first(name: str, left_out: int) -> None:
    decode(b"".join(encoded(CASES[name])), 0, True, TENSORBOARD)
    written = CASES[name][left_out:]
    section = decode(b"".join(encoded(written)), 0, True, TENSORBOARD)
    assert read(section) == expected(written)
    assert (section.damage, section.records) == ((), len(written))


def test_damage_in_rounds_that_are_known_is_found() -> None:
    written = [*points(TAGS, range(1, 400))]
    records = encoded(written)
    whole = b"".join(records)
    decode(whole, 0, True, TENSORBOARD)
    at = sum(map(len, records[:1000]))
    for offset, reason in ((len(records[1000]) - 6, "damage.body_crc"), (9, "damage.length_crc")):
        broken = bytearray(whole)
        broken[at + offset] ^= 0x10
        section = decode(bytes(broken), 0, True, TENSORBOARD)
        assert read(section) == expected(written[:1000] + written[1001:])
        assert [(region.offset, region.size, region.reason) for region in section.damage] == [
            (at, len(records[1000]), reason)
        ]


def test_rounds_are_found_by_their_first_record_and_where_a_step_begins() -> None:
    records = encoded([*points(["known/a", "known/b"], range(1, 101))])
    data = b"".join(records)
    shapes = [require(record_shape(record[12:-4], TENSORBOARD)) for record in records[:2]]
    assert find(data, 0, 0, TENSORBOARD) is None
    model = joined(tuple(shapes))
    learn(data, 0, model, TENSORBOARD)
    result = require(find(data, 0, 7, TENSORBOARD))
    assert (result.row, result.repeats, result.model) == (7, 100, model)
    assert result.model.starts(0, 100).tolist() == [sum(map(len, records[:row])) for row in range(200)]
    assert find(data, len(records[0]), 1, TENSORBOARD) is None  # in the midst of a step
    few = len(data) - sum(map(len, records[-40:]))
    assert find(data, few, 160, TENSORBOARD) is None


@pytest.mark.parametrize("wall", [at_once, one_by_one])
def test_rounds_of_many_records_are_read_as_columns(wall: Wall) -> None:
    written = [*points(MANY, range(100, 140), wall)]
    encoded = [record(*point, exact=number % 3 == 0) for number, point in enumerate(written)]
    data = b"".join(encoded)
    records = verified_records(data, True)
    rounds = read_rounds(data, records.starts, records.sizes, MINDSPORE)
    assert rounds.left.tolist() == []
    section = decode(data, 0, True)
    assert read(section) == expected(written)
    blocks = (*section.blocks, *(block for ragged in section.rows for block in ragged.split()))
    exact = {tag for block in blocks if block.values.dtype == np.float64 for tag in block.tags}
    assert exact == set(MANY[::3])


def test_events_without_values_before_many_tags_hold_nothing() -> None:
    written = [*points(MANY, range(20))]
    empty = encode_record(b"\x09" + struct.pack("<d", 1.7e9) + b"\x10\x01\x2a\x00")
    section = decode(empty * 400 + b"".join(encoded(written)), 0, True, TENSORBOARD)
    assert (read(section), section.records, section.damage) == (expected(written), 400 + 6000, ())
