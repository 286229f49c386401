"""Lines of source code on the way to an operator, and the texts that name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MAX_DIGITS: Final = 9  # of a line of source code
_INSTALLED: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_SOURCE: Final = re.compile(
    r"\s*#\s*(?P<first>- )?\s*(?:inlined:)?In file (?P<file>.+?\.\w+|<[^>]*>)"
    r"(?::(?P<line>\d+)(?:~(?P<last>\d+))?(?:, ?\d+~\d+)?|\((?P<old>\d+)\))/(?P<code>.*?)/?\s*\Z",
    re.DOTALL,
)
_GROUP: Final = re.compile(r"\s*# Corresponding [a-z ]*candidate:")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of source code."""

    file: str
    line: int  # from 1; 0 when not recorded
    last_line: int = 0  # 0: same as ``line``
    function: str = ""
    code: str = ""


def own_frame(stack: Iterable[Frame]) -> Frame | None:
    """The innermost frame outside installed packages: the user's own line. ``stack`` is innermost first."""
    return next((frame for frame in stack if not _INSTALLED.search(frame.file)), None)


def line_number(digits: str | None) -> int:
    """A line of source code; 0 where none is recorded, or no file can have so many."""
    return int(digits) if digits and len(digits) <= MAX_DIGITS else 0


def stacks_of(lines: Iterable[str]) -> tuple[tuple[Frame, ...], ...]:
    """Call stacks in lines of MindSpore (``# In file a.py:11, 15~27/code/``), in the order of the lines.

    Merged and gradient operators have several, each after ``# Corresponding ... candidate:`` or a dash.
    """
    groups: list[list[Frame]] = [[]]
    for text in lines:
        found = _SOURCE.match(text)
        if _GROUP.match(text) or (found and found["first"]):
            groups.append([])
        if found:
            line, last = line_number(found["line"] or found["old"]), line_number(found["last"])
            groups[-1].append(Frame(found["file"], line, last, "", found["code"].strip()))
    return tuple(tuple(group) for group in groups if group)
