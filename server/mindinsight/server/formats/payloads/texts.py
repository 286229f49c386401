"""Decoder of Summary.Text: a text in Markdown."""

from __future__ import annotations

from typing import Final

from mindinsight.server.formats.texts import show_text
from mindinsight.server.formats.unreadable import UnreadableError
from mindinsight.server.formats.wire_format import UnparsableError, last_field

_CONTENT: Final = 1 << 3 | 2


def text(payload: bytes) -> str:
    """Decode a text message; bytes that are not UTF-8 come as escapes. Raises UnreadableError."""
    try:
        span = last_field(payload, 0, len(payload), _CONTENT)
    except UnparsableError as error:
        raise UnreadableError("payload.unparsable", f"text: {error}") from error
    return show_text(payload[slice(*span)]) if span else ""
