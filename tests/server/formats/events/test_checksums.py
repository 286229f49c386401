"""Checksums of many records verified together are those of each alone."""

import google_crc32c
import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events.checksums import intact, masked
from mindinsight.server.types import Ints

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
    assert intact(bytes(data), starts, lengths).tolist() == [True] * count


@pytest.mark.parametrize("sizes", [UNIFORM, IN_TURNS, ODD, LONG], ids=["uniform", "in turns", "odd", "long"])
@pytest.mark.parametrize("at", [12, 16, -4, -1], ids=["first byte", "fifth", "checksum", "its last byte"])
def test_every_flipped_bit_is_found_in_its_record(sizes: list[int], at: int) -> None:
    data, starts, lengths = framed(sizes, 67)
    for row in range(0, 67, 3):
        result = int(starts[row]) + (at if at > 0 else int(lengths[row]) + 16 + at)
        data[result] ^= 1 << row % 8
        assert np.flatnonzero(~intact(bytes(data), starts, lengths)).tolist() == [row]
        data[result] ^= 1 << row % 8


@pytest.mark.parametrize("sizes", [UNIFORM, IN_TURNS, ODD], ids=["uniform", "in turns", "odd"])
def test_equal_faults_in_several_records_do_not_cancel_each_other(sizes: list[int]) -> None:
    data, starts, lengths = framed(sizes, 640)
    for first in range(0, 600, 37):
        for second in (first + 1, first + 2, first + 32, 639):
            wounded = bytearray(data)
            for row in (first, second):
                wounded[int(starts[row]) + 12] ^= 0xFF
            assert np.flatnonzero(~intact(bytes(wounded), starts, lengths)).tolist() == [first, second]


def test_what_lies_between_records_is_not_looked_at() -> None:
    records = [encode_record(bytes([number]) * 30) for number in range(60)]
    data = b"".join(records[:20]) + b"gap" + b"".join(records[20:21]) + b"another" + b"".join(records[21:])
    starts = np.arange(60) * 46 + np.repeat([0, 3, 10], [20, 1, 39])
    assert intact(data, starts, np.full(60, 30)).all()


def test_what_is_stored_is_the_masked_checksum() -> None:
    record = encode_record(b"payload")
    crcs = np.array([google_crc32c.value(b"payload")], np.uint32)
    assert masked(crcs).tolist() == [int.from_bytes(record[-4:], "little")]
