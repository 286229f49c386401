"""Texts and numbers of a report in its language."""

from __future__ import annotations

import time
from typing import Protocol

from mindinsight.server.http.static.locale_texts import message


class Texts(Protocol):
    """Text of a key of the locale files, with words put in."""

    def __call__(self, key: str, **words: object) -> str: ...


def texts(language: str) -> Texts:
    """The texts of ``en`` or ``zh``."""

    def text(key: str, **words: object) -> str:
        return message(key, words, language)

    return text


def number(value: float | int | None) -> str:
    """A number with six digits; a dash for None."""
    return "–" if value is None else f"{value:.6g}"


def moment(seconds: float) -> str:
    """A wall time in UTC to the second; a dash where there is none."""
    if not 0 < seconds < 1e11:
        return "–"
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
