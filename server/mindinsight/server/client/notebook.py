"""The dashboard inside a notebook: ``mindinsight.show("./summary")``."""

from __future__ import annotations

import socket
import sys
import urllib.request
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from mindinsight.server.process import daemon
from mindinsight.server.process.sockets import check
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import Bases, bases_of, joined

# Pages of notebooks on this machine; others are named by ``frames``.
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
    """Show the runs of a directory, or of several, in this cell, and return the address they are at.

    Directories are given as to ``mindinsight start``. A server that shows the same and may be framed by
    notebooks is used again, else one is started in the background on a free port; ``mindinsight stop --port
    N`` ends it. ``view`` is a page's name ("" for the table of runs), ``height`` in pixels; ``frames`` are
    the origins of notebooks that are not on this machine; ``port`` is that of a new server. Outside of a
    notebook nothing is displayed. Raises BadSettings when the directory is missing or the server cannot
    start.
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
    """Whether a notebook on this machine may show what is at an address."""
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
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _display(address: str, height: int) -> None:
    if "IPython" not in sys.modules:
        return
    if import_module("IPython").get_ipython() is not None:
        output = import_module("IPython.display")
        output.display(output.IFrame(address, width="100%", height=height))
