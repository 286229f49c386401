"""Command ``mindinsight status``: lists running servers."""

import argparse
import time
from typing import Any

from mindinsight.server.commands.options import add_command, number
from mindinsight.server.process import daemon
from mindinsight.server.texts import terminal_text


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "status", status)
    parser.add_argument("--port", type=number(1, 65535))


def status(options: argparse.Namespace) -> int:
    """Print the servers, or only that of a port, and return 0 if at least one is running, otherwise 1."""
    servers = [running for running in daemon.all_running() if options.port in (None, running.port)]
    for running in servers:
        print(_describe(running))
    if not servers:
        print(terminal_text("cli.server.none"))
    return 0 if any(running.alive for running in servers) else 1


def _describe(running: daemon.Running) -> str:
    facts = {"port": running.port, "pid": running.pid, "address": running.address, "base": running.base}
    words: dict[str, object] = {"server": terminal_text("cli.server.is", facts), "log": running.log}
    if not running.alive:
        return terminal_text("cli.server.not_running", words)
    health = daemon.health(running.address)
    if health is None:
        return terminal_text("cli.server.silent", words)
    hours, seconds = divmod(int(time.time() - running.started), 3600)
    words |= {"hours": hours, "minutes": seconds // 60, "n": health["runs"]}
    return terminal_text("cli.server.up", words)
