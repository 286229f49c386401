"""Damaged files: nothing wrong is shown, nothing healthy is lost, and what is missing is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record, masked_crc
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats.events import decode, read_section
from mindinsight.server.types import Damage

DAMAGED = Path(__file__).parents[3] / "data" / "events" / "damaged"
NAME = "events.out.events.summary.1795246490.0.vm_MS"
EXPECTED = json.loads((DAMAGED / "expected.json").read_text())["runs"]


def event(step: int, kinds: int = 1) -> bytes:
    message = Event(wall_time=1.7e9 + step, step=step)
    message.summary.value.add(tag="loss", scalar_value=step / 8)
    for number in range(1, kinds):
        message.summary.value.add(tag=f"metric_{number}", scalar_value=step + number)
    if step % 10 == 3:
        message.summary.value.add(tag="picture").image.encoded_image = b"\x89PNG" * (step % 7)
    return encode_record(message.SerializeToString())


def training(steps: int) -> bytes:
    return b"".join(event(step, 1 + step % 3) for step in range(steps))


def steps_of(data: bytes, tag: str = "loss") -> list[int]:
    return [
        step for block in decode(data, 0, True).blocks if tag in block.tags for step in block.steps.tolist()
    ]


@pytest.mark.parametrize(
    ("sample", "points", "reason", "pending"),
    [
        ("cut_in_length", 38, None, 5),
        ("cut_in_length_crc", 38, None, 10),
        ("cut_in_body", 38, None, 382),
        ("cut_in_body_crc", 38, None, 755),
        ("flip_body_wall_time", 38, "damage.body_crc", 0),
        ("flip_body_tag", 38, "damage.body_crc", 0),
        ("flip_body_wire_type", 38, "damage.body_crc", 0),
        ("flip_body_crc", 38, "damage.body_crc", 0),
        ("flip_length_crc", 38, "damage.length_crc", 0),
        ("flip_length_low", 38, "damage.length_crc", 0),
        ("flip_length_high", 38, "damage.length_crc", 0),
        ("zero_length_record", 39, "damage.zeros", 0),
        ("zero_tail", 39, None, 64),
        ("version_record_missing", 39, None, 0),
        ("empty", 0, None, 0),
        ("zeros_4k", 0, None, 4096),
        ("text", 0, "damage.noise", 11),
    ],
)
def test_damaged_sample(sample: str, points: int, reason: str | None, pending: int) -> None:
    path = DAMAGED / sample / NAME
    section = read_section(str(path), 0, 1 << 20)
    assert len(steps_of(path.read_bytes(), "loss/auto")) == points
    assert [damage.reason for damage in section.damage] == ([reason] if reason else [])
    assert (section.pending, section.next_offset) == (pending, path.stat().st_size - pending)
    problems = [at for at, _ in EXPECTED[sample]["files"][NAME]["problems"]]
    assert not section.damage or section.damage[0].offset == problems[0]


def test_ten_thousand_flipped_bytes(facts: Any) -> None:
    """A hundred files, each wounded a hundred times: what is shown was written, and nothing more is lost."""
    rng = np.random.default_rng(7)
    healthy = training(1500)
    written = facts([decode(healthy, 0, True)], healthy).points
    known = {key: set(rows) for key, rows in written.items()}
    for _ in range(100):
        wounded = bytearray(healthy)
        for position in rng.integers(0, len(healthy), 100).tolist():
            wounded[position] ^= int(rng.integers(1, 256))
        section = decode(bytes(wounded), 0, True)
        shown = facts([section], bytes(wounded)).points
        assert all(set(rows) <= known[key] for key, rows in shown.items())
        there = set(shown["scalar", "loss"])
        lost = [row[0] for row in written["scalar", "loss"] if row not in there]
        bad = np.array([(damage.offset, damage.offset + damage.size) for damage in section.damage])
        within = [((bad[:, 0] <= at) & (at < bad[:, 1])).any() for at in lost]
        assert 0 < len(lost) <= 200
        assert all(within) or lost[-1] >= section.next_offset


def test_every_byte_of_a_file_flipped(facts: Any, reference: Any) -> None:
    healthy = training(12)
    for position in range(len(healthy)):
        wounded = bytearray(healthy)
        wounded[position] ^= 0x40
        data = bytes(wounded)
        assert facts([decode(data, 0, True)], data) == reference(data), position


def test_wrong_length_loses_one_record() -> None:
    records = [event(step) for step in range(200)]
    at = len(b"".join(records[:70]))
    data = bytearray(b"".join(records))
    data[at + 1] ^= 1
    section = decode(bytes(data), 5000, True)
    assert section.damage == (Damage(5000 + at, len(records[70]), "damage.length_crc"),)
    assert section.records == 199


def test_length_that_no_record_can_have_is_not_waited_for() -> None:
    length = (1 << 40).to_bytes(8, "little")
    header = length + masked_crc(length).to_bytes(4, "little")
    data = event(1) + header + b"what is this" + event(2)
    section = decode(data, 0, True)
    assert [(damage.reason, damage.size) for damage in section.damage] == [("damage.length", 24)]
    assert (steps_of(data), section.pending) == ([1, 2], 0)


def test_length_within_reason_is_waited_for() -> None:
    data = event(1) + event(2)[:-1]
    section = decode(data, 0, True)
    assert (section.next_offset, section.pending, section.damage) == (len(event(1)), len(event(2)) - 1, ())


def test_noise_at_the_end_is_listed_but_for_the_bytes_in_which_a_header_can_have_begun() -> None:
    data = event(1) + b"noise " * 50
    section = decode(data, 0, True)
    assert section.damage == (Damage(len(event(1)), 289, "damage.noise"),)
    assert section.pending == 11
    more = decode(data[section.next_offset :] + event(2), section.next_offset, True)
    assert [damage.size for damage in more.damage] == [11]
    assert more.blocks[0].steps.tolist() == [2]


def test_zeros_at_the_end_are_waited_for_and_may_turn_into_records() -> None:
    section = decode(event(1) + bytes(5000), 0, True)
    assert (section.pending, section.damage) == (5000, ())
    more = decode(event(2) + bytes(4000), section.next_offset, True)
    assert more.blocks[0].steps.tolist() == [2]


@pytest.mark.parametrize("written", [3, 11, 14, 30])
def test_record_written_in_part_over_zeros_is_waited_for(written: int) -> None:
    section = decode(event(1) + event(2)[:written] + bytes(400), 0, True)
    assert (section.next_offset, section.damage) == (len(event(1)), ())
    assert section.pending == written + 400


def test_zeros_between_records_are_listed() -> None:
    section = decode(event(1) + bytes(100) + event(2), 0, True)
    assert section.damage == (Damage(len(event(1)), 100, "damage.zeros"),)
    assert section.blocks[0].steps.tolist() == [1, 2]


def test_record_that_is_no_event_is_listed() -> None:
    strange = encode_record(b"no protobuf at all")
    section = decode(event(1) + strange + event(2), 0, True)
    assert section.damage == (Damage(len(event(1)), len(strange), "damage.unparsable"),)


def test_many_records_that_are_no_events_are_listed_each() -> None:
    strange = encode_record(b"\x09no protobuf at all")
    section = decode(strange * 300, 0, True)
    assert len(section.damage) == 300
    assert section.blocks == ()


def test_header_found_far_behind_noise() -> None:
    noise = np.random.default_rng(1).bytes(3 << 20)
    data = event(1) + noise + event(2)
    assert steps_of(data) == [1, 2]


def test_a_hole_of_a_terabyte_is_one_stretch_and_one_at_the_end_is_not_written_yet(tmp_path: Path) -> None:
    """As after a preallocation, or a copy whose end arrived first."""
    path, size = tmp_path / NAME, 1 << 40
    with path.open("wb") as file:
        file.write(training(3))
        begun = file.tell()
        file.seek(size)
        file.write(training(2))
        file.truncate(3 * size)
    section, damage = read_section(str(path), 0, 1 << 20), list[Damage]()
    while section.next_offset < 2 * size and not section.pending:
        damage += section.damage
        section = read_section(str(path), section.next_offset, 1 << 20)
    assert sum(region.size for region in damage) >= size - begun
    assert {region.reason for region in damage} == {"damage.zeros"}
    assert len(damage) <= 4
    assert section.pending > 2 * size - (1 << 21)
