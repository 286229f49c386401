"""Checks before a server starts: base directories, workspace and the listening socket."""

import errno
import os
import socket
from pathlib import Path
from typing import Final

from mindinsight.server.errors import BadSettings
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import base_problems

BACKLOG: Final = 512  # connections that the system keeps until they are accepted: a second's worth at load


def listen(settings: Settings) -> socket.socket:
    """Return the listening socket. Raises BadSettings if the port or the address cannot be used."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        sock = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise BadSettings(_why_not(settings, error)) from error
    # asyncio does so only for listening sockets that it makes itself. Accepted ones inherit it; without it
    # answers over a kept connection wait 40 ms for an acknowledgement (Nagle's algorithm, delayed ACK).
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _why_not(settings: Settings, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {settings.port} is in use by another program; choose another with --port."
    if error.errno == errno.EACCES:
        return f"Port {settings.port} may not be used by this user; choose one above 1023 with --port."
    return f"Cannot listen on {settings.host}, port {settings.port}: {error.strerror or error}."


def check(settings: Settings) -> None:
    """Raise BadSettings if a server with these settings cannot work. The text names what to change."""
    bases = settings.summary_base_dir
    problems = base_problems(bases)
    if len(problems) == (1 if isinstance(bases, Path) else len(bases)):
        raise BadSettings(f"{problems[0][:-1]}; name another with --summary-base-dir.")
    try:
        settings.workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings.log_dir.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        why = f"The workspace {settings.workspace} cannot be used: {error.strerror}."
        raise BadSettings(f"{why} Name another with --workspace.") from error
    if not os.access(settings.workspace, os.W_OK | os.X_OK):
        raise BadSettings(f"The workspace {settings.workspace} is not writable; see --workspace.")
    listen(settings).close()
