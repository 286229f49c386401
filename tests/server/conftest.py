"""A real server, without a browser, over real sample runs."""

import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "events"


@pytest.fixture
def samples(tmp_path):
    """samples("lenet", "record_api/values", token="t") -> client, once everything in them has been read.

    The base is ``tmp_path / "base"``; keyword arguments are settings of the server.
    """
    clients = []

    def over(*names, **settings):
        base = tmp_path / "base"
        base.mkdir(exist_ok=True)
        for name in names:
            shutil.copytree(DATA / name, base / Path(name).name)
        app = create_app(Settings(base, tmp_path / "workspace", workers=1, reload_interval=0.1, **settings))
        token = settings.get("token")
        headers: dict[Any, Any] = {"Authorization": f"Bearer {token}".encode()} if token else {}
        prefix = settings.get("url_path_prefix", "")
        client = TestClient(
            app, base_url=f"http://127.0.0.1{prefix}", headers=headers, follow_redirects=False
        )
        client.__enter__()
        clients.append(client)
        wait_until_read(client, min(len(names), settings.get("max_runs", 999)))
        return client

    yield over
    for client in clients:
        client.__exit__(None, None, None)


def wait_until_read(client, least):
    deadline = time.monotonic() + 120  # of a machine that has much else to do
    while time.monotonic() < deadline:
        runs = client.get("v2/runs").json()["runs"]
        if len(runs) >= least and all(run["read"] >= run["total"] for run in runs):
            return
        time.sleep(0.05)
    raise TimeoutError("the samples were not read in 120 s")
