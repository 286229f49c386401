"""Signatures of encoded pictures: the one table by which they are shown, exported and served.

Only what is a picture by its own first bytes goes out as one; anything else is a download.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class PictureType(NamedTuple):
    """A format that browsers show."""

    media_type: str
    suffix: str  # of a file, with its dot


PNG: Final = PictureType("image/png", ".png")
JPEG: Final = PictureType("image/jpeg", ".jpg")
GIF: Final = PictureType("image/gif", ".gif")
BMP: Final = PictureType("image/bmp", ".bmp")
WEBP: Final = PictureType("image/webp", ".webp")
_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": PNG, b"\xff\xd8\xff": JPEG, b"GIF8": GIF, b"BM": BMP}


def picture_type(encoded: bytes) -> PictureType | None:
    """The type of an encoded picture by its first bytes; None for anything else."""
    if encoded[:4] == b"RIFF" and encoded[8:12] == b"WEBP":  # RIFF holds sound and films too
        return WEBP
    return next((kind for start, kind in _SIGNATURES.items() if encoded.startswith(start)), None)
