"""Routes of reports: begun, followed, downloaded; unknown runs and numbers."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from tests.flight import unpack
from tests.waiting import until


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    unpack("logarithm", tmp_path / "base")
    app = create_app(Settings(tmp_path / "base", tmp_path / "workspace", workers=1, reload_interval=0.1))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        until(lambda: client.get("/v2/dump/list").json()["dumps"])
        yield client


def test_a_report_is_made_followed_and_downloaded(client: TestClient) -> None:
    number = client.post("/v2/report", params={"run": "./logarithm", "language": "zh"}).json()["report"]
    until(lambda: client.get(f"/v2/report/{number}").json()["done"])
    state = client.get(f"/v2/report/{number}").json()
    assert (state["error"], state["progress"]["key"]) == ("", "report.drawing")
    page = client.get(f"/v2/report/{number}/page", params={"name": "报告"})
    assert page.headers["content-disposition"] == "attachment; filename*=UTF-8''%E6%8A%A5%E5%91%8A.html"
    assert "报告：logarithm" in page.text
    assert "Default/log-op0" in page.text


def test_unknown_runs_and_numbers_are_answered_so(client: TestClient) -> None:
    assert client.post("/v2/report", params={"run": "./other"}).status_code == 404
    assert client.get("/v2/report/99").json()["error"]["code"] == "unknown_report"
    assert client.get("/v2/report/99/page").status_code == 404
    assert client.post("/v2/report", params={"run": "./logarithm", "language": "fr"}).status_code == 422


def test_a_check_of_a_dump_is_no_report(client: TestClient) -> None:
    number = client.post("/v2/dump/check", json={"dump": "./logarithm/flight_dump"}).json()["check"]
    until(lambda: client.get(f"/v2/dump/check/{number}").json()["done"])
    assert client.get(f"/v2/report/{number}").status_code == 404
