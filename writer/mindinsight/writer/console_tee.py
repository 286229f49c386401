"""Program that passes what a training prints on to its terminal and writes it into files of lines.

It runs alone, by its path and without site-packages, so that it takes 8 MB and goes on when the training is
killed. Nothing of the package may be imported here. ``console.py`` starts it and describes the files.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

_READ = 1 << 16  # bytes at once: what a pipe holds
_LONGEST_LINE = 1 << 14  # bytes; a longer line becomes several
_SHOW_SECONDS = 3.0  # after which the state of an unfinished line, as of a progress bar, is written
_RETRY_SECONDS = 10.0  # between two attempts to write to a disk that is full
_ON_ITS_WAY = 0.05  # seconds that what was printed takes through a pseudo-terminal
_PARTS = 4  # files of a limit; two at the beginning and two at the end are kept
_KEY_BEGINS, _KEY_ENDS, _HIDDEN = "PRIVATE KEY-----", "-----END", "***"
_IGNORED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGPIPE")  # it ends when nobody can print any more


class Files:
    """Files of one process: ``PREFIX.0000.log``, ``PREFIX.0001.log``, ... of a quarter of the limit each."""

    def __init__(self, prefix: str, limit: int, secrets: list[tuple[str, int, str]]) -> None:
        self._prefix, self._size = prefix, max(limit // _PARTS, _LONGEST_LINE)
        self._secrets = [(re.compile(pattern, flags), instead) for pattern, flags, instead in secrets]
        self._in_key = False  # a private key has lines of its own, between two that name it
        self._file = -1
        self._part = self._written = 0  # bytes of the current file
        self._total = 0  # bytes of all files
        self._lost, self._retry = 0, 0.0
        self._open()

    def write(self, moment: float, flag: bytes, line: bytes) -> None:
        """Write a line. While the disk refuses, lines are counted."""
        text = line.decode("utf-8", "surrogateescape")
        in_key = self._in_key
        self._in_key = _KEY_ENDS not in text and (in_key or _KEY_BEGINS in text)
        for pattern, instead in self._secrets:
            text = pattern.sub(instead, text)
        text = _HIDDEN if in_key else text
        record = b"%.3f %s %s\n" % (moment, flag, text.encode("utf-8", "surrogateescape"))
        if self._lost:
            if moment < self._retry:
                self._lost += 1
                return
            record = b"\n%.3f x %d\n%s" % (moment, self._lost, record)
        if self._written + len(record) > self._size:
            self._next()
        try:
            if self._file < 0:
                self._open()
            _write(self._file, record)
        except OSError:
            self._lost, self._retry = self._lost + 1, moment + _RETRY_SECONDS
            return
        self._written += len(record)
        self._total += len(record)
        self._lost = 0

    def close(self) -> None:
        """Close the current file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _next(self) -> None:
        self.close()
        self._part, self._written = self._part + 1, 0
        oldest = self._part - _PARTS // 2
        if oldest >= _PARTS // 2:
            with contextlib.suppress(OSError):
                Path(self._name(oldest)).unlink()

    def _open(self) -> None:
        with contextlib.suppress(OSError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
            self._file = os.open(self._name(self._part), flags, 0o666)
            _write(self._file, b"# mindinsight console 1 %d\n" % self._total)

    def _name(self, part: int) -> str:
        return f"{self._prefix}.{part:04d}.log"


class Stream:
    """One of the outputs: where it is read, where it goes on to, and its unfinished line."""

    def __init__(self, source: int, target: int, flag: str) -> None:
        self.source, self.target, self._flag = source, target, flag.encode()
        self._line = b""
        self._shown: bytes | None = None  # the state of the unfinished line that was written
        self._due = 0.0

    def pass_on(self, files: Files | None) -> bool:
        """Read once. Return False at the end."""
        try:
            data = os.read(self.source, _READ)
        except OSError:  # a pseudo-terminal that nobody has open
            data = b""
        with contextlib.suppress(OSError):  # a terminal that was closed
            _write(self.target, data)
        if files is not None:
            self._take(files, data)
            if not data:
                self.finish(files)
        return bool(data)

    def _take(self, files: Files, data: bytes) -> None:
        """Write the lines that are complete now."""
        now = time.time()
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            self._write(files, now, line)
        if lines or not self._due:
            self._due = now + _SHOW_SECONDS
        self._line = self._line[self._line.rfind(b"\r", 0, -1) + 1 :]  # what a progress bar shows now
        if len(self._line) > _LONGEST_LINE:
            self._write(files, now, self._line)
            self._line = b""

    def finish(self, files: Files) -> None:
        """Write an unfinished line."""
        if self._line:
            self._write(files, time.time(), self._line)
            self._line = b""

    def show(self, files: Files) -> None:
        """Write the state of an unfinished line that has stood long enough, marked by a capital letter."""
        state, now = _state(self._line), time.time()
        if state and state != self._shown and now >= self._due:
            files.write(now, self._flag.upper(), state)
            self._shown, self._due = state, now + _SHOW_SECONDS

    def waits(self) -> bool:
        """Return True if the state of an unfinished line is to be written."""
        return bool(self._line) and _state(self._line) != self._shown

    def _write(self, files: Files, now: float, line: bytes) -> None:
        state = _state(line)
        for start in range(0, max(len(state), 1), _LONGEST_LINE):
            files.write(now, self._flag, state[start : start + _LONGEST_LINE])
        self._shown = None


def _state(line: bytes) -> bytes:
    """Return what a line shows after its carriage returns."""
    pieces = [piece for piece in line.split(b"\r") if piece]
    return pieces[-1] if pieces else b""


def _write(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:  # somebody made the terminal non-blocking
            select.select([], [descriptor], [], 1.0)


def _follow_size(streams: list[Stream]) -> None:
    """Give pseudo-terminals the size of the terminal, now and whenever that changes."""
    import fcntl
    import termios

    def copy(*_: object) -> None:
        for stream in streams:
            if os.isatty(stream.target):
                size = fcntl.ioctl(stream.target, termios.TIOCGWINSZ, b"\0" * 8)
                fcntl.ioctl(stream.source, termios.TIOCSWINSZ, size)

    copy()
    signal.signal(signal.SIGWINCH, copy)


def main(settings: dict[str, Any]) -> None:
    """Pass on what is printed until nobody can print any more. A byte on ``control`` ends the recording."""
    for name in _IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    streams = [Stream(*stream) for stream in settings["streams"]]
    files = Files(settings["prefix"], settings["limit"], settings["secrets"])
    control, answer = settings["control"], settings["answer"]
    _follow_size(streams)
    os.write(answer, b"!")
    while streams:
        wait = 1.0 if any(stream.waits() for stream in streams) else None
        ready = select.select([stream.source for stream in streams] + [control], [], [], wait)[0]
        if ready == [control]:  # nobody prints; what is on its way through a pseudo-terminal follows
            ready = select.select([stream.source for stream in streams], [], [], _ON_ITS_WAY)[0]
            if not ready:
                break
        streams = [s for s in streams if s.source not in ready or s.pass_on(files)]
        for stream in streams:
            stream.show(files)
    for stream in streams:
        stream.finish(files)
    files.close()
    with contextlib.suppress(OSError):  # the training may be gone
        os.write(answer, b".")
    while streams:  # processes that outlive the recording
        ready = select.select([stream.source for stream in streams], [], [])[0]
        streams = [s for s in streams if s.source not in ready or s.pass_on(None)]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
