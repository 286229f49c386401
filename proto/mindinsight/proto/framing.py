"""One record of an event file: length, checksum, payload, checksum.

Source of the rules: FORMAT.md in this folder. The framing is the one of TFRecord files.
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
_MASK_DELTA: Final = 0xA282EAD8


def masked_crc(data: bytes) -> int:
    """CRC-32C of ``data``, rotated right by 15 bits and offset, as stored in the file."""
    crc: int = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def encode_record(payload: bytes) -> bytes:
    """``payload`` framed as one record, ``len(payload) + 16`` bytes."""
    length = _LENGTH.pack(len(payload))
    return b"".join((length, _FOOTER.pack(masked_crc(length)), payload, _FOOTER.pack(masked_crc(payload))))


def decode_header(header: bytes) -> int | None:
    """Payload length told by 12 header bytes, or None when their checksum is wrong."""
    length, crc = _HEADER.unpack(header)
    return int(length) if crc == masked_crc(header[:8]) else None


def decode_payload(body: bytes) -> bytes | None:
    """Payload of ``body`` (payload and its 4 checksum bytes), or None when the checksum is wrong."""
    payload = body[:-FOOTER_SIZE]
    (crc,) = _FOOTER.unpack_from(body, len(payload))
    return payload if crc == masked_crc(payload) else None
