"""Checks before a server starts: base directories, workspace and the listening socket."""

import errno
import os
import socket
from pathlib import Path
from typing import Final

from mindinsight.server.errors import BadSettings, bad_settings, os_reason
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import base_problems

BACKLOG: Final = 512  # connections that the system keeps until they are accepted: a second's worth at load


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the host and port of the settings. Raises BadSettings if the port or
    the address cannot be used."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        sock = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise _cannot_listen(settings, error) from error
    # asyncio does so only for listening sockets that it makes itself. Accepted ones inherit it; without it
    # answers over a kept connection wait 40 ms for an acknowledgement (Nagle's algorithm, delayed ACK).
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _cannot_listen(settings: Settings, error: OSError) -> BadSettings:
    if error.errno == errno.EADDRINUSE:
        return bad_settings("port_in_use", port=settings.port)
    if error.errno == errno.EACCES:
        return bad_settings("port_denied", port=settings.port)
    return bad_settings("port_unusable", host=settings.host, port=settings.port, why=os_reason(error))


def check(settings: Settings) -> None:
    """Raise BadSettings if a server with these settings cannot work. The text names what to change."""
    bases = settings.summary_base_dir
    problems = base_problems(bases)
    if len(problems) == (1 if isinstance(bases, Path) else len(bases)):
        raise bad_settings("base", problem=problems[0])
    try:
        settings.workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        settings.log_dir.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise bad_settings("workspace", path=settings.workspace, why=os_reason(error)) from error
    if not os.access(settings.workspace, os.W_OK | os.X_OK):
        raise bad_settings("workspace_read_only", path=settings.workspace)
    listen(settings).close()
