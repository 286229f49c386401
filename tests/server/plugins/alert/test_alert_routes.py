"""Rules over HTTP: what is kept, what is refused, who is told, and that no other site can change them."""

from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import StartServer

ABOVE = {"condition": "above", "tags": "loss*", "limit": 10.0, "level": "warning", "on": True}
FIRST = {"id": "not_finite", "built_in": True, "condition": "not_finite", "tags": "*", "limit": 0.0,
         "level": "error", "on": True, "since": 0.0}  # fmt: skip
SECOND = {**FIRST, "id": "failed", "condition": "failed"}
BUILT_IN = ["not_finite", "failed"]
RULES = "/v2/alert/rules"


@pytest.fixture
def client(samples: Any) -> Any:
    return samples()


def ids(answer: Any) -> list[Any]:
    assert answer.status_code == 200, answer.text
    return [rule["id"] for rule in answer.json()["rules"]]


def code(answer: Any) -> tuple[Any, Any]:
    return answer.status_code, answer.json()["error"]["code"]


def test_rules_are_added_changed_and_removed(client: Any) -> None:
    assert client.get(RULES).json() == {"rules": [FIRST, SECOND]}
    added = client.post(RULES, json={**ABOVE, "recorded": True}).json()["rules"][2]
    assert added == {"id": "1", "built_in": False, "since": 0.0, **ABOVE}
    changed = {**ABOVE, "condition": "below", "limit": -3.5, "on": False}
    assert client.put(RULES, params={"id": "1"}, json=changed).json()["rules"][2]["limit"] == -3.5
    assert ids(client.delete(RULES, params={"id": "1"})) == BUILT_IN


def test_a_rule_is_for_new_points_unless_recorded_ones_are_wanted(client: Any) -> None:
    def since(answer: Any) -> Any:
        return answer.json()["rules"][2]["since"]

    began = since(client.post(RULES, json=ABOVE))
    assert began > 1e9
    change = {"params": {"id": "1"}}
    assert since(client.put(RULES, json={**ABOVE, "limit": 3}, **change)) == began
    assert since(client.put(RULES, json={**ABOVE, "recorded": False}, **change)) == began
    assert since(client.put(RULES, json={**ABOVE, "recorded": True}, **change)) == 0
    assert since(client.put(RULES, json=ABOVE, **change)) == 0
    assert since(client.put(RULES, json={**ABOVE, "recorded": False}, **change)) >= began


def test_a_rule_has_a_formula(client: Any) -> None:
    assert client.post(RULES, json={**ABOVE, "tags": "=log(loss)"}).json()["rules"][2]["tags"] == "=log(loss)"
    wrong = {**ABOVE, "tags": "=log(loss"}
    assert code(client.post(RULES, json=wrong)) == (422, "bad_formula")
    assert code(client.put(RULES, params={"id": "1"}, json=wrong)) == (422, "bad_formula")
    assert code(client.get(f"{RULES}/preview", params=wrong)) == (422, "bad_formula")
    assert ids(client.get(RULES)) == [*BUILT_IN, "1"]


def test_a_preview_stores_nothing(client: Any) -> None:
    answer = client.get(f"{RULES}/preview", params={**ABOVE, "on": False})
    assert answer.status_code == 200, answer.text
    assert answer.json()["claim"]["key"].startswith("claim.rule.")
    assert client.get(RULES).json() == {"rules": [FIRST, SECOND]}
    assert client.get(f"{RULES}/preview", params={"condition": "between"}).status_code == 422


def test_the_built_in_rule_is_switched_off_but_stays(client: Any) -> None:
    off = {**{key: FIRST[key] for key in ABOVE}, "on": False}
    assert client.put(RULES, params={"id": "not_finite"}, json=off).json()["rules"][0]["on"] is False
    assert code(client.delete(RULES, params={"id": "not_finite"})) == (409, "built_in_rule")


@pytest.mark.parametrize(
    "wrong",
    [
        {"condition": "between"},
        {"condition": None},
        {"tags": ""},
        {"tags": "x" * 201},
        {"limit": "much"},
        {"limit": None},
        {"level": "fatal"},
        {"condition": "silent", "limit": 0},
        {"condition": "silent", "limit": -5},
        {"condition": "silent", "limit": 1e9},
    ],
)
def test_what_is_no_rule_is_refused(shared_samples: StartServer, wrong: dict[str, Any]) -> None:
    client = shared_samples()
    assert client.post(RULES, json={**ABOVE, **wrong}).status_code == 422
    assert ids(client.get(RULES)) == BUILT_IN


@pytest.mark.parametrize("limit", ["NaN", "Infinity", "-Infinity"])
def test_a_limit_is_a_number(client: Any, limit: str) -> None:
    body = f'{{"condition": "above", "limit": {limit}}}'
    answer = client.post(RULES, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


def test_what_is_not_there_or_too_much_is_said(client: Any, tmp_path: Path) -> None:
    assert code(client.put(RULES, params={"id": "7"}, json=ABOVE)) == (404, "unknown_rule")
    assert code(client.delete(RULES, params={"id": "7"})) == (404, "unknown_rule")
    for limit in range(50):
        for _ in range(2):  # a rule that is there is not added again
            client.post(RULES, json={**ABOVE, "limit": limit})
    assert len(client.get(RULES).json()["rules"]) == 52
    assert code(client.post(RULES, json={**ABOVE, "limit": 99})) == (409, "many_rules")


def test_a_full_disk_is_said(client: Any, tmp_path: Path) -> None:
    (tmp_path / "workspace" / "rules.json").mkdir(parents=True)
    assert code(client.post(RULES, json=ABOVE)) == (507, "not_kept")


def test_a_page_of_another_site_can_change_nothing(client: Any) -> None:
    elsewhere = {"Origin": "https://other.host"}
    client.post(RULES, json=ABOVE)
    answers = [
        client.post(RULES, json=ABOVE, headers=elsewhere),
        client.put(RULES, params={"id": "1"}, json=ABOVE, headers=elsewhere),
        client.delete(RULES, params={"id": "1"}, headers=elsewhere),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert ids(client.get(RULES)) == [*BUILT_IN, "1"]


def test_with_a_token_nobody_else_sees_them(samples: Any) -> None:
    client = samples(token="secret")
    client.post(RULES, json=ABOVE)
    client.headers.pop("Authorization")
    assert client.get(RULES).status_code == 401
    assert client.get("/v2/alert/list").status_code == 401


def test_every_open_page_is_told_of_a_change(client: Any) -> None:
    published: list[Any] = []
    hub = client.app.state.hub
    publish, hub.publish = hub.publish, published.append
    client.post(RULES, json=ABOVE)
    client.put(RULES, params={"id": "9"}, json=ABOVE)  # changes nothing
    client.get(RULES)
    hub.publish = publish
    assert [(change.list, change.runs) for change in published] == [(True, frozenset())]
