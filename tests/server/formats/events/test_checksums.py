"""Checksums of many records at once are those of each alone."""

import google_crc32c
import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events.checksums import crcs_of_pattern, masked


@pytest.mark.parametrize("sizes", [[16], [17, 40], [16, 300, 21]], ids=str)
@pytest.mark.parametrize("rounds", [0, 1, 700, 2048, 5001])
def test_records_of_a_pattern_in_the_order_of_the_file(sizes, rounds) -> None:
    random = np.random.default_rng(4)
    payloads = [random.bytes(size - 16) for _ in range(rounds) for size in sizes]
    data = b"".join(map(encode_record, payloads))
    found = crcs_of_pattern(memoryview(data), sizes)
    assert found.tolist() == list(map(google_crc32c.value, payloads))


def test_what_is_stored_is_the_masked_checksum() -> None:
    record = encode_record(b"payload")
    crcs = np.array([google_crc32c.value(b"payload")], np.uint32)
    assert masked(crcs).tolist() == [int.from_bytes(record[-4:], "little")]


@pytest.mark.parametrize("sizes", [[40], [53, 40, 256], [20, 300]], ids=str)
@pytest.mark.parametrize("rounds", [31, 32, 65, 7000])
@pytest.mark.parametrize("differing", [0, 1, 14])
def test_records_of_which_few_bytes_differ(sizes, rounds, differing) -> None:
    random = np.random.default_rng(5)
    first = [bytearray(random.bytes(size - 16)) for size in sizes]
    payloads = []
    for number in range(rounds):
        for payload in first:
            for at in (
                random.integers(0, len(payload), 1)[:differing] if number % 3 else range(min(differing, 4))
            ):
                payload[at] = random.integers(256)
            payloads.append(bytes(payload))
    data = b"".join(map(encode_record, payloads))
    crcs = crcs_of_pattern(memoryview(data), sizes)
    assert crcs.tolist() == list(map(google_crc32c.value, payloads))
