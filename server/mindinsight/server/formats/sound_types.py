"""Signatures of encoded sounds: the one table by which they are played, exported and served.

Only what is a sound by its own first bytes goes out as one; anything else is a download.
"""

from __future__ import annotations

from typing import Final, NamedTuple

SIGNATURE_BYTES: Final = 12  # of a sound that are enough to know it


class SoundType(NamedTuple):
    """A format that browsers play."""

    media_type: str
    suffix: str  # of a file, with its dot


WAV: Final = SoundType("audio/wav", ".wav")
OGG: Final = SoundType("audio/ogg", ".ogg")
FLAC: Final = SoundType("audio/flac", ".flac")
MP3: Final = SoundType("audio/mpeg", ".mp3")
_SIGNATURES: Final = {
    b"OggS": OGG,
    b"fLaC": FLAC,
    b"ID3": MP3,
    b"\xff\xfb": MP3,
    b"\xff\xf3": MP3,
    b"\xff\xf2": MP3,
}


def sound_type(encoded: bytes) -> SoundType | None:
    """The type of an encoded sound by its first bytes; None for anything else."""
    if encoded[:4] == b"RIFF" and encoded[8:12] == b"WAVE":  # RIFF holds pictures and films too
        return WAV
    return next((kind for start, kind in _SIGNATURES.items() if encoded.startswith(start)), None)
