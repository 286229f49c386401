"""CPU time and memory of everything that a command starts, daemons included. Linux only: read from /proc."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
MARK = "MINDINSIGHT_BENCHMARK"


class Processes:
    """A command and all it starts, known by a mark in the environment that they inherit."""

    def __init__(self, command: Sequence[str | Path], log: Path) -> None:
        self._mark = f"{MARK}={uuid.uuid4().hex}".encode()
        name, _, value = self._mark.decode().partition("=")
        with log.open("wb") as output:
            path = f"{Path(command[0]).parent}{os.pathsep}{os.environ['PATH']}"  # commands beside this one
            environment = {**os.environ, name: value, "PATH": path}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # users' modules are compiled once
            self._first = subprocess.Popen(
                list(command), env=environment, stdout=output, stderr=output, start_new_session=True
            )

    def ids(self) -> list[int]:
        return marked_processes(self._mark)

    def ended(self) -> bool:
        """Whether nothing is left; a process just started has no environment to be known by."""
        return self._first.poll() is not None and not self.ids()

    def cpu(self) -> float:
        """CPU seconds so far, of those that have ended too if a living one waited for them."""
        return sum(map(cpu_of, self.ids()))

    def memory(self) -> float:
        """MB in use now; pages shared by several count once in all (PSS)."""
        return sum(map(_memory, self.ids()))

    def end(self) -> None:
        for how in (signal.SIGTERM, signal.SIGKILL):
            for process in self.ids():
                try:
                    os.kill(process, how)
                except ProcessLookupError:
                    continue
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and self.ids():
                self._first.poll()
                time.sleep(0.1)


def marked_processes(mark: bytes) -> list[int]:
    """Return the ids of the processes whose environment holds ``mark``, such as ``b"NAME=value"``."""
    return [process for process in _all_processes() if mark in _read(process, "environ").split(b"\0")]


def with_descendants(processes: Sequence[int]) -> list[int]:
    """Add children, their children and so on: Chromium's overwrite their environment."""
    parents = {process: _parent(process) for process in _all_processes()}
    tree = set(processes)
    while more := {process for process, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sorted(tree)


def _all_processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _parent(process: int) -> int:
    fields = _read(process, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def _read(process: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:
        return b""


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process and of the children it has waited for, 0 if it has ended."""
    fields = _read(process, "stat").rpartition(b")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS  # utime, stime, cutime, cstime


def _memory(process: int) -> float:
    lines = _read(process, "smaps_rollup").decode().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000
