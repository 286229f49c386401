"""Recorder of standard output and error, with everything that C libraries and child processes print.

A small program (``console_tee.py``) reads what is printed, passes it on unchanged and writes it into files
beside the event files, as proto/mindinsight/proto/FORMAT.md describes them.
"""

from __future__ import annotations

import json
import logging
import os
import select
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from mindinsight.writer.program import LONG_WORD, SECRETS

_log: Final = logging.getLogger(__name__)
LIMIT_MB: Final = 64.0  # of the files of one process: half from the beginning, half from the end
_LEAST_MB: Final = 1.0  # smaller limits count as this one
_START_SECONDS: Final = 5.0  # an interpreter starts in 0.03; a file system under load takes longer
_END_SECONDS: Final = 5.0  # in which what was printed must have reached the terminal
_READ: Final = 1 << 16  # bytes at once: what a pipe holds
_Identity = tuple[int, int]  # device and inode


class _Output(NamedTuple):
    """Standard output, standard error, or both if they lead to the same place."""

    numbers: tuple[int, ...]  # descriptors
    letter: str  # of its lines
    saved: tuple[int, ...]  # descriptors of what they led to
    source: int  # where what is printed is read
    entry: int  # where it is printed instead


class ConsoleRecorder:
    """Recorder of the output of this process and its children, from its creation to ``close``.

    Standard output and error that are redirected to the same place keep their common order, and are not
    distinguished. A terminal remains a terminal to programs that check for one.
    """

    def __init__(self, directory: Path, limit_mb: float = LIMIT_MB) -> None:
        """Begin to record. Raises OSError if that is not possible, and then changes nothing."""
        if os.name != "posix":
            raise OSError("it is recorded on Linux and macOS alone")
        if not sys.executable or getattr(sys, "frozen", False):  # would start the program again
            raise OSError("there is no interpreter beside this program")
        self._pid, self._closed, self._lock = os.getpid(), False, threading.Lock()
        self._outputs = _outputs()
        control, self._control = os.pipe()
        self._answer, answer = os.pipe()
        settings = {
            "streams": [(output.source, output.saved[0], output.letter) for output in self._outputs],
            "prefix": str(directory / f"console.{int(time.time())}.{self._pid}"),
            "limit": int(max(limit_mb, _LEAST_MB) * (1 << 20)),
            "secrets": [(pattern.pattern, pattern.flags, *rest) for pattern, *rest in SECRETS],
            "long_word": LONG_WORD,
            "control": control,
            "answer": answer,
        }
        given = [number for output in self._outputs for number in (output.source, output.saved[0])]
        try:
            self._process = _started(settings, [*given, control, answer])
            os.close(answer)  # so that its end is noticed
            if not self._is_answered(_START_SECONDS):
                self._process.kill()
                self._process.wait(_END_SECONDS)
                raise OSError("the program that records it did not start")
        except BaseException:
            self._release(entries=True)
            raise
        finally:
            os.close(control)
        _flush()
        self._own: dict[int, _Identity] = {}
        for output in self._outputs:
            for number in output.numbers:
                os.dup2(output.entry, number)
                self._own[number] = _identity(number)
            os.close(output.entry)
        threading.Thread(target=self._watch, name="mindinsight-console", daemon=True).start()

    def close(self, last: str = "") -> None:
        """Stop recording and restore the console. Return once everything printed before is recorded. Do
        nothing in a second call and in a forked process. ``last`` is recorded as printed at the end, such
        as the traceback that Python prints afterwards."""
        if os.getpid() != self._pid or not self._leave():
            return
        with suppress(OSError):
            os.write(self._control, b"." + last.encode("utf-8", "replace")[1 - _READ :])
        if not self._is_answered(_END_SECONDS):
            _log.warning("what was printed last may be missing: the console's recorder does not answer")
        self._release()

    def _watch(self) -> None:
        """Restore the original output if the recording program ends early, and print the lines it had not
        printed."""
        self._process.wait()
        if self._leave():
            for output in self._outputs:
                while select.select([output.source], [], [], 0)[0] and (data := _read(output.source)):
                    while data:
                        data = data[os.write(output.saved[0], data) :]
            self._release()
            _log.warning("the console is not recorded any more: its program ended")

    def _leave(self) -> bool:
        """Restore the original output, unless it was redirected again. Return False if that was already
        done."""
        with self._lock:
            if self._closed:
                return False
            self._closed = True
        _flush()
        for output in self._outputs:
            for number, saved in zip(output.numbers, output.saved, strict=True):
                with suppress(OSError):  # somebody closed it
                    if _identity(number) == self._own[number]:
                        os.dup2(saved, number)
        return True

    def _is_answered(self, seconds: float) -> bool:
        return bool(select.select([self._answer], [], [], seconds)[0]) and bool(_read(self._answer))

    def _release(self, entries: bool = False) -> None:
        """Close the descriptors of the recorder, with ``entries`` also those that the process prints to."""
        numbers = [number for output in self._outputs for number in (*output.saved, output.source)]
        numbers += [output.entry for output in self._outputs if entries]
        for number in (*numbers, self._control, self._answer):
            os.close(number)


def _started(settings: dict[str, Any], descriptors: list[int]) -> subprocess.Popen[bytes]:
    program = str(Path(__file__).with_name("console_tee.py"))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", program, json.dumps(settings)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
    )


def _outputs() -> list[_Output]:
    """Return the open outputs, each with a pipe or pseudo-terminal for its content. Raises OSError if none
    is."""
    opened = []
    for number in (1, 2):
        with suppress(OSError):
            opened.append((number, _identity(number)))
    if not opened:
        raise OSError("standard output and error are closed")
    groups: list[tuple[tuple[int, ...], str]] = [((number,), " oe"[number]) for number, _ in opened]
    if len(opened) == 2 and opened[0][1] == opened[1][1]:
        groups = [((1, 2), "b")]
    outputs = []
    for numbers, letter in groups:
        saved = tuple(os.dup(number) for number in numbers)
        outputs.append(_Output(numbers, letter, saved, *_way(saved[0])))
    return outputs


def _way(target: int) -> tuple[int, int]:
    """Return the ends (source, entry) of a pseudo-terminal if ``target`` is a terminal, else of a pipe."""
    if not os.isatty(target):
        return os.pipe()
    import termios

    source, entry = os.openpty()
    mode = termios.tcgetattr(target)
    mode[1] &= ~termios.OPOST  # the terminal itself makes of line ends what it needs
    termios.tcsetattr(entry, termios.TCSANOW, mode)
    return source, entry


def _identity(descriptor: int) -> _Identity:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ)
    except OSError:  # a pseudo-terminal that nobody has open
        return b""


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # it may be None, closed, or anything with a write
            stream.flush()
