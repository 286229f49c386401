"""The dashboard inside a notebook: `mindinsight.show` and the line magic `%mindinsight`."""

import argparse
import shlex
import socket
import sys
import urllib.request
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from mindinsight.server.commands.options import add_bases
from mindinsight.server.errors import BadSettings
from mindinsight.server.process import daemon
from mindinsight.server.process.sockets import check
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import Bases, bases_of, joined

# Origins of notebooks on this machine. Other origins are passed as ``frames``.
LOCAL_FRAMES = ("http://localhost:*", "http://127.0.0.1:*", "vscode-webview:")


def show(
    summary_base_dir: str | Path | Sequence[str | Path] = "./summary",
    *,
    view: str = "scalar",
    height: int = 800,
    frames: tuple[str, ...] = (),
    workspace: str | Path | None = None,
    port: int | None = None,
) -> str:
    """Show the runs of one or several directories in this cell, and return the address of the page. Raises
    BadSettings if a directory is missing or the server cannot start.

    Directories are given as to `mindinsight start`. A running server with the same directories that notebooks
    may embed is reused. Otherwise a server is started in the background on a free port, which `mindinsight
    stop --port N` ends. `view` is a page's name ("" for the table of runs), `height` is in pixels. `frames`
    are the origins of notebooks on other machines. `port` is the port of a new server. Outside of a notebook
    nothing is displayed.
    """
    bases = bases_of(summary_base_dir)
    running = None if frames else _running(bases)
    address = (running or _start(bases, frames, workspace, port)) + view
    _display(address, height)
    return address


def _running(bases: Bases) -> str | None:
    for server in daemon.all_running():
        if server.alive and server.base == joined(bases) and _framed(server.address):
            return server.address
    return None


def _framed(address: str) -> bool:
    """Return True if a notebook on this machine may embed the page at an address."""
    try:
        with urllib.request.urlopen(address + "health", timeout=3) as answer:
            return LOCAL_FRAMES[0] in answer.headers.get("Content-Security-Policy", "")
    except OSError:
        return False


def _start(
    bases: Bases, frames: tuple[str, ...], workspace: str | Path | None, port: int | None = None
) -> str:
    folder = Path(workspace).expanduser().absolute() if workspace else Path.home() / "mindinsight"
    settings = Settings(bases, folder, port=port or free_port(), frame_ancestors=(*LOCAL_FRAMES, *frames))
    check(settings)
    daemon.launch(settings)
    return settings.address


def free_port() -> int:
    """Return an unused port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _display(address: str, height: int) -> None:
    if "IPython" not in sys.modules:
        return
    if import_module("IPython").get_ipython() is not None:
        output = import_module("IPython.display")
        output.display(output.IFrame(address, width="100%", height=height))


class _Parser(argparse.ArgumentParser):
    """Parser that raises BadSettings, because a wrong option must not end a notebook's process."""

    def error(self, message: str) -> NoReturn:
        """Raise BadSettings with the usage."""
        raise BadSettings(f"{message}. {self.format_usage().strip()}")


def register(ipython: Any) -> None:
    """Add the magic `%mindinsight` to an IPython shell."""
    ipython.register_magic_function(mindinsight, "line", "mindinsight")


def mindinsight(line: str) -> None:
    """Show the dashboard in this cell. `line` is `start` with options, such as `start --logdir runs`. Raises
    BadSettings for unknown options, and as `show`."""
    options = _parser().parse_args(shlex.split(line))
    show(options.summary_base_dir, view=options.view, height=options.height, port=options.port)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%mindinsight", add_help=False, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    start = commands.add_parser("start", add_help=False, allow_abbrev=False)
    add_bases(start)
    start.add_argument("--port", type=int)
    start.add_argument("--height", type=int, default=800)
    start.add_argument("--view", default="scalar")
    return parser
