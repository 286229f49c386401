"""Decoders of images, sounds, texts and alerts as they were recorded."""

from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.events.event_fields import tag_text
from mindinsight.server.formats.media_types import picture_size
from mindinsight.server.formats.read_limits import unreadable
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.formats.wire_format import UnparsableError, message_fields, read_varint, signed
from mindinsight.server.types import LEVELS, Level

# Keys of Summary.Image: number and wire type of a field.
_HEIGHT, _WIDTH, _ENCODED = 1 << 3, 2 << 3, 4 << 3 | 2


@dataclass(frozen=True, slots=True)
class Image:
    """Encoded picture and its size in pixels, 0 if unknown."""

    width: int
    height: int
    encoded: bytes


def image(payload: bytes) -> Image:
    """Return the picture in an image message, empty bytes if it has none. Raises UnreadableError. The size
    is taken from the picture itself, or from the message if the picture does not state it."""
    fields = _last_fields(payload, "image")
    encoded = fields.get(_ENCODED, b"")
    width, height = picture_size(encoded)
    if not (width and height):
        numbers = (fields.get(key, b"\0") for key in (_WIDTH, _HEIGHT))
        width, height = (signed(read_varint(number, 0, len(number))[0]) for number in numbers)
    return Image(width, height, encoded)


def _last_fields(payload: bytes, kind: str) -> dict[int, bytes]:
    """Return the last content of each field. Raises UnreadableError."""
    with unreadable("payload.unparsable", kind, UnparsableError):
        return {key: payload[start:stop] for key, start, stop in message_fields(payload, 0, len(payload))}


# Keys of Summary.Audio.
_ENCODED_SOUND, _LABEL = 1 << 3 | 2, 2 << 3 | 2
_MAX_LABEL: Final = 10_000  # bytes


@dataclass(frozen=True, slots=True)
class Sound:
    """Encoded sound with its label. ``label`` is Markdown, empty if there is none."""

    encoded: bytes
    label: str = ""


def sound(payload: bytes) -> Sound:
    """Decode a sound message. Raises UnreadableError."""
    fields = _last_fields(payload, "audio")
    return Sound(fields.get(_ENCODED_SOUND, b""), show_text(fields.get(_LABEL, b"")[:_MAX_LABEL]))


_CONTENT: Final = 1 << 3 | 2  # key of Summary.Text


def text(payload: bytes) -> str:
    """Decode a text message, "" if it has no text. Raises UnreadableError. Bytes that are not UTF-8 become
    escapes."""
    return show_text(_last_fields(payload, "text").get(_CONTENT, b""))


# Keys of Alert.
_TITLE, _TEXT, _LEVEL, _DUMP = 1 << 3 | 2, 2 << 3 | 2, 3 << 3, 4 << 3 | 2


@dataclass(frozen=True, slots=True)
class Alert:
    """Alert that a training recorded: title, text, level and dump. An unknown level is read as a warning."""

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
