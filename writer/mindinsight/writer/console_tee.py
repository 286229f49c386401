"""Program that passes the output of a training on to its terminal and writes it into files of lines.

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
_LAST_SECONDS = 1.0  # in which a process that closed its outputs says so, even on a busy machine
_PARTS = 4  # files of a limit; two at the beginning and two at the end are kept
_KEY_BEGINS, _KEY_ENDS, _HIDDEN = b"PRIVATE KEY-----", b"-----END", b"***"
_IGNORED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGPIPE")  # it ends when nobody can print any more


class Files:
    """Console files of one process, ``PREFIX.0000.log``, ``PREFIX.0001.log``, ..., each a quarter of the
    limit."""

    def __init__(
        self, prefix: str, limit: int, secrets: list[tuple[str, int, str, list[str]]], long_word: int
    ) -> None:
        """Begin the first file. ``secrets`` and ``long_word`` are those of program.py."""
        self._prefix, self._size = prefix, max(limit // _PARTS, _LONGEST_LINE)
        self._secrets = [(re.compile(secret[0], secret[1]), secret[2], secret[3]) for secret in secrets]
        self._long_word = long_word
        self._in_key = False
        self._file = -1
        self._part = self._written = 0  # bytes of the current file
        self._total = 0  # bytes of all files
        self._lost, self._retry = 0, 0.0
        self._open()

    def write(self, moment: float, flag: bytes, lines: list[bytes]) -> None:
        """Write lines printed at ``moment`` (Unix seconds) to the stream ``flag``. While the disk rejects
        writes, count the lines instead."""
        if self._lost and moment < self._retry:
            self._lost += len(lines)
            return
        head = b"%.3f %s " % (moment, flag)
        records = [b"%s%s\n" % (head, line) for line in self._without_secrets(lines)]
        if self._lost:
            records.insert(0, b"\n%.3f x %d\n" % (moment, self._lost))
        while records:
            count, size = self._fitting(records)
            try:
                if self._file < 0:
                    self._open()
                _write(self._file, b"".join(records[:count]))
            except OSError:
                self._lost, self._retry = self._lost + len(records), moment + _RETRY_SECONDS
                return
            self._written += size
            self._total += size
            self._lost = 0
            records = records[count:]

    def _fitting(self, records: list[bytes]) -> tuple[int, int]:
        """Return how many of the records fit into the current file, at least one, and their total size in
        bytes."""
        size = sum(map(len, records))
        if self._written + size <= self._size:
            return len(records), size
        if self._written + len(records[0]) > self._size:
            self._next()
        count, size = 1, len(records[0])
        while count < len(records) and self._written + size + len(records[count]) <= self._size:
            size += len(records[count])
            count += 1
        return count, size

    def _without_secrets(self, lines: list[bytes]) -> list[bytes]:
        """Return the lines with secrets hidden, substituted all at once unless a secret spans lines."""
        if self._in_key or any(_KEY_BEGINS in line for line in lines):
            return [self._hidden(line) for line in lines]
        hidden = self._substituted(b"\n".join(lines)).split(b"\n")
        return hidden if len(hidden) == len(lines) else [self._hidden(line) for line in lines]

    def _hidden(self, line: bytes) -> bytes:
        """Return a line without secrets. A private key has lines of its own, between two that name it."""
        in_key = self._in_key
        self._in_key = _KEY_ENDS not in line and (in_key or _KEY_BEGINS in line)
        return _HIDDEN if in_key else self._substituted(line)

    def _substituted(self, text: bytes) -> bytes:
        shown = text.decode("utf-8", "surrogateescape")
        lower = shown.lower()
        has_long_word = max(map(len, shown.split()), default=0) >= self._long_word
        for pattern, instead, parts in self._secrets:
            if any(part in lower for part in parts) if parts else has_long_word:
                shown = pattern.sub(instead, shown)
        return shown.encode("utf-8", "surrogateescape")

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
    """Output stream: the source to read, the descriptor to pass its bytes on to, and its unfinished line."""

    def __init__(self, source: int, target: int, flag: str) -> None:
        self.source, self.target, self._flag = source, target, flag.encode()
        self._line = b""
        self._shown: bytes | None = None  # the state of the unfinished line that was written
        self._due = 0.0

    def pass_on(self, files: Files | None) -> bool:
        """Read the source once, pass the bytes on, record complete lines, and return False at the source's
        end. Without ``files`` nothing is recorded."""
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
        """Write the lines that ``data`` completes, and keep the rest as the unfinished line."""
        now = time.time()
        *lines, self._line = (self._line + data).split(b"\n")
        self._write(files, now, lines)
        if lines or not self._due:
            self._due = now + _SHOW_SECONDS
        self._line = self._line[self._line.rfind(b"\r", 0, -1) + 1 :]  # what a progress bar shows now
        if len(self._line) > _LONGEST_LINE:
            self._write(files, now, [self._line])
            self._line = b""

    def finish(self, files: Files) -> None:
        """Write the unfinished line, if there is one."""
        if self._line:
            self._write(files, time.time(), [self._line])
            self._line = b""

    def show(self, files: Files) -> None:
        """Record the visible text of an unfinished line, such as a progress bar, at most every three
        seconds. A capital letter marks it. The same text is recorded once."""
        state, now = _state(self._line), time.time()
        if state and state != self._shown and now >= self._due:
            files.write(now, self._flag.upper(), [state])
            self._shown, self._due = state, now + _SHOW_SECONDS

    def waits(self) -> bool:
        """Return True if the visible text of an unfinished line is not yet recorded by `show`."""
        return bool(self._line) and _state(self._line) != self._shown

    def _write(self, files: Files, now: float, lines: list[bytes]) -> None:
        states: list[bytes] = []
        for state in map(_state, lines):
            if len(state) <= _LONGEST_LINE:
                states.append(state)
            else:
                pieces = range(0, len(state), _LONGEST_LINE)
                states += [state[start : start + _LONGEST_LINE] for start in pieces]
        if states:
            files.write(now, self._flag, states)
            self._shown = None


def _state(line: bytes) -> bytes:
    """Return the visible text of a line: the part after its last carriage return."""
    if b"\r" not in line:
        return line
    pieces = [piece for piece in line.split(b"\r") if piece]
    return pieces[-1] if pieces else b""


def _write(descriptor: int, data: bytes) -> None:
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:  # somebody made the terminal non-blocking
            select.select([], [descriptor], [], 1.0)


def _follow_size(streams: list[Stream]) -> None:
    """Give pseudo-terminals the size of the real terminal, now and whenever it is resized."""
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
    """Pass all output on and record it until no process has it open.

    ``settings`` has ``streams`` (arguments of each `Stream`), ``prefix``, ``limit``, ``secrets`` and
    ``long_word`` (of `Files`), and the descriptors ``control`` and ``answer``. A byte on ``control`` ends the
    recording. Text after it is recorded as the last that was printed.
    """
    for name in _IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    streams = [Stream(*stream) for stream in settings["streams"]]
    files = Files(*(settings[name] for name in ("prefix", "limit", "secrets", "long_word")))
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
    # The outputs may end before the byte comes; of a process that is gone, `control` ends at once.
    if select.select([control], [], [], _LAST_SECONDS)[0] and (last := os.read(control, _READ)[1:]):
        files.write(time.time(), settings["streams"][-1][2].encode(), last.rstrip(b"\n").split(b"\n"))
    files.close()
    with contextlib.suppress(OSError):  # the training may be gone
        os.write(answer, b".")
    while streams:  # processes that outlive the recording
        ready = select.select([stream.source for stream in streams], [], [])[0]
        streams = [s for s in streams if s.source not in ready or s.pass_on(None)]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
