"""Command ``mindinsight status``: lists running servers."""

import argparse
import time
from typing import Any

from mindinsight.server.commands.options import add_command, number
from mindinsight.server.process import daemon


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "status", status, "list running servers")
    parser.add_argument("--port", type=number(1, 65535), help="show only the server on this port")


def status(options: argparse.Namespace) -> int:
    """Print the running servers. Return 0 if at least one is running, otherwise 1."""
    servers = [running for running in daemon.all_running() if options.port in (None, running.port)]
    for running in servers:
        print(_describe(running))
    if not servers:
        print("No MindInsight server of yours is running.")
    return 0 if any(running.alive for running in servers) else 1


def _describe(running: daemon.Running) -> str:
    description = f"port {running.port}, process {running.pid}, {running.address}, showing {running.base}"
    if not running.alive:
        return f"not running, did not exit cleanly: {description}"
    health = daemon.health(running.address)
    if health is None:
        return f"running, but not responding: {description}; log: {running.log}"
    hours, seconds = divmod(int(time.time() - running.started), 3600)
    up = f"{hours} h {seconds // 60} min"
    return f"running for {up}: {description}, {health['runs']} runs; log: {running.log}"
