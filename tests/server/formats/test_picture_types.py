import pytest

from mindinsight.server.formats.picture_types import picture_type


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
