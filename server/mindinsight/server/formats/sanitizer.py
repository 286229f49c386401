"""Sanitizer of texts, numbers and values from files, so that any content can be shown and sent as JSON."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

MAX_NAME: Final = 4096  # characters that are shown of a name
MAX_DIGITS: Final = 309  # decimal digits of the largest float64
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def show_text(value: str | bytes) -> str:
    r"""Return a text that can be encoded as UTF-8. Other bytes become escapes, ``\xff`` or ``\udc80``."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def show_name(value: object) -> str:
    """Return a text or an integer as a name on one line: as `show_text`, with control characters escaped,
    shortened in the middle. Return only the type, as ``(float)``, for any other value."""
    if isinstance(value, int):
        return str(show_integer(value))
    if not isinstance(value, str | bytes):
        return f"({type(value).__name__})"
    if len(value) > MAX_NAME:
        half = MAX_NAME // 2
        value = show_text(value[:half]) + "…" + show_text(value[-half:])
    return _CONTROL.sub(lambda sign: f"\\x{ord(sign[0]):02x}", show_text(value))


def show_integer(value: int) -> int | float | str:
    """Return a 64-bit integer unchanged, a larger one as the nearest float or, beyond floats, in words."""
    if -(1 << 63) <= value < 1 << 63:
        return value
    try:
        return float(value)
    except OverflowError:
        return f"an integer of {value.bit_length()} bits"


def parse_integer(digits: str) -> int | float | str:
    """Return the integer that a JSON text states: an int of up to 64 bits, a larger one as the nearest float,
    and one beyond floats as a text such as "an integer of 400 digits"."""
    count = len(digits.lstrip("-"))
    return show_integer(int(digits)) if count <= MAX_DIGITS else f"an integer of {count} digits"


def encodable(value: Any) -> Any:
    """Return a JSON value with `show_text` applied to every text. Containers are changed in place."""
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
    """Return a text as `show_text` does, and any other value unchanged."""
    return show_text(value) if isinstance(value, str) else value


MAX_TEXT: Final = 64 << 10  # characters that are shown of one text


def safe_text(text: str | bytes) -> str:
    """Return a text that can be encoded as UTF-8, as `show_text` does, cut after MAX_TEXT characters."""
    shown = show_text(text)
    return shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…"


def safe_value(value: Any) -> Any:
    """Return a JSON or protobuf value with texts converted as by `safe_text` and integers as by
    `show_integer`. Raises RecursionError for a value that is nested too deeply."""
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
    """Parse JSON and return the value as `safe_value` converts it. Raises ValueError or RecursionError."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return safe_value(json.loads(text, parse_int=parse_integer))
