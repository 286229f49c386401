"""Sizes in the headers of pictures that Pillow wrote, and zeros for headers that say nothing."""

import io

import pytest
from PIL import Image

from mindinsight.server.formats.picture_sizes import picture_size

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
