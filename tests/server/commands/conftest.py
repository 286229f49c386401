"""Commands as a person or a script runs them: within the process of the tests, or as processes."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.commands.main import main
from mindinsight.server.process import daemon
from mindinsight.writer import SummaryRecord

VERSION = encode_record(Event(wall_time=0.0, version="MindSpore.Event:1").SerializeToString())


def written(directory: Path, age: float, closed: bool = False) -> Path:
    """An event file whose last event is ``age`` seconds old; the file itself is written now."""
    now = time.time()
    event = Event(wall_time=now - age, step=1)
    event.summary.value.add(tag="loss", scalar_value=0.5)
    directory.mkdir(parents=True)
    path = directory / f"events.out.events.summary.{int(now - age)}.0.host_MS"
    path.write_bytes(VERSION + encode_record(event.SerializeToString()))
    path.chmod(0o400 if closed else 0o600)
    return path


class Shell:
    """Runs the command with a home and a state of its own."""

    def __init__(self, folder: Any) -> None:
        self.base = folder / "base"
        self.base.mkdir()
        self.workspace = folder / "workspace"
        ours = ("GLOG", "MINDINSIGHT")
        environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        self.environ = {**environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        self.port = free_port()

    def command(self, *arguments: Any) -> list[Any]:
        return [sys.executable, "-m", "mindinsight.server.commands.main", *map(str, arguments)]

    def starting(self, *arguments: Any) -> Any:
        where = ("--summary-base-dir", self.base, "--workspace", self.workspace, "--port", self.port)
        return self.command("start", *where, *arguments)

    def run(self, *arguments: Any) -> Any:
        return self.finish(self.command(*arguments))

    def start(self, *arguments: Any) -> Any:
        return self.finish(self.starting(*arguments))

    def stop(self) -> Any:
        return self.run("stop", "--port", self.port)

    def finish(self, command: Any) -> Any:
        return subprocess.run(
            command, env=self.environ, capture_output=True, text=True, timeout=60, check=False
        )

    def pid(self) -> Any:
        (path,) = (self.workspace.parent / "state" / "mindinsight").glob("*.json")
        return json.loads(path.read_text())["pid"]

    def get(self, path: Any, **headers: Any) -> str:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()


def free_port() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Any]:
    made = Shell(tmp_path)
    yield made
    made.stop()


def ended(pid: Any) -> bool:
    deadline = time.monotonic() + 60
    while daemon.birth(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not daemon.birth(pid)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command; gives its exit code, its output and what it said on standard error."""

    def command(*arguments: Any) -> tuple[Any, Any, Any]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def base(tmp_path: Path) -> Any:
    """Two runs: one with a value that is no number, one that was begun again."""
    with SummaryRecord(str(tmp_path / "base" / "strange")) as record:
        for step, value in enumerate((0.5, float("nan"))):
            record.add_value("scalar", "=a,b", value)
            record.record(step)
    for suffix, steps in (("_0", (1, 2, 3)), ("_1", (2, 3))):
        with SummaryRecord(str(tmp_path / "base" / "again"), file_suffix=suffix) as record:
            for step in steps:
                record.add_value("scalar", "loss", 0.1 * step)
                record.record(step)
    return tmp_path / "base"
