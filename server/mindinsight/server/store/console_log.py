"""Reader of the console output of a training: lines with time and stream, from the files of the recorder.

The files are described in proto/mindinsight/proto/FORMAT.md. Only bytes around what is asked for are read.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import IO, Final, Literal, TypeAlias, cast

import re2

from mindinsight.server.cancellation import check
from mindinsight.server.files.opener import entries_of, open_stream
from mindinsight.server.formats.sanitizer import show_text
from mindinsight.server.store.file_names import console_part

_HEAD: Final = re.compile(rb"# mindinsight console \d+ (\d{1,18})\n")
_LINE: Final = re.compile(rb"(\d{1,11}\.\d{1,6}) ([oebxOEB]) (.*)", re.DOTALL)
_STYLE: Final = rb"(?:\x1b\[[\d;]*m)*"  # colours, which a search passes over
_WINDOW: Final = 1 << 18  # bytes that are read at once: some thousand lines
SEARCHED: Final = 128 << 20  # bytes that one search passes over; bounds the time of a request
_MOST_PARTS: Final = 1000  # files; a process leaves four at most
_LONGEST: Final = 1 << 15  # bytes that are shown of a line; the writer makes none longer than half of it
_NEAR: Final = 1 << 15  # bytes within which a search for a time begins to read

# o: output, e: error, b: both where they led to one place, x: lines that the disk did not take,
# torn: a line that was not written whole, gap: bytes left out in the middle, start: another process began
Mark: TypeAlias = Literal["o", "e", "b", "x", "torn", "gap", "start"]


@dataclass(frozen=True, slots=True)
class Line:
    """Line that a training printed, or a mark where lines are missing or another process begins.

    ``text`` is a number for the marks ``x`` and ``gap``, and the process for ``start``.
    """

    time: float  # Unix seconds
    mark: Mark
    text: str
    part: int  # index of the file
    offset: int  # of its first byte
    end: int = 0  # offset of the next line
    open: bool = False  # a line that was not finished, as of a progress bar


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a process's console output: one file.

    ``start`` counts the bytes of lines in the parts of the same process before it.
    """

    path: str
    name: str
    size: int
    session: tuple[int, int]  # time of the start, process
    number: int
    head: int = 0  # bytes of the first line, which is no line of the console
    start: int = 0


def parts_in(folder: str) -> list[Part]:
    """Return the newest 1,000 parts of consoles in a folder, oldest first. Raises OSError if the folder
    cannot be listed."""
    parts = []
    with entries_of(folder) as entries:
        for entry in entries:
            named = console_part(entry.name)
            if named and entry.is_file(follow_symlinks=False):
                time, process, number = named
                size = entry.stat(follow_symlinks=False).st_size
                parts.append(Part(f"{folder}/{entry.name}", entry.name, size, (time, process), number))
    parts.sort(key=attrgetter("session", "number"))
    return [_with_head(part) for part in parts[-_MOST_PARTS:]]


def _with_head(part: Part) -> Part:
    with open_stream(part.path) as file:
        match = _HEAD.match(file.readline(100))
    head, start = (match.end(), int(match[1])) if match else (0, 0)
    return Part(part.path, part.name, part.size, part.session, part.number, head, start)


def lines_before(parts: Sequence[Part], index: int, offset: int, count: int) -> list[Line]:
    """Return the last ``count`` lines and marks that begin before ``offset`` in part ``index``, oldest
    first. There are fewer at the beginning of the first part. A line that was printed over is omitted."""
    lines: list[Line] = []
    while index >= 0 and len(lines) < count:
        part = parts[index]
        with open_stream(part.path) as file:
            while offset > part.head and len(lines) < count:
                check()
                begin = max(part.head, offset - _WINDOW)
                data = _read(file, begin, offset)
                skipped = data.find(b"\n") + 1 if begin > part.head else 0  # a line that began before
                lines = parse_lines(data[skipped:], index, begin + skipped) + lines
                offset = begin + skipped if skipped < len(data) else begin
        if len(lines) < count:
            lines = _seam(parts, index, lines) + lines
        index -= 1
        offset = parts[index].size if index >= 0 else 0
    return _finished(lines)[-count:]


def lines_after(parts: Sequence[Part], index: int, offset: int, count: int) -> list[Line]:
    """Return up to ``count`` lines and marks from byte ``offset`` of part ``index`` on, also of later
    parts. A line that was printed over is omitted."""
    lines: list[Line] = []
    while index < len(parts) and len(lines) < count:
        part = parts[index]
        at_head, offset = offset < part.head, max(offset, part.head)
        with open_stream(part.path) as file:
            for later in _forward(file, index, offset):
                lines += [*(_seam(parts, index, later) if at_head else ()), *later]
                at_head = False
                if len(lines) >= count:
                    break
        index, offset = index + 1, 0
    return _finished(lines)[:count]


