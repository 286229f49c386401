"""Command ``mindinsight status``: lists running servers."""

from __future__ import annotations

import argparse
import time
from typing import Any

from mindinsight.server.commands.options import number
from mindinsight.server.process import daemon


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser("status", help="list running servers", allow_abbrev=False)
    parser.add_argument("--port", type=number(1, 65535), help="only the server on this port")
    parser.set_defaults(run=status)


def status(options: argparse.Namespace) -> int:
    """0: at least one server is running. 1: none is."""
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
