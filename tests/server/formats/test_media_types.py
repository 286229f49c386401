"""Sizes in the headers of pictures that Pillow wrote, and zeros for headers that say nothing."""

import io

import pytest
from PIL import Image

from mindinsight.server.formats.media_types import (
    FLAC,
    MP3,
    OGG,
    WAV,
    MediaType,
    picture_size,
    picture_type,
    sound_type,
)

SIZE = (37, 11)


def encoded(kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", SIZE, "red").save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "JPEG", "WEBP"])
def test_width_and_height_are_those_of_the_picture(kind: str) -> None:
    assert picture_size(encoded(kind)) == SIZE


def test_every_form_of_webp_and_jpeg() -> None:
    assert picture_size(encoded("WEBP", lossless=True)) == SIZE
    assert picture_size(encoded("WEBP", icc_profile=b"profile")) == SIZE  # the extended form
    assert picture_size(encoded("JPEG", progressive=True, comment="a comment")) == SIZE


def test_a_bitmap_may_begin_with_its_top_row() -> None:
    content = bytearray(encoded("BMP"))
    content[22:26] = (-SIZE[1]).to_bytes(4, "little", signed=True)
    assert picture_size(bytes(content)) == SIZE


@pytest.mark.parametrize("kind", ["PNG", "GIF", "BMP", "JPEG", "WEBP"])
def test_a_header_cut_short_has_no_size(kind: str) -> None:
    assert picture_size(encoded(kind)[:9]) == (0, 0)


def test_what_is_no_picture_and_segments_without_end_have_no_size() -> None:
    assert picture_size(b"text") == (0, 0)
    assert picture_size(b"\xff\xd8\xff" + b"\xff" * 5000) == (0, 0)


@pytest.mark.parametrize(
    ("start", "media_type", "suffix"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png", ".png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg", ".jpg"),
        (b"GIF89a", "image/gif", ".gif"),
        (b"BM6\0", "image/bmp", ".bmp"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp", ".webp"),
    ],
)
def test_pictures_are_known_by_their_first_bytes(start: bytes, media_type: str, suffix: str) -> None:
    assert picture_type(start + bytes(100)) == (media_type, suffix)


@pytest.mark.parametrize("start", [b"", b"RIFF\x24\0\0\0WAVEfmt ", b"<svg", b"<html>", b"\x89PNX"])
def test_other_bytes_are_no_picture(start: bytes) -> None:
    assert picture_type(start) is None


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
def test_only_what_is_a_sound_is_one(start: bytes, kind: MediaType | None) -> None:
    assert sound_type(start) == kind