def place_of_time(parts: Sequence[Part], time: float) -> tuple[int, int]:
    """Return part and offset of the first line at Unix time ``time`` or later, (``len(parts)``, 0) without
    such a line. The offset is 0 if the line is the first of a part, other than the first part. The clock
    must not have been set back meanwhile."""
    begins = []
    for index, part in enumerate(parts):
        with open_stream(part.path) as file:
            begins.append(next((line.time for line in _first_lines(file, index, part.head)), part.session[0]))
    index = max(bisect_left(begins, time) - 1, 0)
    if not parts:
        return 0, 0
    part = parts[index]
    low, high = part.head, part.size
    with open_stream(part.path) as file:
        while high - low > _NEAR:
            middle = (low + high) // 2
            start = middle + _read(file, middle, middle + _WINDOW).find(b"\n") + 1
            lines = _first_lines(file, index, start)
            low, high = (middle, high) if lines and lines[0].time < time else (low, middle)
        start = low if low == part.head else low + _read(file, low, low + _WINDOW).find(b"\n") + 1
        for later in _forward(file, index, start):
            if first := next((line for line in later if line.time >= time), None):
                return index, first.offset
    return index + 1, 0


def found_lines(
    parts: Sequence[Part], text: str, index: int, offset: int, count: int
) -> tuple[list[Line], tuple[int, int] | None]:
    """Return the next ``count`` lines that contain ``text``, and the part and offset at which to continue,
    None if the last part was searched to its end. Case is ignored. The search starts at ``offset`` in part
    ``index``, and ends with fewer lines after ``SEARCHED`` bytes."""
    letters = (re.escape(letter).encode("utf-8", "replace") for letter in text)
    pattern = re2.compile(_STYLE.join(letters), _folded())
    lines: list[Line] = []
    passed = 0
    while index < len(parts):
        part = parts[index]
        offset = max(offset, part.head)
        with open_stream(part.path) as file:
            while offset < part.size:
                if len(lines) >= count or passed >= SEARCHED:
                    return lines, (index, offset)
                check()
                data = _whole(_read(file, offset, offset + 4 * _WINDOW))
                if not data:
                    break
                lines += _matches(pattern, data, index, offset)
                if len(lines) > count:
                    return lines[:count], (index, lines[count].offset)
                offset, passed = offset + len(data), passed + len(data)
        index, offset = index + 1, 0
    return lines, None


def _folded() -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


def _matches(pattern: re2._Regexp, data: bytes, index: int, offset: int) -> Iterator[Line]:
    """Yield the lines of ``data`` whose text matches a pattern, without states that a later line replaces."""
    done = 0
    for match in pattern.finditer(data):
        if match.start() < done:
            continue
        begin = data.rfind(b"\n", 0, match.start()) + 1
        done = data.find(b"\n", match.end()) + 1
        for line in parse_lines(data[begin:done], index, offset + begin):
            if not line.open and pattern.search(line.text.encode("utf-8", "replace")):
                yield line


def chunks_after(file: IO[bytes], offset: int) -> Iterator[tuple[bytes, int]]:
    """Yield whole lines from an offset to the end of the file in chunks, each with its offset. An
    incomplete last line is left out."""
    while data := _whole(_read(file, offset, offset + _WINDOW)):
        check()
        yield data, offset
        offset += len(data)


def _forward(file: IO[bytes], index: int, offset: int) -> Iterator[list[Line]]:
    """Yield the lines from an offset to the end of the file, in lists that are read one by one."""
    return (parse_lines(data, index, begin) for data, begin in chunks_after(file, offset))


def _first_lines(file: IO[bytes], index: int, offset: int) -> list[Line]:
    """Return some lines from an offset on."""
    return [
        line for line in parse_lines(_whole(_read(file, offset, offset + _NEAR)), index, offset) if line.time
    ]


def _whole(data: bytes) -> bytes:
    """Return the complete lines at the beginning, or everything if a line is longer than the window."""
    end = data.rfind(b"\n") + 1
    return data[:end] if end else data if len(data) >= _NEAR else b""


def _read(file: IO[bytes], begin: int, end: int) -> bytes:
    file.seek(begin)
    return file.read(max(end - begin, 0))


def parse_lines(data: bytes, index: int, offset: int) -> list[Line]:
    """Return the lines of a console file, which begin at ``offset`` in part ``index``. ``data`` are whole
    lines. A line without time and mark has the mark ``torn``, an empty one is omitted."""
    lines = []
    for raw in data.split(b"\n")[:-1]:
        match = _LINE.fullmatch(raw)
        if match:
            letter = match[2].decode()
            mark = cast("Mark", letter.lower())
            time, end = float(match[1]), offset + len(raw) + 1
            lines.append(Line(time, mark, _text(match[3]), index, offset, end, letter.isupper()))
        elif raw:
            lines.append(Line(0.0, "torn", _text(raw), index, offset, offset + len(raw) + 1))
        offset += len(raw) + 1
    return lines


def _text(raw: bytes) -> str:
    return show_text(raw[:_LONGEST])


def _finished(lines: list[Line]) -> list[Line]:
    """Return the lines without intermediate states of lines that were continued later."""
    seen: set[str] = set()
    left = []
    for line in reversed(lines):
        if not (line.open and line.mark in seen):
            left.append(line)
        seen.add(line.mark)
    return left[::-1]


def _seam(parts: Sequence[Part], index: int, lines: Sequence[Line]) -> list[Line]:
    """Return the marks before a part of a console: that another process begins, or that lines are missing."""
    part = parts[index]
    time = next((line.time for line in lines if line.part == index and line.time), float(part.session[0]))
    if part.number == 0 or index == 0 or parts[index - 1].session != part.session:
        return [Line(float(part.session[0]), "start", str(part.session[1]), index, 0, part.head)]
    before = parts[index - 1]
    missing = part.start - (before.start + before.size - before.head)
    return [Line(time, "gap", str(missing), index, 0, part.head)] if missing > 0 else []
