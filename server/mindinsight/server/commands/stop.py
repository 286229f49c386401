"""Command ``mindinsight stop``: stops a server."""

import argparse
import os
from typing import Any

from mindinsight.server.commands.options import add_command, number
from mindinsight.server.process import daemon
from mindinsight.server.settings import environment
from mindinsight.server.texts import terminal_text


def register(subparsers: Any) -> None:
    """Add the command."""
    port = environment(os.environ).get("port", 8080)
    parser = add_command(subparsers, "stop", stop)
    parser.add_argument("--port", type=number(1, 65535), default=port)


def stop(options: argparse.Namespace) -> int:
    """Stop the server of a port, and return 0 if it was stopped, 1 if there was none or it had ended
    already."""
    running = daemon.find(options.port)
    if running is None:
        print(_describe_missing(options.port))
        _print_others(options.port)
        return 1
    if not running.alive:
        daemon.forget(options.port)
        print(terminal_text("cli.server.ended", {"port": options.port, "pid": running.pid}))
        _print_others(options.port)
        return 1
    daemon.end(running)
    print(terminal_text("cli.server.stopped", {"port": options.port, "pid": running.pid}))
    return 0


def _print_others(port: int) -> None:
    """Print the servers on other ports, each with the command that stops it."""
    for other in daemon.all_running():
        if other.alive and other.port != port:
            words = {"port": other.port, "pid": other.pid, "base": other.base}
            print(terminal_text("cli.server.other", words))
            print(terminal_text("cli.server.stop_with", words))


def _describe_missing(port: int) -> str:
    """Return a message for a port without a server that this user started."""
    health = daemon.health(f"http://127.0.0.1:{port}/")
    return terminal_text(f"cli.server.{'none_on' if health is None else 'foreign'}", {"port": port})
