"""A server in a process of its own, which may be killed, starved and flooded."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.settings import Settings
from tests.narrowing import require
from tests.waiting import until

SERVE = "import sys; from mindinsight.server.process.serve import main; sys.exit(main())"
NAME = "events.out.events.summary.1700000000.0.host_MS"


def records(first: Any, end: Any, tag: Any = "loss") -> Any:
    """Scalars of the steps from ``first`` to before ``end`` as framed records."""
    events = [Event(wall_time=float(step), step=step) for step in range(first, end)]
    for event in events:
        event.summary.value.add(tag=tag, scalar_value=float(event.step))
    return b"".join(encode_record(event.SerializeToString()) for event in events)


def heavy(step: Any, size: Any = 1 << 20) -> Any:
    """A framed record with a scalar and a picture of so many bytes."""
    event = Event(step=step, wall_time=1.0)
    event.summary.value.add(tag="loss", scalar_value=step)
    event.summary.value.add(tag="picture").image.encoded_image = bytes(size)
    return encode_record(event.SerializeToString())


class Base:
    """A base directory in which runs appear, grow and go."""

    def __init__(self, folder: Any) -> None:
        self.path = folder
        folder.mkdir()

    records = staticmethod(records)
    heavy = staticmethod(heavy)

    def run(self, name: Any, first: Any = 0, end: Any = 100) -> Any:
        """Append steps to the event file of a run, made when it is missing."""
        path = self.path / name / NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(records(first, end))
        return path


class Server:
    """``start`` may be called again after ``kill`` or ``stop``; ``limits`` is called in the child."""

    def __init__(self, base: Any, workspace: Any) -> None:
        self.base = base
        self.workspace = workspace
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def start(self, limits: Any = None, **settings: Any) -> Any:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        given = {"workers": 1, "reload_interval": 0.2, **settings}
        chosen = Settings(self.base, self.workspace, port=self.port, **given)
        environ = {**os.environ, "XDG_STATE_HOME": str(self.workspace.parent / "state")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environ,
            preexec_fn=limits,  # noqa: PLW1509
        )
        require(self.process.stdin).write(chosen.to_json().encode())
        require(self.process.stdin).close()
        assert until(self.answers)
        return self

    def change(self, path: Any, **fields: Any) -> Any:
        """The answer to a PATCH with these fields."""
        headers = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{self.port}"}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}", json.dumps(fields).encode(), headers, method="PATCH"
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def answers(self) -> Any:
        assert require(self.process).poll() is None
        try:
            return self.get("health")
        except OSError:
            return None

    def get(self, path: Any, **headers: Any) -> Any:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def runs(self) -> Any:
        return {run["id"]: run for run in self.get("v2/runs")["runs"]}

    def steps(self) -> Any:
        """The last step of every run; None while something is still to be read."""
        runs = self.runs()
        read = all(run["read"] >= run["total"] for run in runs.values())
        return {name: run["step"] for name, run in runs.items()} if read else None

    def shows(self, **steps: Any) -> Any:
        """Wait until these runs and no others are there with these last steps."""
        wanted = {f"./{name}": step for name, step in steps.items()}
        return until(lambda: self.steps() == wanted, show=self.steps)

    def children(self) -> Any:
        """Process numbers of the server's processes below it."""
        below: set[Any] = set()
        new = {require(self.process).pid}
        while new:
            below |= new
            new = {pid for pid, parent in parents().items() if parent in new} - below
        return below - {require(self.process).pid}

    def workers(self) -> Any:
        """Those of them that read files: the server begins them by way of another process."""
        return {pid for pid in self.children() if parents().get(pid) not in (None, require(self.process).pid)}

    def memory(self) -> Any:
        """Bytes of memory the server's own process holds."""
        pages = int(Path(f"/proc/{require(self.process).pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def log(self) -> Any:
        return "".join(path.read_text() for path in (self.workspace / "log").glob("*.log"))

    def kill(self) -> None:
        require(self.process).kill()
        require(self.process).wait()

    def stop(self) -> Any:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode if self.process else 0


def parents() -> Any:
    """The parent of every process there is."""
    table = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        table[int(entry.parent.name)] = int(fields[1])
    return table


@pytest.fixture
def wait() -> Any:
    return until


@pytest.fixture
def base(tmp_path: Path) -> Any:
    return Base(tmp_path / "base")


@pytest.fixture
def server(base: Any, tmp_path: Path) -> Iterator[Any]:
    server = Server(base.path, tmp_path / "workspace")
    yield server
    server.stop()


@pytest.fixture
def second_server(base: Any, tmp_path: Path) -> Iterator[Any]:
    """Another server on the same base directories and the same workspace."""
    server = Server(base.path, tmp_path / "workspace")
    yield server
    server.stop()
