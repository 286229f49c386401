"""Routes of fault search, watchpoints and trends."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

BROKEN, HEALTHY = "./job/broken", "./job/healthy"


def test_the_first_fault_leads_to_the_line(ask: Any) -> None:
    (fault,) = ask("fault", dump=BROKEN)["faults"]
    assert (fault["kind"], fault["rank"], fault["step"]) == ("made", 0, 1)
    assert fault["tensors"][0]["recorded"] == "MatMul-op66"
    assert fault["operator"]["source"]["code"] == "return self.fc2(x)"
    healthy = ask("fault", dump=HEALTHY, all=True)
    assert healthy["faults"] == []
    assert healthy["coverage"] == {
        "tensors": 198,
        "judged": 198,
        "unread": 0,
        "silent": 0,
        "masks": 0,
        "open_masks": 0,
        "scaled": 0,
        "aside": 0,
        "aside_of": {},
        "skipped": {},
        "by_statistics": 0,
        "contradicted": 0,
        "unlisted": 0,
        "operators": True,
        "backward": True,
    }
    assert ask("fault", dump=BROKEN, step=0)["faults"] == []


def test_conditions_come_with_what_a_form_needs(ask: Any) -> None:
    answer = ask("conditions")
    assert len(answer["conditions"]) == 20
    (changed,) = [
        condition for condition in answer["conditions"] if condition["id"] == "weight_change_too_large"
    ]
    assert [
        (parameter["name"], parameter["default"], parameter["checks"]) for parameter in changed["parameters"]
    ] == [
        ("abs_mean_update_ratio_gt", 0.1, True),
        ("epsilon", 1e-9, False),
    ]
    assert "tensor_overflow" in [condition["condition"] for condition in answer["common"]]


def test_the_common_faults_are_checked_and_hits_lead_to_tensors(client: Any, finished: Any) -> None:
    number = client.post("/v2/dump/check", json={"dump": BROKEN}).json()["check"]
    answer = finished(f"check/{number}")
    lost = [hit for hit in answer["hits"] if hit["condition"] == "tensor_overflow"]
    assert [(hit["step"], hit["tensor"]["recorded"], hit["tensor"]["slot"]) for hit in lost] == [
        (1, "MatMul-op66", "0")
    ]
    assert answer["total"] == len(answer["hits"])
    assert len(finished(f"check/{number}", limit=1)["hits"]) == 1


def test_chosen_conditions_on_chosen_operators(client: Any, finished: Any) -> None:
    watch = {"condition": "weight_too_large", "limits": {"max_gt": 0.0216}, "operators": ["fc1.*"]}
    number = client.post("/v2/dump/check", json={"dump": HEALTHY, "watchpoints": [watch]}).json()["check"]
    hits = finished(f"check/{number}")["hits"]
    assert [(hit["tensor"]["operator"], hit["step"]) for hit in hits] == [
        ("fc1.weight", 0),
        ("fc1.weight", 1),
    ]
    assert hits[0]["findings"][1]["hit"]


def test_a_condition_that_cannot_be_is_refused(client: Any) -> None:
    watch = {"condition": "weight_too_large", "limits": {}}
    answer = client.post("/v2/dump/check", json={"dump": HEALTHY, "watchpoints": [watch]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_condition")
    assert "needs at least one of" in answer.json()["error"]["message"]


def test_weights_and_gradients_between_two_steps(ask: Any) -> None:
    trends = ask("trends", dump=HEALTHY, rank=0, step=1, before=0)["trends"]
    states = {trend["operator"]: trend["state"] for trend in trends}
    assert (states["fc2.bias"], states["conv1.weight"]) == ("jumping", "")


def test_no_fault_is_searched_at_a_step_or_rank_that_the_dump_does_not_have(client: Any) -> None:
    for absent in ({"step": 99}, {"rank": 9}):
        assert client.get("/v2/dump/fault", params={"dump": BROKEN, **absent}).status_code == 404


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("trends", {"step": 99, "before": 0}),
        ("trends", {"step": 1, "before": 99}),
        ("overflows", {"step": 99}),
    ],
)
def test_a_step_that_the_dump_does_not_have_is_no_empty_list(
    client: Any, path: str, params: dict[str, int]
) -> None:
    answer = client.get(f"/v2/dump/{path}", params={"dump": HEALTHY, "rank": 0, **params})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_dump_step")


def test_a_fault_is_traced_back_to_the_batch_and_drawn(finished: Callable[..., Any]) -> None:
    answer = finished("chain", dump="./job/broken", step=1, graph="Net/0", operator="MatMul-op66")
    chain = answer["chain"]
    assert answer["certain"]
    assert (chain[0]["recorded"], chain[0]["tensor"]["statistics"]["nans"]) == ("MatMul-op66", 1)
    assert chain[0]["source"]["code"] == "return self.fc2(x)"
    assert (chain[-1]["operator"], chain[-1]["carrier"]) == ("inputs0", "data")
    assert {link["carrier"] for link in chain[:-1]} == {"operator"}
    places = [box["place"] for box in answer["picture"]["boxes"]]
    assert places.count(0) == 1
    assert {0, 1, 2} <= set(places)
    assert answer["picture"]["lines"]


def test_a_source_is_followed_where_it_is_named(finished: Callable[..., Any]) -> None:
    position = {"dump": "./job/broken", "step": 1, "graph": "Net/0"}
    chain = finished("chain", **position, operator="MatMulBiasAddFusion-op56", source="fc2.weight")["chain"]
    assert [(link["operator"], link["carrier"]) for link in chain[1:]] == [("fc2.weight", "weight")]


def test_links_of_a_dump_without_a_graph_are_inferred(finished: Callable[..., Any]) -> None:
    answer = finished("chain", dump="./torch", operator="Functional.relu.0.forward")
    assert not answer["certain"]
    assert answer["chain"][1]["recorded"] == "Functional.linear.0.forward"


def test_a_check_of_what_the_dump_does_not_have_is_not_started(client: Any) -> None:
    watch = {"condition": "weight_too_large", "limits": {"max_gt": 1}, "steps": [99]}
    for body in ({"steps": [99]}, {"ranks": [7]}, {"watchpoints": [watch]}, {"steps": [0, 99]}):
        answer = client.post("/v2/dump/check", json={"dump": BROKEN, **body})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_dump_step"), body
        assert answer.json().keys() == {"error"}
    assert client.post("/v2/dump/check", json={"dump": BROKEN, "steps": [0], "ranks": [0]}).status_code == 200


def test_a_search_in_the_background_says_which_step_it_searches(client: TestClient) -> None:
    search = client.post("/v2/dump/fault", json={"dump": BROKEN}).json()["search"]
    for _ in range(600):
        answer = client.get(f"/v2/dump/fault/{search}").json()
        if answer["done"]:
            break
        assert answer["answer"] is None
        assert answer["searching"] is None or answer["searching"]["position"] <= answer["searching"]["count"]
        time.sleep(0.05)
    assert answer["answer"] == client.get("/v2/dump/fault", params={"dump": BROKEN}).json()
    assert client.get("/v2/dump/fault/99").status_code == 404
    assert client.post("/v2/dump/fault", json={"dump": BROKEN, "step": [99]}).status_code == 404
