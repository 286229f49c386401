"""A file that grows, and one that is read piece by piece, hold the same in the end."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.formats.events import decode, read_section
from mindinsight.server.types import DecodedSection
from tests.thoroughness import amount

SAMPLES = Path(__file__).parents[3] / "data" / "events"


def training(steps: int) -> bytes:
    records = [encode_record(Event(wall_time=1.0, version="MindSpore.Event:1").SerializeToString())]
    for step in range(100, 100 + steps):
        message = Event(wall_time=2.0 + step, step=step)
        message.summary.value.add(tag="loss", scalar_value=step)
        if step % 4 == 0:
            message.summary.value.add(tag="often", scalar_value=1, exact_scalar=1 / step)
        if step % 9 == 0:
            message.summary.value.add(tag="picture").image.encoded_image = b"x" * step
        records.append(encode_record(message.SerializeToString()))
    return b"".join(records)


def follow(data: bytes, ends: list[int]) -> list[DecodedSection]:
    """What a reader sees that looks whenever the file has grown to one of ``ends``."""
    sections, offset = [], 0
    for end in [*ends, len(data)]:
        section = decode(data[offset:end], offset, True)
        assert section.next_offset + section.pending == max(end, offset)
        sections.append(section)
        offset = section.next_offset
    return sections


def test_growing_byte_by_byte(facts: Any, reference: Any) -> None:
    data = training(30)
    assert facts(follow(data, list(range(len(data)))), data) == reference(data)


def test_growing_in_two_parts_cut_anywhere(facts: Any, reference: Any) -> None:
    data = training(80)
    wanted = reference(data)
    for cut in range(0, len(data), 11):  # every place in a header and in a payload, sooner or later
        assert facts(follow(data, [cut]), data) == wanted, cut


@settings(max_examples=amount(40, 15), deadline=None)
@given(cuts=st.lists(st.integers(0, 12000), max_size=12), wounds=st.lists(st.integers(0, 12000), max_size=4))
def test_growing_damaged_file_in_any_parts(facts: Any, reference: Any, cuts: Any, wounds: Any) -> None:
    data = bytearray(training(200))
    for wound in wounds:
        data[wound % len(data)] ^= 0x55
    content = bytes(data)
    result = facts(follow(content, sorted(cut for cut in cuts if cut < len(content))), content)
    wanted = reference(content)
    assert (result.points, result.damaged, result.end) == (wanted.points, wanted.damaged, wanted.end)


def pieces(path: Path, size: int) -> list[DecodedSection]:
    sections, offset = [], 0
    while True:
        section = read_section(str(path), offset, size)
        sections.append(section)
        if section.next_offset == offset:
            return sections
        offset = section.next_offset


@pytest.mark.parametrize("size", [64, 1000, 30_000, 1 << 20])
@pytest.mark.parametrize("sample", ["lenet", "damaged/flip_length_high", "damaged/zero_tail", "damaged/text"])
def test_file_read_in_pieces(sample: str, size: int, facts: Any, reference: Any) -> None:
    path = next((SAMPLES / sample).glob("*_MS"))
    data = path.read_bytes()
    result, wanted = facts(pieces(path, size), data), reference(data)
    assert (result.points, result.damaged, result.end) == (wanted.points, wanted.damaged, wanted.end)


def test_record_longer_than_the_piece_is_read_to_its_end(tmp_path: Path) -> None:
    data = training(200)
    (tmp_path / "file").write_bytes(data)
    section = read_section(str(tmp_path / "file"), 0, 20)
    assert (section.records, section.next_offset, section.pending) == (1, 44, 0)


def test_long_record_that_is_not_all_there_is_not_read(tmp_path: Path) -> None:
    message = Event(step=1)
    message.summary.value.add(tag="t").tensor.raw_data = bytes(1 << 20)
    record = encode_record(message.SerializeToString())
    (tmp_path / "file").write_bytes(record[:-1])
    section = read_section(str(tmp_path / "file"), 0, 1000)
    assert section == DecodedSection(0, len(record) - 1, 0)


def test_offset_behind_the_end_of_a_file_that_was_cut(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"short")
    section = read_section(str(tmp_path / "file"), 100, 1000)
    assert (section.next_offset, section.pending, section.records) == (100, 0, 0)


def test_missing_file_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_section(str(tmp_path / "none"), 0, 100)


def test_stretch_travels_between_processes(tmp_path: Path, facts: Any, reference: Any) -> None:
    data = training(300)
    (tmp_path / "file").write_bytes(data)
    with ProcessPoolExecutor(1) as pool:
        section = pool.submit(read_section, str(tmp_path / "file"), 0, 1 << 20).result()
    assert facts([section], data) == reference(data)
    assert len(pickle.dumps(section)) < len(data)
