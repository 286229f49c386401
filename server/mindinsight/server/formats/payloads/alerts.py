"""Decoder of Alert: a message of the training code for a person."""

from __future__ import annotations

from dataclasses import dataclass

from mindinsight.server.formats.events.fields import tag_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields, read_varint
from mindinsight.server.types import LEVELS, Level

_TITLE, _TEXT, _LEVEL, _DUMP = 1 << 3 | 2, 2 << 3 | 2, 3 << 3, 4 << 3 | 2


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert; a level that later versions may have is a warning."""

    title: str
    text: str
    level: Level
    dump: str = ""  # path of the dump that shows it, relative to the directory of the event file


def alert(payload: bytes) -> Alert:
    """Decode an alert message. Raises UnreadableError."""
    texts, number = {_TITLE: b"", _TEXT: b"", _DUMP: b""}, 0
    try:
        for key, start, end in message_fields(payload, 0, len(payload)):
            if key == _LEVEL:
                number = read_varint(payload, start, end)[0]
            elif key in texts:
                texts[key] = payload[start:end]
    except UnparsableError as error:
        raise UnreadableError("payload.unparsable", f"alert: {error}") from error
    level = LEVELS[number] if number < len(LEVELS) else "warning"
    return Alert(tag_text(texts[_TITLE]), tag_text(texts[_TEXT]), level, tag_text(texts[_DUMP]))
