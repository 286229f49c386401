"""Framing of records in an event file: length, checksum, payload, checksum.

The rules are in FORMAT.md in this folder. TFRecord files have the same framing.
"""

from __future__ import annotations

import struct
from typing import Final

import google_crc32c

HEADER_SIZE: Final = 12
FOOTER_SIZE: Final = 4
_HEADER: Final = struct.Struct("<QI")
_FOOTER: Final = struct.Struct("<I")
_LENGTH: Final = struct.Struct("<Q")
MASK_DELTA: Final = 0xA282EAD8


def masked_crc(data: bytes) -> int:
    """Return the CRC-32C of ``data``, rotated right by 15 bits and offset, as stored in the file."""
    crc: int = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + MASK_DELTA) & 0xFFFFFFFF


def encode_record(payload: bytes) -> bytes:
    """Return ``payload`` framed as one record of ``len(payload) + 16`` bytes."""
    length = _LENGTH.pack(len(payload))
    return b"".join((length, _FOOTER.pack(masked_crc(length)), payload, _FOOTER.pack(masked_crc(payload))))


def decode_header(header: bytes) -> int | None:
    """Return the payload length in 12 header bytes, or None if their checksum is wrong. Raises struct.error
    for another number of bytes."""
    length, crc = _HEADER.unpack(header)
    return int(length) if crc == masked_crc(header[:8]) else None


def decode_payload(body: bytes) -> bytes | None:
    """Return the payload of ``body`` (payload and 4 checksum bytes), or None if the checksum is wrong."""
    payload = body[:-FOOTER_SIZE]
    (crc,) = _FOOTER.unpack_from(body, len(payload))
    return payload if crc == masked_crc(payload) else None
