"""Scanner of framing: where records lie, what is damaged, and what is not written yet."""

from __future__ import annotations

import random
from typing import Any

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, encode_record
from mindinsight.server.formats.events.framing import (
    FRAME_SIZE,
    check_crcs,
    find_header,
    find_repeats,
    mask_crcs,
    payload_size,
    scan_records,
    verified_records,
)
from mindinsight.server.types import Damage, Ints

PAYLOADS = [b"version", b"first", b"the second one", b"third", b"fourth!"]


def records(payloads: list[bytes]) -> bytes:
    return b"".join(map(encode_record, payloads))


def payloads(data: bytes) -> list[bytes]:
    frames = scan_records(data, at_end=True)
    begins = (frames.starts + HEADER_SIZE).tolist()
    return [data[begin : begin + size] for begin, size in zip(begins, frames.sizes.tolist(), strict=True)]


@given(st.lists(st.binary(max_size=40), max_size=60), st.integers(1, 40))
def test_any_records_are_found_in_their_order(parts: list[bytes], rounds: int) -> None:
    data = records(parts * rounds)
    frames = scan_records(data, at_end=True)
    assert payloads(data) == parts * rounds
    assert (frames.damage, frames.end) == ((), len(data))


def test_the_last_record_is_waited_for_until_it_is_whole() -> None:
    data = records(PAYLOADS)
    begin = len(records(PAYLOADS[:-1]))
    for end in range(begin, len(data)):
        frames = scan_records(data[:end], at_end=True)
        assert (len(frames.starts), frames.end, frames.damage) == (4, begin, ())


@pytest.mark.parametrize("byte", [0, 9], ids=["length", "checksum"])
def test_a_wrong_header_costs_its_record_and_no_more(byte: int) -> None:
    begin = len(records(PAYLOADS[:2]))
    data = bytearray(records(PAYLOADS))
    data[begin + byte] ^= 0x40
    frames = scan_records(bytes(data), at_end=True)
    assert payloads(bytes(data)) == PAYLOADS[:2] + PAYLOADS[3:]
    assert [(gap.offset, gap.size, gap.reason) for gap in frames.damage] == [
        (begin, FRAME_SIZE + len(PAYLOADS[2]), "damage.length_crc")
    ]


def test_zeros_between_records_are_a_gap_and_at_the_end_are_waited_for() -> None:
    data = records(PAYLOADS[:2]) + bytes(50)
    frames = scan_records(data, at_end=True)
    assert (frames.damage, frames.end) == ((), len(data) - 50)
    more = data + records(PAYLOADS[2:])
    frames = scan_records(more, at_end=True)
    assert [(gap.offset, gap.size, gap.reason) for gap in frames.damage] == [
        (len(data) - 50, 50, "damage.zeros")
    ]
    assert payloads(more) == PAYLOADS


def test_noise_is_given_up_but_for_where_a_header_can_have_begun() -> None:
    noise = np.random.default_rng(5).bytes(300)
    frames = scan_records(records(PAYLOADS) + noise, at_end=False)
    [gap] = frames.damage
    assert (gap.size, gap.reason) == (300 - HEADER_SIZE + 1, "damage.noise")
    assert frames.end == gap.offset + gap.size


def test_a_length_beyond_a_protobuf_message_is_no_record() -> None:
    header = encode_record(b"x")[:HEADER_SIZE]
    assert payload_size(header) == 1
    assert payload_size(bytes(HEADER_SIZE)) is None
    assert FRAME_SIZE == HEADER_SIZE + FOOTER_SIZE


UNIFORM, IN_TURNS, ODD, LONG = [40], [17, 40, 17], [*range(5, 105)], [300_000, 20]


def framed(sizes: list[int], count: int) -> tuple[bytearray, Ints, Ints]:
    """``count`` records of random payloads whose ``sizes`` repeat; starts and sizes of them all."""
    random = np.random.default_rng(4)
    lengths = np.resize(np.array(sizes, np.int64), count)
    data = bytearray(b"".join(encode_record(random.bytes(size)) for size in lengths.tolist()))
    return data, np.cumsum(lengths + 16) - lengths - 16, lengths


@pytest.mark.parametrize("sizes", [UNIFORM, IN_TURNS, ODD, LONG], ids=["uniform", "in turns", "odd", "long"])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 67, 901])
def test_whole_records_are_intact(sizes: list[int], count: int) -> None:
    count = min(count, 67) if sizes is LONG else count
    data, starts, lengths = framed(sizes, count)
    assert check_crcs(bytes(data), starts, lengths).tolist() == [True] * count


@pytest.mark.parametrize("sizes", [UNIFORM, IN_TURNS, ODD, LONG], ids=["uniform", "in turns", "odd", "long"])
@pytest.mark.parametrize("at", [12, 16, -4, -1], ids=["first byte", "fifth", "checksum", "its last byte"])
def test_every_flipped_bit_is_found_in_its_record(sizes: list[int], at: int) -> None:
    data, starts, lengths = framed(sizes, 67)
    for row in range(0, 67, 3):
        result = int(starts[row]) + (at if at > 0 else int(lengths[row]) + 16 + at)
        data[result] ^= 1 << row % 8
        assert np.flatnonzero(~check_crcs(bytes(data), starts, lengths)).tolist() == [row]
        data[result] ^= 1 << row % 8


