"""Decoder of Summary.Audio: a sound as it was encoded, and its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, message_fields

_ENCODED, _LABEL = 1 << 3 | 2, 2 << 3 | 2
_LONGEST_LABEL: Final = 10_000  # bytes


@dataclass(frozen=True, slots=True)
class Sound:
    """A sound; ``label`` is Markdown, empty where there is none."""

    encoded: bytes
    label: str = ""


def sound(payload: bytes) -> Sound:
    """Decode a sound. Raises UnreadableError."""
    try:
        fields = {key: (start, stop) for key, start, stop in message_fields(payload, 0, len(payload))}
    except UnparsableError as error:
        raise UnreadableError("payload.unparsable", f"audio: {error}") from error
    encoded, label = (payload[slice(*fields.get(key, (0, 0)))] for key in (_ENCODED, _LABEL))
    return Sound(encoded, show_text(label[:_LONGEST_LABEL]))
