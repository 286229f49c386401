"""Entry of Jupyter's launcher: a server behind `jupyter-server-proxy`, started when a user opens it.

The extension finds `setup` by the entry point `jupyter_serverproxy_servers`. Its values are described at
https://jupyter-server-proxy.readthedocs.io/en/latest/server-process.html
"""

import os
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from mindinsight.server.import_path import SAFE_PATH

_SECONDS: Final = 60  # for starting, far more than a busy machine takes


def setup() -> dict[str, Any]:
    """Return the settings by which Jupyter starts a server for a user and shows it in its launcher. The
    server shows the runs of `MINDINSIGHT_SUMMARY_BASE_DIR`, or of the folder where Jupyter was started.
    Other users of the machine can reach its port, so it requires a token, which Jupyter adds to requests."""
    token = secrets.token_urlsafe(24)
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "start", "--foreground"]
    return {
        "command": [*command, "--host", "127.0.0.1", "--port", "{port}"],
        "environment": {**os.environ, "MINDINSIGHT_TOKEN": token, **SAFE_PATH},
        "request_headers_override": {"Authorization": f"Bearer {token}"},
        "timeout": _SECONDS,
        "new_browser_tab": True,
        "launcher_entry": {"title": "MindInsight", "icon_path": _icon(), "category": "Notebook"},
    }


def _icon() -> str:
    """Return the path of the icon, "" if the pages are not installed."""
    web = find_spec("mindinsight.web")
    folders = (web.submodule_search_locations if web else None) or []
    icons = [Path(folder, "static", "icon.svg") for folder in folders]
    return next((str(icon) for icon in icons if icon.is_file()), "")