@pytest.mark.parametrize("sizes", [UNIFORM, IN_TURNS, ODD], ids=["uniform", "in turns", "odd"])
def test_equal_faults_in_several_records_do_not_cancel_each_other(sizes: list[int]) -> None:
    data, starts, lengths = framed(sizes, 640)
    for first in range(0, 600, 37):
        for second in (first + 1, first + 2, first + 32, 639):
            wounded = bytearray(data)
            for row in (first, second):
                wounded[int(starts[row]) + 12] ^= 0xFF
            assert np.flatnonzero(~check_crcs(bytes(wounded), starts, lengths)).tolist() == [first, second]


def test_what_lies_between_records_is_not_looked_at() -> None:
    records = [encode_record(bytes([number]) * 30) for number in range(60)]
    data = b"".join(records[:20]) + b"gap" + b"".join(records[20:21]) + b"another" + b"".join(records[21:])
    starts = np.arange(60) * 46 + np.repeat([0, 3, 10], [20, 1, 39])
    assert check_crcs(data, starts, np.full(60, 30)).all()


def test_what_is_stored_is_the_masked_checksum() -> None:
    record = encode_record(b"payload")
    crcs = np.array([google_crc32c.value(b"payload")], np.uint32)
    assert mask_crcs(crcs).tolist() == [int.from_bytes(record[-4:], "little")]


RECORD = encode_record(b"some event")


@pytest.mark.parametrize("gap", [0, 1, 7, 4085, 4096, 100_000])
def test_a_header_is_found_behind_noise_of_any_length(gap: int) -> None:
    noise = random.Random(gap).randbytes(gap)
    assert find_header(noise + RECORD, 0) == gap


def test_a_header_before_the_offset_is_not_looked_at() -> None:
    assert find_header(RECORD * 3, 1) == len(RECORD)


def test_zeros_and_a_header_cut_short_are_none() -> None:
    assert find_header(bytes(5000), 0) == -1
    assert find_header(bytes(50) + RECORD[:11], 0) == -1
    assert find_header(b"", 0) == -1


def test_a_length_with_a_wrong_checksum_is_no_header() -> None:
    broken = bytearray(RECORD)
    broken[8] ^= 1
    assert find_header(bytes(broken) + RECORD, 0) == len(RECORD)


FIRST, SECOND, THIRD = (encode_record(text) for text in (b"first", b"second one", b"3"))


def flipped(record: bytes) -> bytes:
    return record[:12] + bytes([record[12] ^ 1]) + record[13:]


def test_payloads_are_those_that_were_framed() -> None:
    data = FIRST + SECOND + THIRD
    records = verified_records(data, at_end=True)
    assert records.payloads(data) == [b"first", b"second one", b"3"]
    assert (records.damage, records.end) == ((), len(data))


def test_a_wrong_body_is_damage_and_its_neighbours_are_read() -> None:
    data = FIRST + flipped(SECOND) + THIRD
    records = verified_records(data, at_end=True)
    assert records.payloads(data) == [b"first", b"3"]
    assert records.damage == (Damage(len(FIRST), len(SECOND), "damage.body_crc"),)


def test_a_record_cut_short_is_waited_for() -> None:
    data = FIRST + SECOND[:-1]
    for at_end in (False, True):
        records = verified_records(data, at_end)
        assert (records.payloads(data), records.damage, records.end) == ([b"first"], (), len(FIRST))


def test_zeros_at_the_end_are_space_that_is_not_written_yet() -> None:
    data = FIRST + SECOND[:14] + bytes(100)
    records = verified_records(data, at_end=True)
    assert (records.payloads(data), records.damage, records.end) == ([b"first"], (), len(FIRST))


def test_the_last_records_can_be_left_for_later() -> None:
    data = FIRST + SECOND + flipped(THIRD)
    records = verified_records(data, at_end=False).without_last(1)
    assert records.payloads(data) == [b"first"]
    assert (records.damage, records.end) == ((), len(FIRST))


@pytest.mark.parametrize(
    "sizes", [[9], [9, 5], [9, 5, 9, 5, 9], [3, 3, 3, 7], [5, 5, 9, 5, 5, 9, 9]], ids=str
)
@pytest.mark.parametrize("walked", [29, 32, 33, 34, 35, 36])
def test_everything_that_repeats_is_found_at_any_phase(sizes: Any, walked: int) -> None:
    records = [encode_record(b"x" * size) for size in sizes * 50]
    at = sum(map(len, records[:walked]))
    known = {record[:12]: len(record) for record in records}
    starts, end = find_repeats(b"".join(records), at, [record[:12] for record in records[:walked]], known)
    left = len(records) - walked
    assert len(starts) == left - left % len(sizes)
    assert end == at + sum(map(len, records[walked : walked + len(starts)]))


def test_a_pattern_that_began_just_now_is_found_too() -> None:
    records = [encode_record(b"x" * size) for size in [*range(20, 50), *[3, 4] * 20]]
    known = {record[:12]: len(record) for record in records}
    at = sum(map(len, records[:34]))
    starts, end = find_repeats(b"".join(records), at, [record[:12] for record in records[:34]], known)
    assert (len(starts), end) == (36, sum(map(len, records)))
