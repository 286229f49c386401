"""A server over a plain web server that lists its folders, and knows neither ranges nor tags of content.

pip install aiohttp pytest
python -m pytest tests/remote/in_http.py      (make test-remote)
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of
from tests.remote.answers import answers, copy_runs, lineages, wait_until_read


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my runs"
    copy_runs(folder)
    return folder


@pytest.fixture
def url(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/my%20runs/"
    server.shutdown()
    server.server_close()


def test_every_kind_is_shown_as_from_a_directory(url: str, folder: Path, tmp_path: Path) -> None:
    shown = []
    for text in (str(folder), url):
        workspace = tmp_path / f"workspace{len(shown)}"
        settings = Settings(bases_of([f"lab={text}"], workspace), workspace, workers=1, reload_interval=1.0)
        with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
            wait_until_read(client)
            shown.append((answers(client), lineages(client)))
    assert shown[0] == shown[1]
