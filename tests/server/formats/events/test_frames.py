"""Scanner of framing: where records lie, what is damaged, and what is not written yet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.framing import FOOTER_SIZE, HEADER_SIZE, encode_record
from mindinsight.server.formats.events.frames import FRAME_SIZE, payload_size, scan

PAYLOADS = [b"version", b"first", b"the second one", b"third", b"fourth!"]


def records(payloads: list[bytes]) -> bytes:
    return b"".join(map(encode_record, payloads))


def payloads(data: bytes) -> list[bytes]:
    frames = scan(data, at_end=True)
    begins = (frames.starts + HEADER_SIZE).tolist()
    return [data[begin : begin + size] for begin, size in zip(begins, frames.sizes.tolist(), strict=True)]


@given(st.lists(st.binary(max_size=40), max_size=60), st.integers(1, 40))
def test_any_records_are_found_in_their_order(parts: list[bytes], rounds: int) -> None:
    data = records(parts * rounds)
    frames = scan(data, at_end=True)
    assert payloads(data) == parts * rounds
    assert (frames.gaps, frames.end) == ((), len(data))


def test_the_last_record_is_waited_for_until_it_is_whole() -> None:
    data = records(PAYLOADS)
    begin = len(records(PAYLOADS[:-1]))
    for end in range(begin, len(data)):
        frames = scan(data[:end], at_end=True)
        assert (len(frames.starts), frames.end, frames.gaps) == (4, begin, ())


@pytest.mark.parametrize("byte", [0, 9], ids=["length", "checksum"])
def test_a_wrong_header_costs_its_record_and_no_more(byte: int) -> None:
    begin = len(records(PAYLOADS[:2]))
    data = bytearray(records(PAYLOADS))
    data[begin + byte] ^= 0x40
    frames = scan(bytes(data), at_end=True)
    assert payloads(bytes(data)) == PAYLOADS[:2] + PAYLOADS[3:]
    assert [(gap.offset, gap.size, gap.reason) for gap in frames.gaps] == [
        (begin, FRAME_SIZE + len(PAYLOADS[2]), "damage.length_crc")
    ]


def test_zeros_between_records_are_a_gap_and_at_the_end_are_waited_for() -> None:
    data = records(PAYLOADS[:2]) + bytes(50)
    frames = scan(data, at_end=True)
    assert (frames.gaps, frames.end) == ((), len(data) - 50)
    more = data + records(PAYLOADS[2:])
    frames = scan(more, at_end=True)
    assert [(gap.offset, gap.size, gap.reason) for gap in frames.gaps] == [
        (len(data) - 50, 50, "damage.zeros")
    ]
    assert payloads(more) == PAYLOADS


def test_noise_is_given_up_but_for_where_a_header_can_have_begun() -> None:
    noise = np.random.default_rng(5).bytes(300)
    frames = scan(records(PAYLOADS) + noise, at_end=False)
    [gap] = frames.gaps
    assert (gap.size, gap.reason) == (300 - HEADER_SIZE + 1, "damage.noise")
    assert frames.end == gap.offset + gap.size


def test_a_length_beyond_a_protobuf_message_is_no_record() -> None:
    header = encode_record(b"x")[:HEADER_SIZE]
    assert payload_size(header) == 1
    assert payload_size(bytes(HEADER_SIZE)) is None
    assert FRAME_SIZE == HEADER_SIZE + FOOTER_SIZE
