"""Sounds by their first bytes."""

import pytest

from mindinsight.server.formats.sound_types import FLAC, MP3, OGG, WAV, SoundType, sound_type


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"RIFF\0\0\0\0WAVEfmt ", WAV),
        (b"RIFF\0\0\0\0WEBPVP8 ", None),
        (b"OggS\0", OGG),
        (b"fLaC\0", FLAC),
        (b"ID3\x04", MP3),
        (b"\xff\xfb\x90", MP3),
        (b"<html>", None),
        (b"", None),
    ],
)
def test_only_what_is_a_sound_is_one(start: bytes, kind: SoundType | None) -> None:
    assert sound_type(start) == kind
