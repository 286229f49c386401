"""Starting a server: real processes, real ports."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.process.sockets import check
from mindinsight.server.settings import Settings
from tests.narrowing import require
from tests.server.commands.conftest import ended, written


def test_start_returns_when_the_server_answers_and_stop_ends_it(shell: Any) -> None:
    done = shell.start()
    assert done.returncode == 0, done.stderr
    assert f"Workspace: {shell.workspace}" in done.stdout
    assert f"Summary base dir: {shell.base}" in done.stdout
    assert f"Web address: http://127.0.0.1:{shell.port}/" in done.stdout
    assert "service start state: success" in done.stdout
    log = Path(require(re.search("Log file: (.*)", done.stdout)).group(1))
    assert "Application startup complete" in log.read_text()
    assert json.loads(shell.get("/health"))["status"] == "ok"
    pid = shell.pid()
    done = shell.stop()
    assert done.returncode == 0
    assert f"process {pid}" in done.stdout
    assert ended(pid)
    assert "Finished server process" in log.read_text()


def test_no_module_of_the_working_directory_is_executed(shell: Any, tmp_path: Path) -> None:
    """Neither by the server nor by the process that forks its workers, which come from `python -c`.

    Before Python 3.11 that process cannot be told to leave the working directory out.
    """
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    names = ["click", "uvicorn"]
    names += ["numpy", "multiprocessing", "socket", "json"] if sys.version_info >= (3, 11) else []
    for name in names:
        (hostile / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write(__name__)")
    written(shell.base / "run", age=1)
    command = [Path(sys.executable).with_name("mindinsight"), *shell.starting()[3:]]
    done = subprocess.run(
        command, env=shell.environ, cwd=hostile, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    deadline = time.monotonic() + 60
    while json.loads(shell.get("/health"))["points"] < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert json.loads(shell.get("/health"))["points"] == 1
    assert not json.loads(shell.get("/health"))["workers_missing"]
    assert not (tmp_path / "executed").exists()


def test_a_second_start_says_who_is_there(shell: Any) -> None:
    shell.start()
    again = shell.start()
    assert again.returncode == 2
    assert f"http://127.0.0.1:{shell.port}/" in again.stdout
    assert f"mindinsight stop --port {shell.port}" in again.stdout
    other = shell.run("start", "--summary-base-dir", shell.workspace, "--port", shell.port)
    assert other.returncode == 1
    assert str(shell.base) in other.stdout


def test_a_port_in_use_is_said(shell: Any) -> None:
    with socket.create_server(("127.0.0.1", shell.port)):
        done = shell.start()
    assert done.returncode == 1
    assert done.stderr == f"Port {shell.port} is in use by another program; choose another with --port.\n"


def test_an_option_without_effect_is_said(shell: Any) -> None:
    done = shell.start("--max-graph-node-size", "5")
    assert done.returncode == 0
    assert "--max-graph-node-size has no effect: graphs of any size are shown." in done.stderr


def test_a_missing_directory_is_said(shell: Any) -> None:
    shell.base.rmdir()
    done = shell.start()
    assert done.returncode == 1
    assert done.stderr == f"There is no directory {shell.base}. Name another with --summary-base-dir.\n"


def test_a_directory_that_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may read everything, so the system is asked by a function that refuses."""

    scandir = os.scandir  # of the files of texts, too

    def refuse(path: Any) -> Any:
        if Path(path).is_relative_to(tmp_path):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(BadSettings, match=r"cannot be read: Permission denied. Name another"):
        check(Settings(tmp_path, tmp_path / "workspace", port=0))


def test_the_exit_codes_are_in_the_help(shell: Any) -> None:
    text = " ".join(shell.run("start", "--help").stdout.split())
    assert "2 a server with the same directories is already running" in text
    assert "--max-graph-node-size" not in text  # it is accepted, and has no effect


def test_several_directories_are_shown_and_told(shell: Any) -> None:
    (shell.base / "mine").mkdir()
    (shell.base / "users" / "ann").mkdir(parents=True)
    bases = [f"{shell.base}/mine", f"lab={shell.base}/lab", f"{shell.base}/users/*"]
    given = [word for base in bases for word in ("--summary-base-dir", base)]
    starting = ("start", *given, "--workspace", shell.workspace, "--port", shell.port)
    done = shell.run(*starting)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("Summary base dir: ")] == [
        f"Summary base dir: {base}" for base in bases
    ]
    absent = f"Warning: There is no directory {shell.base}/lab. It will be shown once it can be read.\n"
    assert done.stderr == absent
    assert f"showing {os.pathsep.join(bases)}, 0 runs" in shell.run("status").stdout
    again = shell.run(*starting)
    assert again.returncode == 2
    assert os.pathsep.join(bases) in again.stdout
    assert shell.run("start", *given[2:], "--port", shell.port).returncode == 1


