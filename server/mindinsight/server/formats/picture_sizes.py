"""Parser of picture headers: width and height in pixels, without decoding."""

from __future__ import annotations

import struct
from typing import Final

from mindinsight.server.formats.picture_types import BMP, GIF, JPEG, PNG, WEBP, PictureType, picture_type

_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG markers that begin a frame
_MOST_SEGMENTS: Final = 1000


def picture_size(encoded: bytes) -> tuple[int, int]:
    """Width and height; zeros where the header does not say. Sources: PNG, JPEG (ITU T.81), GIF89a, WebP."""
    kind = picture_type(encoded)
    try:
        return _size(kind, encoded) if kind else (0, 0)
    except (struct.error, IndexError):
        return 0, 0


def _size(kind: PictureType, encoded: bytes) -> tuple[int, int]:
    width = height = 0
    if kind is PNG:
        width, height = struct.unpack_from(">II", encoded, 16)
    elif kind is GIF:
        width, height = struct.unpack_from("<HH", encoded, 6)
    elif kind is BMP:
        width, height = struct.unpack_from("<ii", encoded, 18)
    elif kind is WEBP:
        return _webp(encoded)
    elif kind is JPEG:
        return _jpeg(encoded)
    return width, abs(height)


def _webp(encoded: bytes) -> tuple[int, int]:
    form = encoded[12:16]
    if form == b"VP8X":
        width, height = (int.from_bytes(encoded[at : at + 3], "little") for at in (24, 27))
        return width + 1, height + 1
    if form == b"VP8L":
        bits = int.from_bytes(encoded[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", encoded, 26)
    return width & 0x3FFF, height & 0x3FFF


def _jpeg(encoded: bytes) -> tuple[int, int]:
    at = 2
    for _ in range(_MOST_SEGMENTS):
        marker, length = encoded[at + 1], int.from_bytes(encoded[at + 2 : at + 4], "big")
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", encoded, at + 5)
            return width, height
        if marker == 0xFF:  # padding
            at += 1
        else:
            at += 2 + length
    return 0, 0
