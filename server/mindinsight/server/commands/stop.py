"""Command ``mindinsight stop``: stops a server."""

import argparse
import os
from typing import Any

from mindinsight.server.commands.options import add_command, number
from mindinsight.server.process import daemon
from mindinsight.server.settings import environment


def register(subparsers: Any) -> None:
    """Add the command."""
    port = environment(os.environ).get("port", 8080)
    parser = add_command(subparsers, "stop", stop, "stop a server")
    text = f"port of the server to stop (default: {port})"
    parser.add_argument("--port", type=number(1, 65535), default=port, help=text)


def stop(options: argparse.Namespace) -> int:
    """Stop a server. Return 0 if it was stopped, 1 if there was none."""
    running = daemon.find(options.port)
    if running is None:
        print(_describe_missing(options.port))
        _print_others(options.port)
        return 1
    if not running.alive:
        daemon.forget(options.port)
        server = f"The server on port {options.port} (process {running.pid})"
        print(f"{server} had already exited, but not cleanly.")
        _print_others(options.port)
        return 1
    daemon.end(running)
    print(f"The server on port {options.port} (process {running.pid}) has been stopped.")
    return 0


def _print_others(port: int) -> None:
    """Print the servers on other ports, each with the command that stops it."""
    for other in daemon.all_running():
        if other.alive and other.port != port:
            print(f"A server is running on port {other.port} (process {other.pid}), showing {other.base}.")
            print(f"Stop it with: mindinsight stop --port {other.port}")


def _describe_missing(port: int) -> str:
    """Return a message for a port without a server that this user started."""
    health = daemon.health(f"http://127.0.0.1:{port}/")
    if health is None:
        return f"No MindInsight server of yours is running on port {port}."
    return f"The MindInsight server on port {port} was not started by you on this machine; it keeps running."
