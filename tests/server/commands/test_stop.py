"""Stopping a server."""

import os
import signal
from typing import Any

import pytest

from tests.server.commands.conftest import ended


def test_stop_with_nothing_running(shell: Any) -> None:
    done = shell.stop()
    assert done.returncode == 1
    assert f"No MindInsight server of yours is running on port {shell.port}." in done.stdout


def test_stop_names_the_servers_that_run(shell: Any) -> None:
    shell.start()
    done = shell.run("stop", "--port", "1")
    assert done.returncode == 1
    assert f"running on port {shell.port} (process {shell.pid()}), showing {shell.base}." in done.stdout
    assert f"Stop it with: mindinsight stop --port {shell.port}" in done.stdout


@pytest.mark.slow
def test_a_hanging_server_is_made_to_end(shell: Any) -> None:
    shell.start()
    pid = shell.pid()
    os.kill(pid, signal.SIGSTOP)
    assert shell.stop().returncode == 0
    assert ended(pid)
