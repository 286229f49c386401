"""Process groups of trials: begun, ended, and found again after the tuner was killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mindinsight.server.tuning.space import MARK

_PROCESSES: Final = Path("/proc")


def begin(command: Sequence[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, output into ``log``. Raises OSError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)  # others may write there
    with os.fdopen(os.open(log, flags, 0o666), "ab") as output:
        return subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def signal_group(group: int, number: int) -> bool:
    """Send a signal to all processes of a group; whether there were any."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # some of them are others' by now, or have ended and are not yet reaped
        return True
    return True


def marked_processes(mark: str) -> list[int]:
    """Ids of this user's processes that were begun for the trial with this mark, on Linux.

    The mark is in the environment they started with: neither a new process group nor the end of the tuner
    takes it away, and a process id that another program has by now is not mistaken for theirs.
    """
    wanted = f"{MARK}={mark}".encode()
    numbers = []
    for process in _PROCESSES.glob("[0-9]*") if _PROCESSES.is_dir() else ():
        with contextlib.suppress(OSError):  # ended, or another user's
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                numbers.append(int(process.name))
    return numbers


def kill_marked(mark: str) -> int:
    """Kill what is left of a trial; how many processes that were."""
    killed = 0
    for process in marked_processes(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)
            killed += 1
    return killed


def last_lines(log: Path, lines: int = 40, size: int = 8000) -> list[str]:
    """The last lines of an output, of at most ``size`` bytes altogether."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(0, end - size))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return (
        [line.rsplit("\r", 1)[-1] for line in text.rstrip("\r\n").split("\n")[-lines:]]
        if text.strip()
        else []
    )
