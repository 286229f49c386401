"""Search patterns: plain text, or regular expressions (RE2) in time linear in the text.

Python's own engine backtracks: ``(a+)+$`` takes it hours, and it holds the interpreter lock meanwhile. RE2
has no backreferences and no lookaround, and bounds its memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import re2

_MEMORY: Final = 8 << 20  # bytes that a compiled expression and its cache may take


class BadPattern(ValueError):  # noqa: N818
    """A regular expression that RE2 rejects; the message gives the reason and the position."""


def matcher(pattern: str, regex: bool, ignore_case: bool = True) -> Callable[[str], int]:
    """Compile a pattern to a function that returns the start of its first match, or -1.

    Raises BadPattern.
    """
    searched = (
        _compile(pattern, ignore_case)
        if regex
        else re.compile(re.escape(pattern), re.IGNORECASE if ignore_case else 0)
    )

    def find(text: str) -> int:
        match = searched.search(text if text.isascii() else _encodable(text))
        return -1 if match is None else int(match.start())

    return find


def _compile(pattern: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return re2.compile(_encodable(pattern), options)
    except re2.error as error:
        raise BadPattern(_located(pattern, error)) from error


def _located(pattern: str, error: Exception) -> str:
    """RE2's reason with the position of the part that it rejects."""
    text = error.args[0] if error.args else ""
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    reason, _, part = text.partition(": ")
    at = pattern.find(part) if part else -1
    if part.startswith("(?") and reason == "invalid perl operator":
        reason = "lookaround is not supported"
    if at < 0 or part == pattern:
        return text
    return f"{reason}: {part} at character {at + 1}"


def _encodable(text: str) -> str:
    """``text`` with a question mark for each lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
