"""The file of a server in the background, and how the server is told from other processes."""

import os
import platform
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.process import daemon
from mindinsight.server.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    workspace = tmp_path / "workspace"
    (workspace / "log").mkdir(parents=True)
    return Settings(tmp_path / "runs", workspace, port=18_080)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


def test_a_server_that_was_noted_is_found_and_alive(settings: Settings, tmp_path: Path) -> None:
    daemon.remember(settings, tmp_path / "log")
    running = daemon.find(settings.port)
    assert running is not None
    assert (running.pid, running.base, running.alive) == (os.getpid(), str(tmp_path / "runs"), True)
    assert list(daemon.all_running()) == [running]
    daemon.forget(settings.port)
    daemon.forget(settings.port)
    assert daemon.find(settings.port) is None


def test_another_process_of_the_same_number_is_not_the_server(settings: Settings, tmp_path: Path) -> None:
    daemon.remember(settings, tmp_path / "log")
    running = daemon.find(settings.port)
    assert running is not None
    assert not replace(running, born="long ago").alive
    assert not replace(running, pid=2**22 + 1, born="").alive


@pytest.mark.parametrize("content", ["", "[]", '{"port": 1}', "\xff"])
def test_a_file_that_is_no_note_is_no_server(settings: Settings, content: str) -> None:
    daemon.folder().mkdir(parents=True)
    (daemon.folder() / f"{platform.node()}-{settings.port}.json").write_text(content, encoding="latin-1")
    assert daemon.find(settings.port) is None
    assert list(daemon.all_running()) == []


def test_a_process_that_ended_has_no_birth(sleeper: subprocess.Popen[bytes]) -> None:
    assert daemon.birth(sleeper.pid) == daemon.birth(sleeper.pid) != ""
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet collected
    assert daemon.birth(sleeper.pid) == ""


def test_a_server_that_does_not_listen_to_a_signal_is_killed(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemon, "STOP_SECONDS", 0.2)
    ignore = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    deaf = f"{ignore}; print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # the signal is ignored from here on
        daemon.remember(settings, tmp_path / "log")
        running = daemon.find(settings.port)
        assert running is not None
        daemon.end(replace(running, pid=process.pid, born=daemon.birth(process.pid)))
        assert process.wait(60) == -signal.SIGKILL
    assert daemon.find(settings.port) is None


@pytest.mark.parametrize(
    ("body", "ours"), [('{"service": "mindinsight"}', True), ("[]", False), ("{", False)]
)
def test_only_a_server_of_ours_is_healthy(body: str, ours: bool) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        report = daemon.health(f"http://127.0.0.1:{server.server_port}/")
    assert (report is not None) is ours


def test_a_server_that_ends_while_it_starts_leaves_its_words(settings: Settings) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        busy = replace(settings, port=taken.getsockname()[1])
        with pytest.raises(BadSettings, match=r"The server ended while starting:\n.*port"):
            daemon.launch(busy)
