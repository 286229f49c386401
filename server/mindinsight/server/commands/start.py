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


def register(subparsers: Any) -> None:
    """Add the command."""
    codes = "exit codes: 0 it responds; 1 it cannot start, or other directories are shown on the port; "
    epilog = f"{codes}2 a server with the same directories is already running there, or an option is wrong"
    parser = add_command(subparsers, "start", start, "start a server", epilog=epilog)
    add_options(parser, os.environ)


def start(options: argparse.Namespace) -> int:
    """Start a server. Return 0 if it responds, 1 if it cannot start or the port shows other base directories.

    Return 2 if a server with the same base directories is already running.
    """
    settings = settings_of(options)
    running = daemon.find(settings.port)
    if running and running.alive:
        return _report_running(running, settings)
    if running:
        last = f"The last server on this port (process {running.pid})"
        print(f"{last} did not exit cleanly; starting a new one.")
        daemon.forget(settings.port)
    check(settings)
    _check_packages(settings)
    for message in unused_option_messages(options):
        print(message, file=sys.stderr)
    if settings.token is None and not settings.loopback:
        print("Warning: --no-token: anyone who can reach this machine can see the data.", file=sys.stderr)
    for problem in base_problems(settings.summary_base_dir):
        print(f"Warning: {problem} It will be shown once it can be read.", file=sys.stderr)
    if not options.foreground:
        daemon.launch(settings)
        _print_addresses(settings)
        print("service start state: success")
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
    print(f"A server is running at {running.address} (process {running.pid}), showing {running.base}.")
    print(f"Stop it with: mindinsight stop --port {settings.port}")
    return 2 if running.base == joined(settings.summary_base_dir) else 1


def _print_addresses(settings: Settings) -> None:
    query = f"?token={quote(settings.token, safe='')}" if settings.token else ""
    print(f"Workspace: {settings.workspace}")
    for base in texts_of(settings.summary_base_dir):
        print(f"Summary base dir: {base}")
    print(f"Log file: {logs.file_of(settings)}")
    print(f"Web address: {settings.address}{query}", flush=True)
