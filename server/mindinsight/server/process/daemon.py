"""Background servers: registry of the servers started on this machine, and how to start and stop one.

Each server writes a small file, `<state>/mindinsight/<machine>-<port>.json`. A process is the server of a
file only if its birth time is the one in the file, because the system uses process numbers again.
"""

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mindinsight.server.errors import bad_settings, os_reason
from mindinsight.server.files.own_files import open_own, own_folder, read_own
from mindinsight.server.import_path import SAFE_PATH
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import joined

# Not "-m": worker processes import the module their parent was started with, and do not need the service.
_SERVE = """
import sys
sys.path[:] = filter(None, sys.path)
from mindinsight.server.process.memory_tuning import before_imports
before_imports()
from mindinsight.server.process.serve import main
sys.exit(main())
"""
START_SECONDS = 60.0  # until a server must answer, far more than a busy machine takes
STOP_SECONDS = 5.0  # until a server must have ended, after which it is killed: it ends itself within two
_PS_SECONDS = 10.0  # that the system may take to tell when a process began


@dataclass(frozen=True)
class Running:
    """Record of a background server in its file: port, process, address, directories and log."""

    port: int
    pid: int
    born: str  # birth time of the process, in the form of the system
    started: float  # Unix seconds
    address: str
    base: str
    log: str

    @property
    def alive(self) -> bool:
        """Return True if the process of this record is still running."""
        return birth(self.pid) == self.born != ""


def folder() -> Path:
    """Return the directory with the files of background servers, in the user's state directory."""
    state_home = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(state_home) if state_home else Path.home() / ".local" / "state") / "mindinsight"


def _file(port: int) -> Path:
    return folder() / f"{platform.node()}-{port}.json"


def find(port: int) -> Running | None:
    """Return the record of the server on a port of this machine, running or not, or None without a readable
    one."""
    return _read(_file(port))


def all_running() -> Iterator[Running]:
    """Yield the records of all servers that this user started on this machine, alive or not. Unreadable
    records are left out."""
    for path in sorted(folder().glob(f"{platform.node()}-*.json")):
        if running := _read(path):
            yield running


def _read(path: Path) -> Running | None:
    try:
        return Running(**json.loads(read_own(path)))
    except (OSError, ValueError, TypeError):
        return None


def remember(settings: Settings, log: Path) -> None:
    """Record this process, which logs to ``log``, as the server of its port, so that `stop` finds it. A
    record that cannot be written is left out."""
    running = Running(
        port=settings.port,
        pid=os.getpid(),
        born=birth(os.getpid()),
        started=time.time(),
        address=settings.address,
        base=joined(settings.summary_base_dir),
        log=str(log),
    )
    with contextlib.suppress(OSError):
        file = own_folder(folder()) / _file(settings.port).name
        file.unlink(missing_ok=True)  # of a server that was killed
        with os.fdopen(open_own(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as output:
            json.dump(asdict(running), output)


def forget(port: int) -> None:
    """Remove the record of the server on a port, if there is one."""
    with contextlib.suppress(OSError):
        _file(port).unlink()


def birth(pid: int) -> str:
    """Return the start time of a process, as the operating system writes it. Return "" if there is no such
    process or it has ended."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _birth_by_ps(pid)
    fields = status.rpartition(")")[2].split()  # proc(5): the name in brackets may hold spaces
    return "" if fields[0] == "Z" else fields[19]  # "Z": it has ended; field 22: start time


def _birth_by_ps(pid: int) -> str:
    if sys.platform == "linux":
        return ""
    if sys.platform == "win32":
        command = ["powershell", "-NoProfile", "-Command", f"(Get-Process -Id {pid}).StartTime.Ticks"]
    else:
        command = ["ps", "-o", "lstart=", "-p", str(pid)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PS_SECONDS)
        return ran.stdout.strip()
    return ""


def health(address: str) -> dict[str, Any] | None:
    """Return the health report of the server at an address, or None if no MindInsight responds there."""
    import urllib.request  # it brings half of the standard library, and a server has no use for it

    try:
        with urllib.request.urlopen(address + "health", timeout=3) as answer:
            report = json.load(answer)
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) and report.get("service") == "mindinsight" else None


def launch(settings: Settings) -> None:
    """Start a server in the background and return when it answers. Raises BadSettings if the server ends or
    does not answer in time, or if its log cannot be written."""
    output = settings.log_dir / f"start.{settings.port}.log"
    try:
        descriptor = open_own(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    except OSError as error:
        raise bad_settings("start_log", path=output, why=os_reason(error)) from error
    with os.fdopen(descriptor, "wb") as log:
        command = [sys.executable, "-c", _SERVE]  # which must import nothing from the working directory
        environment = {**os.environ, **SAFE_PATH}
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment, **_detached()
        )
    assert child.stdin is not None
    with contextlib.suppress(BrokenPipeError), child.stdin as pipe:
        pipe.write(settings.to_json().encode())  # not on the command line: it may hold a token
    _wait(child, settings, output)


def _detached() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _wait(child: subprocess.Popen[bytes], settings: Settings, output: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while health(settings.address) is None or find(settings.port) is None:
        if child.poll() is not None:
            words = output.read_text(encoding="utf-8", errors="replace").strip()[-2000:]
            raise bad_settings("start_ended", words=words, log=output)
        if time.monotonic() > end:
            raise bad_settings("start_silent", pid=child.pid, log=output)
        time.sleep(0.05)
    child.returncode = 0  # the server outlives this process: no warning about a running child


def end(running: Running) -> None:
    """Stop a server with SIGTERM, kill it after `STOP_SECONDS`, and remove its record. Raises OSError if the
    process has ended before or belongs to another user."""
    os.kill(running.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while running.alive and time.monotonic() < deadline:
        time.sleep(0.02)
    if running.alive:
        os.kill(running.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        while running.alive and time.monotonic() < deadline + STOP_SECONDS:
            time.sleep(0.02)
    forget(running.port)
