"""Layouts: which runs recorded one, and the scalars of its charts."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.server.plugins.media import client_of, write

TAG = "custom_scalars__config__"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("layouts")
    write(folder / "base")
    with client_of(folder / "base", folder / "workspace") as client:
        yield client


def test_runs_with_a_layout_are_listed(client: TestClient) -> None:
    rows = client.get("/v2/layout/list").json()["layouts"]
    assert [(row["run"], row["tag"]) for row in rows] == [
        ("./ours", TAG),
        ("./theirs", TAG),
        ("./torch", TAG),
    ]


@pytest.mark.parametrize("run", ["./ours", "./theirs"])
def test_charts_have_the_scalars_that_match_from_their_beginning(client: TestClient, run: str) -> None:
    query: dict[str, Any] = {"run": run, "tag": TAG, "of": ["./ours", "./torch"]}
    loss, accuracy = client.get("/v2/layout/charts", params=query).json()["categories"]
    both, none = loss["charts"]
    assert (loss["title"], both["title"], both["rejected"]) == ("Loss", "both", ["("])
    assert both["lines"] == [
        {"tag": "loss/train", "runs": ["./ours", "./torch"]},
        {"tag": "loss/val", "runs": ["./ours"]},
    ]
    assert none["lines"] == []
    (chart,) = accuracy["charts"]
    assert chart["margins"] == [["mean", "low", "high"]]
    assert [line["tag"] for line in chart["lines"]] == ["mean", "low", "high"]


def test_a_layout_can_be_saved_as_a_view(client: TestClient) -> None:
    view = {"name": "Layout of ours", "view": "layout", "query": f"layout=.%2Fours&tag={TAG}"}
    assert client.put("/v2/views", json=view).status_code == 200
    assert view in client.get("/v2/views").json()["views"]


def test_unknown_layouts_are_told(client: TestClient) -> None:
    assert client.get("/v2/layout/charts", params={"run": "./ours", "tag": "x"}).status_code == 404
