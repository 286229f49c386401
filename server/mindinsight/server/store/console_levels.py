"""Levels of console lines: which lines report errors, warnings or NaN, with tracebacks as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

import re2

from mindinsight.server.files.opener import open_stream
from mindinsight.server.store.console_log import (
    SEARCHED,
    Line,
    Part,
    chunks_after,
    lines_before,
    parse_lines,
)

# trace: further lines of a traceback, whose first line has the level error
Level: TypeAlias = Literal["", "error", "trace", "warning", "nan"]
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "nan")

# Words as programs write them in capitals: "error 0.013" and "0 errors" are measures.
_WORDS: Final[tuple[tuple[Level, str], ...]] = (
    ("error", r"\b(?:ERROR|CRITICAL|FATAL)\b|Traceback \(|\b[A-Z]\w*(?:Error|Exception)\b"),
    ("warning", r"\bWARN(?:ING)?\b|\w*Warning:"),
    ("nan", r"\b(?:nan|NaN|NAN)\b"),
)
_PATTERNS: Final = tuple((level, re.compile(words)) for level, words in _WORDS)
_CANDIDATE: Final = re2.compile(
    rb"ERROR|CRITICAL|FATAL|Traceback \(|Error|Exception|WARN|Warning:|nan|NaN|NAN"
)
_STYLE: Final = re.compile(r"\x1b\[[\d;:]*m")
_TRACEBACK: Final = re.compile(r"(.*?)Traceback \(most recent call last\):")
_EXCEPTION: Final = re.compile(r"[\w.]+(?::|$)")
_BEFORE: Final = 50  # lines before others, more than most tracebacks have
_LONGEST_TRACEBACK: Final = 500  # lines; bounds what a recording of indented lines is taken for


class LevelScanner:
    """Scanner that gives each line of a console, in order, its level."""

    def __init__(self) -> None:
        """Begin outside a traceback."""
        self._open: dict[str, tuple[str, int]] = {}  # by mark: text before each line, and lines so far

    @property
    def inside(self) -> bool:
        """Return True while the lines of a traceback are incomplete."""
        return bool(self._open)

    def level_of(self, line: Line) -> Level:
        """Return the level of the next line, "" for lines without one and for marks between lines."""
        text = _STYLE.sub("", line.text)
        if line.mark in self._open and self._continues(line.mark, text):
            return "trace"
        if line.mark in ("start", "gap", "x"):
            return ""
        if match := _TRACEBACK.match(text):
            self._open[line.mark] = match[1], 0
        return next((level for level, pattern in _PATTERNS if pattern.search(text)), "")

    def _continues(self, mark: str, text: str) -> bool:
        """Return True if a line belongs to the traceback that is open for its stream, and close it at its
        exception."""
        prefix, count = self._open[mark]
        rest = text.removeprefix(prefix)
        if text.startswith(prefix) and rest[:1] in (" ", "\t") and count < _LONGEST_TRACEBACK:
            self._open[mark] = prefix, count + 1
            return True
        del self._open[mark]
        return count > 0 and text.startswith(prefix) and _EXCEPTION.match(rest) is not None


def levels_of(parts: Sequence[Part], lines: Sequence[Line]) -> list[Level]:
    """Return the levels of consecutive lines, in order, [] without lines. The lines before them are read
    for a traceback that begins there."""
    if not lines:
        return []
    scanner = LevelScanner()
    for line in lines_before(parts, lines[0].part, lines[0].offset, _BEFORE):
        scanner.level_of(line)
    return [scanner.level_of(line) for line in lines]


def leveled_lines(parts: Sequence[Part], index: int, offset: int) -> Iterator[tuple[Line, Level]]:
    """Yield the lines that have a level, with it, from ``offset`` in part ``index`` on. If the scan ends
    after ``SEARCHED`` bytes, yield a gap without a level at the place to continue from."""
    scanner = LevelScanner()
    passed = 0
    while index < len(parts):
        with open_stream(parts[index].path) as file:
            for data, begin in chunks_after(file, max(offset, parts[index].head)):
                if passed >= SEARCHED:
                    yield Line(0.0, "gap", "", index, begin), ""
                    return
                for line in _candidates(data, index, begin, scanner):
                    if not line.open and (level := scanner.level_of(line)):
                        yield line, level
                passed += len(data)
        index, offset = index + 1, 0


def _candidates(data: bytes, index: int, offset: int, scanner: LevelScanner) -> Iterator[Line]:
    """Yield the lines that may have a level: those with one of the words, and those in a traceback."""
    done = 0
    while done < len(data):
        match = None if scanner.inside else _CANDIDATE.search(data, done)
        if match is None and not scanner.inside:
            return
        begin = done if match is None else max(done, data.rfind(b"\n", 0, match.start()) + 1)
        done = data.find(b"\n", begin) + 1 or len(data)
        yield from parse_lines(data[begin:done], index, offset + begin)
