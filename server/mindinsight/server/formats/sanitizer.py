"""Sanitizer of texts, numbers and values from files, so that any content can be shown and written as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

MAX_NAME: Final = 4096  # characters of a name that is shown
MAX_DIGITS: Final = 309  # of a float64 before the point
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def show_text(value: str | bytes) -> str:
    """A text that every encoder takes: what is no character comes as its escape, ``\\xff`` or ``\\udc80``."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def show_name(value: object) -> str:
    """A name on one line: as ``show_text``, control characters escaped too, long ones cut in the middle.

    Of what is neither text nor an integer only the type is named: its text may be without end.
    """
    if isinstance(value, int):
        return str(show_integer(value))
    if not isinstance(value, str | bytes):
        return f"({type(value).__name__})"
    if len(value) > MAX_NAME:
        half = MAX_NAME // 2
        value = show_text(value[:half]) + "…" + show_text(value[-half:])
    return _CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", show_text(value))


def show_integer(value: int) -> int | float | str:
    """An integer of 64 bits as it is; a larger one as the nearest float; one beyond floats in words."""
    if -(1 << 63) <= value < 1 << 63:
        return value
    try:
        return float(value)
    except OverflowError:
        return f"an integer of {value.bit_length()} bits"


def parse_integer(digits: str) -> int | float | str:
    """The integer of a JSON text as ``show_integer`` gives it; of one beyond floats the number of digits."""
    count = len(digits.lstrip("-"))
    return show_integer(int(digits)) if count <= MAX_DIGITS else f"an integer of {count} digits"


def encodable(value: Any) -> Any:
    """A JSON value with every text in it as ``show_text`` gives it; containers are changed in place."""
    if isinstance(value, str):
        return show_text(value)
    waiting: list[Any] = [value]
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict):
            items = [(show_text(key), inner) for key, inner in container.items()]
            container.clear()
            container.update((key, _safe(inner)) for key, inner in items)
            waiting += [inner for inner in container.values() if isinstance(inner, dict | list)]
        elif isinstance(container, list):
            container[:] = map(_safe, container)
            waiting += [inner for inner in container if isinstance(inner, dict | list)]
    return value


def _safe(value: Any) -> Any:
    return show_text(value) if isinstance(value, str) else value


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
