"""Saved views: what is kept, what is refused, and that a page of another site can change nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

LOSS = {"name": "late loss", "view": "scalar", "query": "runs=lenet&q=loss|acc&z=10,20"}
HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture
def client(samples: Any) -> Any:
    return samples()


def names(answer: Any) -> list[Any]:
    assert answer.status_code == 200, answer.text
    return [view["name"] for view in answer.json()["views"]]


def code(answer: Any) -> tuple[Any, Any]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_view_is_saved_and_listed_as_it_is(client: Any) -> None:
    assert client.get("/v2/views").json() == {"views": []}
    assert client.put("/v2/views", json=LOSS).json() == {"views": [LOSS]}
    assert client.get("/v2/views").json() == {"views": [LOSS]}


def test_a_name_is_text_without_space_around_it(client: Any) -> None:
    answer = client.put("/v2/views", json={**LOSS, "name": f"  {HOSTILE} "})
    assert names(answer) == [HOSTILE]
    assert answer.headers["content-type"] == "application/json"


def test_views_are_renamed_and_forgotten(client: Any) -> None:
    for name in ("a", "b/c?d=%2e"):
        client.put("/v2/views", json={**LOSS, "name": name})
    assert names(client.patch("/v2/views", json={"name": "b/c?d=%2e", "to": "b"})) == ["a", "b"]
    assert names(client.delete("/v2/views", params={"name": "a"})) == ["b"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "   "},
        {"name": "x" * 101},
        {"name": None},
        {"name": "\ud800"},
        {"view": ""},
        {"view": "https://other.host/"},
        {"view": "//other.host"},
        {"view": "../scalar"},
        {"view": "Scalar"},
        {"view": "scalar\n"},
        {"query": "a b"},
        {"query": "a=1#top"},
        {"query": "x" * 16_001},
        {"query": ["a=1"]},
    ],
)
def test_what_is_no_name_no_page_or_no_query_is_refused(client: Any, wrong: Any) -> None:
    body = {**LOSS, **wrong}
    answer = client.put("/v2/views", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert names(client.get("/v2/views")) == []


def test_only_pages_of_this_server_are_kept(client: Any) -> None:
    assert code(client.put("/v2/views", json={**LOSS, "view": "nowhere"})) == (404, "unknown_page")
    for view in ("runs", "overview", "lineage"):
        assert client.put("/v2/views", json={**LOSS, "view": view}).status_code == 200


def test_what_is_not_there_or_taken_is_said(client: Any) -> None:
    client.put("/v2/views", json=LOSS)
    client.put("/v2/views", json={**LOSS, "name": "other"})
    assert code(client.patch("/v2/views", json={"name": "none", "to": "x"})) == (404, "unknown_view")
    assert code(client.delete("/v2/views", params={"name": "none"})) == (404, "unknown_view")
    assert code(client.patch("/v2/views", json={"name": "other", "to": "late loss"})) == (409, "view_taken")
    assert client.patch("/v2/views", json={"name": "other", "to": " "}).status_code == 422
    assert names(client.get("/v2/views")) == ["late loss", "other"]


def test_there_is_an_end_to_what_is_kept(client: Any) -> None:
    for number in range(200):
        client.put("/v2/views", json={**LOSS, "name": str(number)})
    assert code(client.put("/v2/views", json=LOSS)) == (409, "many_views")


def test_a_full_disk_is_said(client: Any, tmp_path: Path) -> None:
    (tmp_path / "workspace" / "views.json").mkdir(parents=True)
    assert code(client.put("/v2/views", json=LOSS)) == (507, "not_kept")


def test_a_page_of_another_site_can_change_nothing(client: Any) -> None:
    elsewhere = {"Origin": "https://other.host"}
    assert client.put("/v2/views", json=LOSS, headers=elsewhere).status_code == 403
    client.put("/v2/views", json=LOSS)
    assert (
        client.patch("/v2/views", json={"name": "late loss", "to": "x"}, headers=elsewhere).status_code == 403
    )
    assert client.delete("/v2/views", params={"name": "late loss"}, headers=elsewhere).status_code == 403
    assert names(client.get("/v2/views")) == ["late loss"]


def test_with_a_token_nobody_else_sees_them(samples: Any) -> None:
    client = samples(token="secret")
    client.put("/v2/views", json=LOSS)
    client.headers.pop("Authorization")
    assert client.get("/v2/views").status_code == 401


def test_below_a_prefix_they_are_found(samples: Any) -> None:
    client = samples(url_path_prefix="/team/board")
    assert names(client.put("v2/views", json=LOSS)) == ["late loss"]
