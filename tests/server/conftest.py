"""A real server, without a browser, over real sample runs."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings

DATA = Path(__file__).parents[1] / "data" / "events"


class SampleServers:
    """Servers over copies of sample runs below a folder of their own; closed together."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._clients: list[TestClient] = []

    def start(self, *names: str, **settings: Any) -> TestClient:
        """The client of a new server, once everything in the named samples and below the base is read."""
        base = self._folder / "base"
        base.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copytree(DATA / name, base / Path(name).name)
        app = create_app(
            Settings(base, self._folder / "workspace", workers=1, reload_interval=0.1, **settings)
        )
        token = settings.get("token")
        headers: dict[Any, Any] = {"Authorization": f"Bearer {token}".encode()} if token else {}
        client = TestClient(
            app,
            base_url=f"http://127.0.0.1{settings.get('url_path_prefix', '')}",
            headers=headers,
            follow_redirects=False,
        )
        client.__enter__()
        self._clients.append(client)
        runs = {path.parent for path in base.rglob("*.summary.*") if path.stat().st_size}
        wait_until_read(client, min(max(len(names), len(runs)), settings.get("max_runs", 999)))
        return client

    def close(self) -> None:
        for client in self._clients:
            client.__exit__(None, None, None)


StartServer = Callable[..., TestClient]


@pytest.fixture
def samples(tmp_path: Path) -> Iterator[StartServer]:
    """samples("lenet", "record_api/values", token="t") -> client, once everything in them has been read.

    The base is ``tmp_path / "base"``; keyword arguments are settings of the server.
    """
    servers = SampleServers(tmp_path)
    yield servers.start
    servers.close()


@pytest.fixture(scope="module")
def shared_samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """``samples`` for tests that only read: equal arguments give one server, kept for the whole module."""
    running: dict[tuple[Any, ...], tuple[SampleServers, TestClient, list[tuple[bytes, bytes]]]] = {}

    def get(*names: str, **settings: Any) -> TestClient:
        key = (names, *sorted(settings.items()))
        if key not in running:
            servers = SampleServers(tmp_path_factory.mktemp("samples"))
            client = servers.start(*names, **settings)
            running[key] = servers, client, client.headers.raw
        _, client, headers = running[key]
        client.cookies.clear()  # what a test before this one has received or changed
        client.headers = headers
        return client

    yield get
    for servers, _, _ in running.values():
        servers.close()


def wait_until_read(client: TestClient, least: int) -> None:
    """Waits until the list has so many runs and all their bytes are read."""
    deadline = time.monotonic() + 120  # of a machine that has much else to do
    while time.monotonic() < deadline:
        runs = client.get("v2/runs").json()["runs"]
        if len(runs) >= least and all(run["read"] >= run["total"] for run in runs):
            return
        time.sleep(0.05)
    raise TimeoutError("the samples were not read in 120 s")
