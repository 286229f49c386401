"""Sanitizer of decoded values: what comes out can be written as JSON in UTF-8, sorted and compared.

Files are written by anybody. A lone surrogate, bytes that are no text or an integer of 400 digits in one of
them must not make an answer about all of them impossible. The value stays, in a form that shows what it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

MAX_TEXT: Final = 64 << 10  # characters of one text
_SHOWN_DIGITS: Final = 20  # of an integer that is too long
_INT64: Final = range(-(2**63), 2**63)


def safe_text(text: str | bytes) -> str:
    r"""A text of at most MAX_TEXT characters; what has no form in UTF-8 appears as ``\ud800`` or ``\xff``.

    Names of files (``surrogateescape``) and protobuf strings (bytes where they are not UTF-8) are taken, too.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    elif not text.isascii():
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def safe_integer(value: int) -> int | str:
    """An integer of 64 bits as it is, a longer one as text: its first digits and how many there are."""
    if value in _INT64:
        return value
    if value.bit_length() > 10_000:  # Python refuses to write it in decimal
        return f"{'-' if value < 0 else ''}(integer of {value.bit_length()} bits)"
    return _shortened(str(value))


def safe_value(value: Any) -> Any:
    """A value of the types that JSON and protobuf have, made safe through and through.

    Raises RecursionError for one that is nested too deeply.
    """
    if isinstance(value, (str, bytes)):
        return safe_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return safe_integer(value)
    if isinstance(value, Mapping):
        return {safe_text(key): safe_value(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [safe_value(inner) for inner in value]
    return value


def parse_json(text: str | bytes) -> Any:
    """JSON as safe values, integers of any length. Raises ValueError and RecursionError."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return safe_value(json.loads(text, parse_int=_parse_integer))


def _parse_integer(digits: str) -> int | str:
    return int(digits) if len(digits) < _SHOWN_DIGITS else _shortened(digits)


def _shortened(digits: str) -> int | str:
    count = len(digits.removeprefix("-"))
    if count <= _SHOWN_DIGITS:
        return safe_integer(int(digits)) if int(digits) in _INT64 else digits
    return f"{digits[:_SHOWN_DIGITS]}… ({count} digits)"
