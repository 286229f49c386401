"""Texts and numbers of a report in its language."""

from __future__ import annotations

import time

from mindinsight.server.claims import Claim, sentence
from mindinsight.server.texts import message


class Texts:
    """Texts of the locale files in one language, ``en`` or ``zh``."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, key: str, **words: object) -> str:
        """Return the text of a key with its placeholders filled in."""
        return message(key, words, self._language)

    def claim(self, claim: Claim) -> str:
        """Return the sentence of a claim."""
        return sentence(claim, self._language)


def number(value: float | int | None) -> str:
    """A number with six digits; a dash for None."""
    return "–" if value is None else f"{value:.6g}"


def moment(seconds: float) -> str:
    """A wall time in UTC to the second; a dash where there is none."""
    if not 0 < seconds < 1e11:
        return "–"
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
