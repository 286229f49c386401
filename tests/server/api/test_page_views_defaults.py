"""Routes of default settings: kept, told with the list of runs, and refused where they are no page's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "base").mkdir()
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def test_settings_are_kept_and_come_with_the_list_of_runs(client: TestClient) -> None:
    assert client.get("v2/runs").json()["defaults"] == {}
    etag = client.get("v2/runs").headers["etag"]
    answer = client.put("v2/defaults", json={"view": "scalar", "query": "s=0.9&x=wall"})
    assert answer.json() == client.get("v2/defaults").json() == {"defaults": {"scalar": "s=0.9&x=wall"}}
    listed = client.get("v2/runs", headers={"If-None-Match": etag})
    assert (listed.status_code, listed.json()["defaults"]) == (200, {"scalar": "s=0.9&x=wall"})
    assert client.put("v2/defaults", json={"view": "scalar"}).json() == {"defaults": {}}


def test_other_pages_and_other_addresses_are_refused(client: TestClient) -> None:
    assert client.put("v2/defaults", json={"view": "other", "query": "s=1"}).status_code == 404
    for query in ("a b", "x#y", "x" * 2001):
        assert client.put("v2/defaults", json={"view": "scalar", "query": query}).status_code == 422
    assert client.get("v2/defaults").json() == {"defaults": {}}


def test_preferences_hold_for_all_pages(client: TestClient) -> None:
    client.put("v2/defaults", json={"view": "all", "query": "n=6&e=1&r=60"})
    assert client.get("v2/runs").json()["defaults"] == {"all": "n=6&e=1&r=60"}
