"""Decoders of images, sounds, texts and alerts as they were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mindinsight.server.formats.events.event_fields import tag_text
from mindinsight.server.formats.media_types import picture_size
from mindinsight.server.formats.read_limits import unreadable
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.wire_format import UnparsableError, message_fields, read_varint, signed
from mindinsight.server.types import LEVELS, Level

HEADER_BYTES: Final = 64  # the fields before the picture take fewer bytes
# Keys of Summary.Image: number and wire type of a field.
_HEIGHT, _WIDTH, _COLORSPACE, _ENCODED = 1 << 3, 2 << 3, 3 << 3, 4 << 3 | 2


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Size in pixels. Colour space 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA, 5 YUV, 6 BGRA, 0 unknown."""

    width: int
    height: int
    colorspace: int


@dataclass(frozen=True, slots=True)
class Image:
    """Encoded picture with its header."""

    header: ImageHeader
    encoded: bytes


def image_header(start: bytes) -> ImageHeader:
    """Return the header from the first bytes of a message: at least HEADER_BYTES, or the whole message.

    Fields after a truncation are 0.
    """
    numbers: dict[int, int] = {}
    for key, at, end in _fields_there(start):
        if key in (_HEIGHT, _WIDTH, _COLORSPACE):
            numbers[key] = signed(read_varint(start, at, end)[0])
    return ImageHeader(*(numbers.get(key, 0) for key in (_WIDTH, _HEIGHT, _COLORSPACE)))


def image(payload: bytes) -> Image:
    """Decode an image message.

    Raises UnreadableError.

    The size is taken from the picture itself, or from the message if the picture does not state it.
    """
    encoded = _last_fields(payload, "image").get(_ENCODED, b"")
    header = image_header(payload)
    width, height = picture_size(encoded)
    return Image(replace(header, width=width, height=height) if width and height else header, encoded)


def _last_fields(payload: bytes, kind: str) -> dict[int, bytes]:
    """Return the last content of each field. Raises UnreadableError."""
    with unreadable("payload.unparsable", kind, UnparsableError):
        return {key: payload[start:stop] for key, start, stop in message_fields(payload, 0, len(payload))}


def _fields_there(start: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the fields up to the first truncated one."""
    try:
        yield from message_fields(start, 0, len(start))
    except UnparsableError:
        return


# Keys of Summary.Audio.
_ENCODED_SOUND, _LABEL = 1 << 3 | 2, 2 << 3 | 2
_MAX_LABEL: Final = 10_000  # bytes


@dataclass(frozen=True, slots=True)
class Sound:
    """Encoded sound. ``label`` is Markdown, empty if there is none."""

    encoded: bytes
    label: str = ""


def sound(payload: bytes) -> Sound:
    """Decode a sound message. Raises UnreadableError."""
    fields = _last_fields(payload, "audio")
    return Sound(fields.get(_ENCODED_SOUND, b""), show_text(fields.get(_LABEL, b"")[:_MAX_LABEL]))


_CONTENT: Final = 1 << 3 | 2  # key of Summary.Text


def text(payload: bytes) -> str:
    """Decode a text message. Bytes that are not UTF-8 become escapes. Raises UnreadableError."""
    return show_text(_last_fields(payload, "text").get(_CONTENT, b""))


# Keys of Alert.
_TITLE, _TEXT, _LEVEL, _DUMP = 1 << 3 | 2, 2 << 3 | 2, 3 << 3, 4 << 3 | 2


@dataclass(frozen=True, slots=True)
class Alert:
    """Alert of a training. An unknown level is read as a warning."""

    title: str
    text: str
    level: Level
    dump: str = ""  # path of the related dump, relative to the directory of the event file


def alert(payload: bytes) -> Alert:
    """Decode an alert message. Raises UnreadableError."""
    fields = _last_fields(payload, "alert")
    title, content, dump = (tag_text(fields.get(key, b"")) for key in (_TITLE, _TEXT, _DUMP))
    number = fields.get(_LEVEL, b"\0")
    level = LEVELS[number[0]] if len(number) == 1 and number[0] < len(LEVELS) else "warning"
    return Alert(title, content, level, dump)
