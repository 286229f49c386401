"""The next record behind damage is where a length agrees with its checksum, and nowhere else."""

import random

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events.resync import find_header

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
