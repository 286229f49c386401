"""Command `mindinsight site`: writes the pages of runs as plain files that any web host serves."""

import argparse
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mindinsight.server.client.reader import Summary
from mindinsight.server.commands.options import add_bases, add_command
from mindinsight.server.commands.terminal import localize, say
from mindinsight.server.errors import BadSettings, bad_settings, os_reason
from mindinsight.server.process import daemon
from mindinsight.server.process.sockets import check
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of

MOST: Final = 50  # runs: each one is visited on several pages
_BROWSERS: Final = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
_READ: Final = 600.0  # seconds until every file must have been read


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "site", site)
    parser.add_argument("out", metavar="OUT", type=Path)
    add_bases(parser)
    parser.add_argument("--workspace", type=Path, default=Path.home() / "mindinsight")


def site(options: argparse.Namespace) -> int:
    """Write the pages of all runs as plain files to a folder, and return 0. Raises BadSettings if the folder
    has content, if there is no run or too many, without a browser, or if writing fails."""
    from mindinsight.server.client.page_copy import export_site

    out = _empty_folder(options.out)
    runs = Summary(options.summary_base_dir).runs
    if not 0 < len(runs) <= MOST:
        raise bad_settings("site_runs", n=len(runs), most=MOST)
    try:
        with _browser() as open_browser, _server(options) as (address, listed):
            for number, total, page in export_site(address, out, open_browser, listed):
                words = {"number": number + 1, "total": total, "page": page or "runs"}
                say(localize("cli.site.page", words))
    except OSError as error:
        raise BadSettings(f"{out}: {os_reason(error)}") from error
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(localize("cli.site.done", {"path": out, "n": len(runs), "size": f"{size / 1e6:.1f}"}))
    return 0


def _empty_folder(out: Path) -> Path:
    """Create an empty folder and return its path. Raises BadSettings if it has content, which the copy would
    mix with."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise bad_settings("site_folder", path=out)
    except OSError as error:
        raise BadSettings(f"{out}: {os_reason(error)}") from error
    return out


@contextmanager
def _browser() -> Iterator[Any]:
    """Yield a function that starts a browser. Raises BadSettings without Playwright or a browser."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        raise bad_settings("site_package") from None
    path = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    arguments = ["--no-sandbox"] if sys.platform == "linux" else []
    with sync_playwright() as playwright:

        def start() -> Any:
            try:
                return playwright.chromium.launch(executable_path=path, args=arguments)
            except Error as error:
                raise bad_settings("site_browser", why=str(error).split("\n", 1)[0]) from error

        yield start


@contextmanager
def _server(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Start a server for the pages, and yield its address and its list of runs once all files are read."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    workspace = options.workspace.expanduser().absolute()
    settings = Settings(bases_of(options.summary_base_dir, workspace), workspace, port=port)
    check(settings)
    daemon.launch(settings)
    try:
        yield settings.address, _read(settings.address)
    finally:
        if running := daemon.find(port):
            daemon.end(running)


def _read(address: str) -> dict[str, Any]:
    """Return the list of runs when every file has been read. Raises BadSettings if that takes too long."""
    import json
    import urllib.request

    deadline = time.monotonic() + _READ
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{address}v2/runs", timeout=60) as response:
            listed: dict[str, Any] = json.load(response)
        if listed["scanned"] and all(run["read"] >= run["total"] for run in listed["runs"]):
            return listed
        time.sleep(0.1)
    raise bad_settings("site_reading", seconds=_READ)
