"""Command ``mindinsight start``: starts a server, in the background unless ``--foreground`` is given."""

import argparse
import os
import sys
from typing import Any
from urllib.parse import quote

from mindinsight.server.commands.options import add_command, add_options, settings_of, unused_option_messages
from mindinsight.server.process import daemon, logs, memory_tuning
from mindinsight.server.process.sockets import check
from mindinsight.server.settings import LOCAL, Settings, check_cluster_package
from mindinsight.server.settings.base_dirs import base_problems, joined, stores, texts_of
from mindinsight.server.texts import terminal_text


def register(subparsers: Any) -> None:
    """Add the command."""
    add_options(add_command(subparsers, "start", start), os.environ)


def start(options: argparse.Namespace) -> int:
    """Start a server, and return 0 if it responds, 1 if the port shows other base directories, 2 if the same
    server is running already. With `--foreground`, serve until the server is stopped. Raises BadSettings if
    it cannot start."""
    settings = settings_of(options)
    running = daemon.find(settings.port)
    if running and running.alive:
        return _report_running(running, settings)
    if running:
        print(terminal_text("cli.server.unclean", {"pid": running.pid}))
        daemon.forget(settings.port)
    check(settings)
    _check_packages(settings)
    for message in unused_option_messages(options):
        print(message, file=sys.stderr)
    if settings.token is None and not settings.loopback:
        print(terminal_text("cli.server.open"), file=sys.stderr)
    for problem in base_problems(settings.summary_base_dir):
        print(terminal_text("cli.server.later", {"problem": problem}), file=sys.stderr)
    if not options.foreground:
        daemon.launch(settings)
        _print_addresses(settings)
        print(terminal_text("cli.server.success"))
        return 0
    memory_tuning.before_imports()
    from mindinsight.server.process import serve

    return serve.run(settings, ready=lambda: _print_addresses(settings))


def _check_packages(settings: Settings) -> None:
    """Raise BadSettings if a package is missing that the executor or a store of runs needs."""
    if settings.executor != LOCAL:
        check_cluster_package()
    if remote := stores(settings.summary_base_dir):
        from mindinsight.server.ingest.mirrors import check_stores

        check_stores(remote)


def _report_running(running: daemon.Running, settings: Settings) -> int:
    words = {"address": running.address, "pid": running.pid, "base": running.base, "port": settings.port}
    print(terminal_text("cli.server.running", words))
    print(terminal_text("cli.server.stop_with", words))
    return 2 if running.base == joined(settings.summary_base_dir) else 1


def _print_addresses(settings: Settings) -> None:
    query = f"?token={quote(settings.token, safe='')}" if settings.token else ""
    print(terminal_text("cli.server.workspace", {"path": settings.workspace}))
    for base in texts_of(settings.summary_base_dir):
        print(terminal_text("cli.server.base", {"path": base}))
    print(terminal_text("cli.server.log", {"path": logs.file_of(settings)}))
    print(terminal_text("cli.server.address", {"address": f"{settings.address}{query}"}), flush=True)
