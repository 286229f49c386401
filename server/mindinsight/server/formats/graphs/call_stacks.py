"""Parser of call stacks: the source lines that lead to an operator, as MindSpore records them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MAX_DIGITS: Final = 9  # of a line number
_INSTALLED: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_SOURCE: Final = re.compile(
    r"\s*#\s*(?P<first>- )?\s*(?:inlined:)?In file (?P<file>.+?\.\w+|<[^>]*>)"
    r"(?::(?P<line>\d+)(?:~(?P<last>\d+))?(?:, ?\d+~\d+)?|\((?P<old>\d+)\))/(?P<code>.*?)/?\s*\Z",
    re.DOTALL,
)
_GROUP: Final = re.compile(r"\s*# Corresponding [a-z ]*candidate:")


@dataclass(frozen=True, slots=True)
class Frame:
    """Stack frame: one line of source code, or a few."""

    file: str
    line: int  # from 1; 0 when not recorded
    last_line: int = 0  # 0: same as ``line``
    function: str = ""
    code: str = ""


def own_frame(stack: Iterable[Frame]) -> Frame | None:
    """Return the innermost frame outside installed packages, or None. ``stack`` is innermost first."""
    return next((frame for frame in stack if not _INSTALLED.search(frame.file)), None)


def line_number(digits: str | None) -> int:
    """Parse a line number, and return 0 if none is recorded or it has too many digits."""
    return int(digits) if digits and len(digits) <= MAX_DIGITS else 0


def stacks_of(lines: Iterable[str]) -> tuple[tuple[Frame, ...], ...]:
    """Parse MindSpore's lines (``# In file a.py:11, 15~27/code/``) into call stacks, frames in line order.
    Merged and gradient operators have several stacks, each after ``# Corresponding ... candidate:`` or a
    dash. Other lines are ignored."""
    groups: list[list[Frame]] = [[]]
    for text in lines:
        match = _SOURCE.match(text)
        if _GROUP.match(text) or (match and match["first"]):
            groups.append([])
        if match:
            line, last = line_number(match["line"] or match["old"]), line_number(match["last"])
            groups[-1].append(Frame(match["file"], line, last, "", match["code"].strip()))
    return tuple(tuple(group) for group in groups if group)
