"""Parser of plain query strings: known parameters, each in its simplest form, for routes without FastAPI.

It accepts less than pydantic does, and what it accepts it reads as pydantic does. Whoever gets a
``NotPlainError`` leaves the request to a route that validates, and that explains what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

_WHOLE: Final = re.compile(r"[0-9]{1,9}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,20})?")
_FLAGS: Final = {"true": True, "false": False}

Reader = Callable[[str], Any]


class NotPlainError(Exception):
    """A query string that is wrong, or right in a less simple form."""


def plain_query(query: bytes, single: Mapping[str, Reader], several: Container[str] = ()) -> dict[str, Any]:
    """The parameters of a query string, read; lists for those that may come several times.

    Raises NotPlainError for any other parameter, a repeated one, and a value that is not plain.
    """
    values: dict[str, Any] = {}
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name in several:
            values.setdefault(name, []).append(value)
        elif name in single and name not in values:
            values[name] = single[name](value)
        else:
            raise NotPlainError(name)
    return values


def whole(most: int) -> Reader:
    """Reader of integers from 0 to ``most``."""

    def read(text: str) -> int:
        if not _WHOLE.fullmatch(text) or int(text) > most:
            raise NotPlainError(text)
        return int(text)

    return read


def number(text: str) -> float:
    """Reader of decimal fractions."""
    if not _NUMBER.fullmatch(text):
        raise NotPlainError(text)
    return float(text)


def fraction(text: str) -> float:
    """Reader of decimal fractions from 0 to below 1."""
    value = number(text)
    if not 0 <= value < 1:
        raise NotPlainError(text)
    return value


def choice(*texts: str) -> Reader:
    """Reader of one of some words."""

    def read(text: str) -> str:
        if text not in texts:
            raise NotPlainError(text)
        return text

    return read


def flag(text: str) -> bool:
    """Reader of ``true`` and ``false``."""
    if text not in _FLAGS:
        raise NotPlainError(text)
    return _FLAGS[text]
