"""Signatures of encoded pictures and sounds, and the parser of picture headers."""

import struct
from typing import Final, NamedTuple


class MediaType(NamedTuple):
    """Picture or sound format that browsers support."""

    media_type: str
    suffix: str  # of a file, with its dot


PNG: Final = MediaType("image/png", ".png")
JPEG: Final = MediaType("image/jpeg", ".jpg")
GIF: Final = MediaType("image/gif", ".gif")
BMP: Final = MediaType("image/bmp", ".bmp")
WEBP: Final = MediaType("image/webp", ".webp")
_PICTURE_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": PNG, b"\xff\xd8\xff": JPEG, b"GIF8": GIF, b"BM": BMP}


def picture_type(encoded: bytes) -> MediaType | None:
    """Return the format of an encoded picture by its first bytes, or None if it is unknown."""
    if encoded[:4] == b"RIFF" and encoded[8:12] == b"WEBP":  # RIFF files can also hold sound or video
        return WEBP
    return next((kind for start, kind in _PICTURE_SIGNATURES.items() if encoded.startswith(start)), None)


_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # JPEG markers that begin a frame
_MAX_SEGMENTS: Final = 1000  # a picture has a few dozen; bounds the work for hostile files


def picture_size(encoded: bytes) -> tuple[int, int]:
    """Return width and height of a picture, or zeros if the header does not state them. Sources: PNG, JPEG
    (ITU T.81), GIF89a, WebP."""
    kind = picture_type(encoded)
    try:
        return _size(kind, encoded) if kind else (0, 0)
    except (struct.error, IndexError):
        return 0, 0


def _size(kind: MediaType, encoded: bytes) -> tuple[int, int]:
    """Return width and height in pixels from a picture's header. Raises IndexError or struct.error for a
    truncated header."""
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
    """Return width and height of a WebP picture."""
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
    """Return width and height of a JPEG picture, or zeros."""
    at = 2
    for _ in range(_MAX_SEGMENTS):
        marker, length = encoded[at + 1], int.from_bytes(encoded[at + 2 : at + 4], "big")
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", encoded, at + 5)
            return width, height
        if marker == 0xFF:  # padding
            at += 1
        else:
            at += 2 + length
    return 0, 0


SIGNATURE_BYTES: Final = 12  # of a sound that identify its format


WAV: Final = MediaType("audio/wav", ".wav")
OGG: Final = MediaType("audio/ogg", ".ogg")
FLAC: Final = MediaType("audio/flac", ".flac")
MP3: Final = MediaType("audio/mpeg", ".mp3")
_SOUND_SIGNATURES: Final = {
    b"OggS": OGG,
    b"fLaC": FLAC,
    b"ID3": MP3,
    b"\xff\xfb": MP3,
    b"\xff\xf3": MP3,
    b"\xff\xf2": MP3,
}


def sound_type(encoded: bytes) -> MediaType | None:
    """Return the format of an encoded sound by its first bytes, or None if it is unknown."""
    if encoded[:4] == b"RIFF" and encoded[8:12] == b"WAVE":  # RIFF files can also hold pictures or video
        return WAV
    return next((kind for start, kind in _SOUND_SIGNATURES.items() if encoded.startswith(start)), None)
