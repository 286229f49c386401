"""Listing running servers."""

import os
import signal
from typing import Any

from tests.server.commands.conftest import ended


def test_status_tells_what_runs(shell: Any) -> None:
    none = shell.run("status")
    assert none.returncode == 1
    assert "No MindInsight server" in none.stdout
    shell.start()
    status = shell.run("status", "--port", shell.port)
    assert status.returncode == 0
    assert f"port {shell.port}, process {shell.pid()}" in status.stdout
    assert "0 runs" in status.stdout


def test_a_killed_server_is_noticed_by_all(shell: Any) -> None:
    shell.start()
    pid = shell.pid()
    os.kill(pid, signal.SIGKILL)
    assert ended(pid)
    assert "not running, did not exit cleanly" in shell.run("status").stdout
    done = shell.stop()
    assert done.returncode == 1
    assert "had already exited" in done.stdout
    shell.start()
    pid = shell.pid()
    os.kill(pid, signal.SIGKILL)
    assert ended(pid)
    done = shell.start()
    assert done.returncode == 0
    assert "did not exit cleanly; starting a new one" in done.stdout