def test_directories_that_cannot_be_shown_together_are_refused(shell: Any) -> None:
    inner = shell.base / "inner"
    done = shell.start("--summary-base-dir", inner)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{inner} is inside {shell.base}, so that its runs would be shown twice.")
    shell.base.rmdir()
    none = shell.start("--summary-base-dir", f"lab={shell.base}2")
    assert none.returncode == 1
    assert none.stderr.startswith(f"There is no directory {shell.base}. Name another")


def test_a_workspace_that_cannot_be_is_said(shell: Any) -> None:
    shell.workspace.write_text("a file")
    done = shell.start()
    assert done.returncode == 1
    assert f"The workspace {shell.workspace} cannot be used" in done.stderr
    assert "Name another with --workspace" in done.stderr


def test_a_server_that_dies_while_starting_leaves_its_last_words(shell: Any) -> None:
    (shell.workspace / "log" / f"mindinsight.{shell.port}.log").mkdir(parents=True)
    done = shell.start()
    assert done.returncode == 1
    assert "The server ended while starting" in done.stderr
    assert "Is a directory" in done.stderr


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--port", "0"),
        ("--port", "70000"),
        ("--port", "x"),
        ("--reload-interval", "301"),
        ("--reload-interval", "-1"),
        ("--url-path-prefix", "a/../b"),
        ("--watch", "sometimes"),
        ("--enable-debugger", "maybe"),
        ("--offline-debugger-mem-limit", "100"),
        ("--max-offline-debugger-session-num", "3"),
        ("--max-graph-node-size", "0"),
        ("--por", "8080"),
    ],
)
def test_bad_values_are_named(shell: Any, option: str, value: str) -> None:
    done = shell.run("start", option, value)
    assert done.returncode == 2
    assert option in done.stderr.splitlines()[-1]


def test_the_environment_gives_defaults_and_options_win(shell: Any) -> None:
    shell.environ |= {
        "MINDINSIGHT_SUMMARY_BASE_DIR": str(shell.base),
        "MINDINSIGHT_WORKSPACE": str(shell.workspace),
        "MINDINSIGHT_PORT": "1",
        "MINDINSIGHT_URL_PATH_PREFIX": "board",
    }
    done = shell.run("start", "--port", shell.port)
    assert f"Web address: http://127.0.0.1:{shell.port}/board/" in done.stdout
    assert "runs" in shell.get("/board/v2/runs")


def test_bound_to_all_addresses_a_token_is_asked_for(shell: Any) -> None:
    done = shell.start("--host", "0.0.0.0")
    token = require(re.search(r"\?token=(\S+)", done.stdout)).group(1)
    assert len(token) >= 32
    with pytest.raises(urllib.error.HTTPError, match="401"):
        shell.get("/v2/runs")
    assert "runs" in shell.get("/v2/runs", Authorization=f"Bearer {token}")
    logs = shell.workspace / "log"
    log = "".join(path.read_text() for path in logs.iterdir())
    assert "a token is asked for" in log
    assert token not in log
    assert token not in Path(f"/proc/{shell.pid()}/cmdline").read_text()


def test_without_a_token_it_is_said_aloud(shell: Any) -> None:
    done = shell.start("--host", "0.0.0.0", "--no-token")
    assert "anyone who can reach this machine can see the data" in done.stderr
    assert "runs" in shell.get("/v2/runs")
    (log,) = (shell.workspace / "log").glob("mindinsight.*.log")
    assert "no token is asked for" in log.read_text()


def test_ctrl_c_in_the_foreground_ends_cleanly(shell: Any) -> None:
    process = subprocess.Popen(
        shell.starting("--foreground"),
        env=shell.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while "Web address" not in require(process.stdout).readline():
        assert process.poll() is None
    stream = urllib.request.urlopen(f"http://127.0.0.1:{shell.port}/v2/events", timeout=60)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    stream.close()
    assert process.returncode == 0
    assert errors == ""
    assert shell.run("status").returncode == 1
