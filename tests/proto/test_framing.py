import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.framing import (
    FOOTER_SIZE,
    HEADER_SIZE,
    decode_header,
    decode_payload,
    encode_record,
    masked_crc,
)

# RFC 3720, section B.4: CRC-32C of 32 bytes of zeros, of ones, and ascending.
KNOWN = {bytes(32): 0x8A9136AA, b"\xff" * 32: 0x62A8AB43, bytes(range(32)): 0x46DD794E}


@pytest.mark.parametrize(("data", "crc"), KNOWN.items())
def test_the_checksum_is_crc32c_masked(data: Any, crc: Any) -> None:
    rotated = (crc >> 15) | (crc << 17) & 0xFFFFFFFF
    assert masked_crc(data) == (rotated + 0xA282EAD8) % 2**32


@given(st.binary(max_size=300))
def test_a_record_reads_back(payload: Any) -> None:
    record = encode_record(payload)
    assert len(record) == HEADER_SIZE + len(payload) + FOOTER_SIZE
    assert decode_header(record[:HEADER_SIZE]) == len(payload)
    assert decode_payload(record[HEADER_SIZE:]) == payload


@given(st.binary(min_size=1, max_size=60), st.data())
def test_every_flipped_bit_is_noticed(payload: Any, data: Any) -> None:
    record = bytearray(encode_record(payload))
    bit = data.draw(st.integers(0, len(record) * 8 - 1))
    record[bit // 8] ^= 1 << bit % 8
    if bit < HEADER_SIZE * 8:
        assert decode_header(bytes(record[:HEADER_SIZE])) is None
    else:
        assert decode_payload(bytes(record[HEADER_SIZE:])) is None


def test_the_length_is_the_whole_of_a_u64() -> None:
    length = struct.pack("<Q", 2**63 + 5)
    assert decode_header(length + struct.pack("<I", masked_crc(length))) == 2**63 + 5
