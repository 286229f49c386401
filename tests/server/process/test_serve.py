"""A server as a process: it answers, is found, and ends on a signal."""

import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mindinsight.server.process import daemon
from mindinsight.server.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "runs").mkdir()
    return Settings(tmp_path / "runs", tmp_path / "workspace", port=port, workers=1)


@pytest.fixture
def server(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "mindinsight.server.process.serve"]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdin is not None
        with process.stdin as pipe:
            pipe.write(settings.to_json())
        yield process
        process.kill()


def answers(settings: Settings) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if daemon.health(settings.address):
            return True
        time.sleep(0.05)
    return False


def test_a_server_answers_is_noted_and_ends_on_a_signal(
    server: subprocess.Popen[str], settings: Settings
) -> None:
    assert answers(settings)
    running = daemon.find(settings.port)
    assert running is not None
    assert running.pid == server.pid
    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0
    assert daemon.find(settings.port) is None
    assert "to this machine" in Path(running.log).read_text()


def test_a_port_that_is_taken_is_said_and_the_exit_code_tells(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", settings.port))
        taken.listen()
        command = [sys.executable, "-m", "mindinsight.server.process.serve"]
        ended = subprocess.run(
            command, input=settings.to_json(), capture_output=True, text=True, timeout=120, check=False
        )
    assert ended.returncode == 1
    assert str(settings.port) in ended.stderr


def test_where_the_threads_have_no_room_it_says_so_and_does_not_begin(settings: Settings) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "mindinsight.server.process.serve"],
        input=settings.to_json(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20)),
    )
    assert ended.returncode == 1
    assert "ulimit -v" in ended.stderr
    assert "Traceback" not in ended.stderr
