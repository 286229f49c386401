"""Sanitizer of decoded values: what comes out can be written as JSON in UTF-8, sorted and compared.

Of whole values what ``texts.py`` is of single texts and integers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mindinsight.server.formats.texts import parse_integer, show_integer, show_text

MAX_TEXT: Final = 64 << 10  # characters of one text


def safe_text(text: str | bytes) -> str:
    """A text as ``show_text`` gives it, cut after MAX_TEXT characters."""
    shown = show_text(text)
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"


def safe_value(value: Any) -> Any:
    """A value of the types that JSON and protobuf have, made safe through and through.

    Raises RecursionError for one that is nested too deeply.
    """
    if isinstance(value, (str, bytes)):
        return safe_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return show_integer(value)
    if isinstance(value, Mapping):
        return {safe_text(key): safe_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe_value(inner) for inner in value]
    return value


def parse_json(text: str | bytes) -> Any:
    """JSON as safe values, integers of any length. Raises ValueError and RecursionError."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return safe_value(json.loads(text, parse_int=parse_integer))
