"""Routes of reports: what is answered, refused, and rendered."""

from typing import Any

import pytest

HOSTILE = "<img src=x onerror=alert(1)> **bold** [here](javascript:alert(1))"
PIN = {"view": "scalar", "query": "runs=lenet", "card": "loss/auto"}


@pytest.fixture
def client(samples: Any) -> Any:
    return samples()


def test_a_report_is_written_read_and_listed(client: Any) -> None:
    report = client.post("/v2/reports", json={"title": "  Best run "}).json()
    blocks = f"/v2/reports/{report['id']}/blocks"
    card = client.post(blocks, json={"pin": {**PIN, "frozen": '{"tree": ["损失"]}'}}).json()
    text = client.post(blocks, json={"text": HOSTILE, "after": ""}).json()
    first, second = text["blocks"]
    assert (text["title"], text["added"], second["id"]) == ("Best run", first["id"], card["added"])
    assert first["tree"] == [
        ["p", {}, ["<img src=x onerror=alert(1)> ", ["strong", {}, ["bold"]], " [here](javascript:alert(1))"]]
    ]
    frozen = client.get(f"/v2/reports/{report['id']}/frozen/{second['frozen']}")
    assert (frozen.headers["content-type"], frozen.json()) == ("application/json", {"tree": ["损失"]})
    moved = client.patch(f"{blocks}/{second['id']}", json={"action": "move", "after": ""}).json()
    assert [block["view"] for block in moved["blocks"]] == ["scalar", ""]
    thawed = client.patch(f"{blocks}/{second['id']}", json={"action": "thaw"}).json()
    assert thawed["blocks"][0]["frozen"] == ""
    assert client.patch(f"/v2/reports/{report['id']}", json={"title": "b"}).json()["title"] == "b"
    assert [(item["title"], item["blocks"]) for item in client.get("/v2/reports").json()["reports"]] == [
        ("b", 2)
    ]
    assert len(client.delete(f"{blocks}/{second['id']}").json()["blocks"]) == 1
    assert client.delete(f"/v2/reports/{report['id']}").json() == {"reports": []}
    assert client.get(f"/v2/reports/{report['id']}").status_code == 404


def test_who_writes_to_an_older_text_is_told(client: Any) -> None:
    report = client.post("/v2/reports", json={"title": "a"}).json()["id"]
    block = client.post(f"/v2/reports/{report}/blocks", json={"text": "x"}).json()["added"]
    address = f"/v2/reports/{report}/blocks/{block}"
    assert client.put(address, json={"text": "theirs", "version": 1}).status_code == 200
    answer = client.put(address, json={"text": "mine", "version": 1})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "block_changed")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"pin": {**PIN, "view": "nowhere"}}, 404),
        ({"pin": {**PIN, "view": "reports"}}, 404),
        ({"pin": {**PIN, "view": "../scalar"}}, 422),
        ({"pin": {**PIN, "query": "a b"}}, 422),
        ({"text": "x", "after": "0" * 12}, 404),
        ({"text": "x" * 100_001}, 422),
    ],
)
def test_what_is_no_page_no_query_and_no_block_is_refused(client: Any, body: Any, status: int) -> None:
    report = client.post("/v2/reports", json={"title": "a"}).json()["id"]
    assert client.post(f"/v2/reports/{report}/blocks", json=body).status_code == status
    assert client.get(f"/v2/reports/{report}").json()["blocks"] == []


def test_a_page_of_another_site_can_change_nothing(client: Any) -> None:
    elsewhere = {"Origin": "https://other.host"}
    assert client.post("/v2/reports", json={"title": "a"}, headers=elsewhere).status_code == 403
