"""Records too long to be held: what is beside their payloads is read, the payloads stay in the file."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import google_crc32c
import pytest

from mindinsight.proto.framing import encode_record, masked_crc
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats.events import decode, read_section
from mindinsight.server.formats.read_limits import EVENT
from mindinsight.server.types import Damage

PAYLOAD = b"\x89PNG" * (EVENT.size // 4)
LIMIT = 1 << 30  # bytes of address space; the record has 2 GiB
READ = """
import sys
from mindinsight.server.formats.events import read_section
section = read_section(sys.argv[1], 0, 1 << 20)
column, = section.references
print(section.records, column.kind, column.tag, column.offsets[0], column.sizes[0], section.damage)
"""


def event(step: int = 7) -> Event:
    message = Event(wall_time=1.7e9, step=step)
    message.summary.value.add(tag="loss", scalar_value=0.5)
    message.summary.value.add(tag="exact", scalar_value=1, exact_scalar=1 / 3)
    message.summary.value.add(tag="picture").image.encoded_image = PAYLOAD
    message.summary.value.add(tag="last", scalar_value=-2)
    return message


@pytest.fixture(scope="module")
def record() -> bytes:
    return encode_record(event().SerializeToString())


def short(step: int) -> bytes:
    message = Event(wall_time=1.7e9, step=step)
    message.summary.value.add(tag="loss", scalar_value=step)
    return encode_record(message.SerializeToString())


def follow(path: Path) -> list[Any]:
    sections, offset = [], 0
    while offset < path.stat().st_size:
        sections.append(read_section(str(path), offset, 1 << 16))
        if sections[-1].next_offset == offset:
            break
        offset = sections[-1].next_offset
    return sections


def test_a_long_record_says_what_it_says_when_it_is_held(tmp_path: Path, record: bytes, facts: Any) -> None:
    data = short(1) + record + short(9)
    path = tmp_path / "events"
    path.write_bytes(data)
    assert facts(follow(path), data) == facts([decode(data, 0, True)], data)


@pytest.mark.slow
def test_a_record_of_two_gigabytes_is_read_in_little_memory(tmp_path: Path) -> None:
    """Zeros take no room on the disk; their checksum is that of the record."""
    size = (1 << 31) - 64
    head = event_of_zeros(size)
    path = tmp_path / "events"
    length = (len(head) + size).to_bytes(8, "little")
    crc = google_crc32c.value(head)
    zeros = bytes(1 << 24)
    for begin in range(0, size, len(zeros)):
        crc = google_crc32c.extend(crc, zeros[: size - begin])
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    with path.open("wb") as file:
        file.write(length + masked_crc(length).to_bytes(4, "little") + head)
        file.seek(12 + len(head) + size)
        file.write(masked.to_bytes(4, "little"))
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
        env={"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.stdout.split() == ["1", "image", "t", str(12 + len(head)), str(size), "()"], done.stderr[
        -2000:
    ]


def event_of_zeros(size: int) -> bytes:
    """The beginning of an event with one image message of ``size`` zeros."""
    value = b"\x0a\1t" + b"\x22" + varint(size)
    summary = b"\x0a" + varint(len(value) + size) + value
    return b"\x2a" + varint(len(summary) + size) + summary


def varint(value: int) -> bytes:
    groups = []
    while value >= 0x80:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def test_a_wrong_checksum_is_damage_and_the_next_record_is_read(tmp_path: Path, record: bytes) -> None:
    path = tmp_path / "events"
    wrong = bytearray(record)
    wrong[1 << 20] ^= 1
    path.write_bytes(bytes(wrong) + short(9))
    first, second = follow(path)
    assert (first.damage, first.records) == ((Damage(0, len(record), "damage.body_crc"),), 0)
    assert second.blocks[0].steps.tolist() == [9]


def test_bytes_that_are_no_event_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "events"
    strange = encode_record(b"\x0f" * (EVENT.size + 1))
    path.write_bytes(short(1) + strange)
    assert [section.damage for section in follow(path)] == [
        (),
        (Damage(len(short(1)), len(strange), "damage.unparsable"),),
    ]


def test_contents_given_again_and_again_take_time_in_proportion(tmp_path: Path) -> None:
    """Copied anew for each of half a million, the list of them would take many minutes."""
    record = encode_record(b"\x1a\0\x2a\0" * 500_000)
    assert len(record) < EVENT.size
    section = decode(record, 0, True)
    assert (section.records, section.damage) == (1, ())


@pytest.mark.parametrize(
    "content",
    [
        b"\x2a\4\x0a\2\x0a\0" * (EVENT.size // 6 + 1),
        b"\x10\1" * (EVENT.size // 2 + 1),
        b"\x1a" + varint(EVENT.size + 1) + b"x" * (EVENT.size + 1),
    ],
    ids=["values", "steps", "version"],
)
def test_more_than_the_budget_of_an_event_is_damage(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "events"
    path.write_bytes(encode_record(content) + short(9))
    first, second = follow(path)
    assert [(damage.offset, damage.reason) for damage in first.damage] == [(0, "damage.many_values")]
    assert second.blocks[0].steps.tolist() == [9]


def test_a_record_that_is_still_written_is_waited_for(tmp_path: Path, record: bytes) -> None:
    path = tmp_path / "events"
    path.write_bytes(record[:-1])
    assert follow(path)[-1].pending == len(record) - 1
    path.write_bytes(record[:-5] + bytes(5))  # allocated and not written yet
    section = read_section(str(path), 0, 1 << 16)
    assert (section.next_offset, section.pending, section.damage) == (0, len(record), ())
    path.write_bytes(record[:-5] + bytes(5 + 5_000_000))  # and more behind it
    section = read_section(str(path), 0, 1 << 16)
    assert (section.next_offset, section.pending, section.damage) == (0, len(record) + 5_000_000, ())
    path.write_bytes(record[:-5] + bytes(5 + 5_000_000) + b"x")
    assert [damage.reason for damage in read_section(str(path), 0, 1 << 16).damage] == ["damage.body_crc"]
