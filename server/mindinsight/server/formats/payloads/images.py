"""Decoder of Summary.Image: size, colour space, and the picture as it was encoded (PNG as far as known)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mindinsight.server.formats.picture_sizes import picture_size
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields, read_varint, signed

HEADER_BYTES: Final = 64  # the fields before the picture take fewer
_HEIGHT, _WIDTH, _COLORSPACE, _ENCODED = 1 << 3, 2 << 3, 3 << 3, 4 << 3 | 2


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Size in pixels; colour space 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA, 5 YUV, 6 BGRA, 0 not told."""

    width: int
    height: int
    colorspace: int


@dataclass(frozen=True, slots=True)
class Image:
    header: ImageHeader
    encoded: bytes


def image_header(start: bytes) -> ImageHeader:
    """The header from the first bytes of a message, at least HEADER_BYTES of them or all."""
    numbers: dict[int, int] = {}
    for key, at, end in _fields_there(start):
        if key in (_HEIGHT, _WIDTH, _COLORSPACE):
            numbers[key] = signed(read_varint(start, at, end)[0])
    return ImageHeader(*(numbers.get(key, 0) for key in (_WIDTH, _HEIGHT, _COLORSPACE)))


def image(payload: bytes) -> Image:
    """Decode an image message. Raises UnreadableError.

    The size is that of the picture itself. The size that the message states is used if the picture has none.
    """
    try:
        fields = list(message_fields(payload, 0, len(payload)))
    except UnparsableError as error:
        raise UnreadableError("payload.unparsable", f"image: {error}") from error
    pictures = [payload[at:end] for key, at, end in fields if key == _ENCODED]
    encoded = pictures[-1] if pictures else b""
    header = image_header(payload)
    width, height = picture_size(encoded)
    return Image(replace(header, width=width, height=height) if width and height else header, encoded)


def _fields_there(start: bytes) -> Iterator[tuple[int, int, int]]:
    """Fields up to the first that is cut."""
    try:
        yield from message_fields(start, 0, len(start))
    except UnparsableError:
        return
