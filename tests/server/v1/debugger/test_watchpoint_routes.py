"""Watchpoints: created, changed, deleted."""

import json
from typing import Any

import pytest

from tests.server.v1.conftest import DATA, code_of, fine
from tests.server.v1.debugger.conftest import CONV, RELU, WEIGHT, go, state, watch


def test_nodes_that_are_watched(dumps: Any, session: Any) -> None:
    """A list of nodes counts already when the watchpoint is made, and can be changed later."""

    def watched() -> Any:
        answer = dumps.ok(f"{session}/search", name="op5", watch_point_id=1)
        nodes = {}

        def walk(level: Any) -> None:
            for node in level:
                nodes[node["name"]] = node["watched"]
                walk(node["nodes"])

        walk(answer["nodes"])
        return nodes

    watch(dumps, session, "tensor_overflow", watch_nodes=[RELU])
    assert (watched()[RELU], watched()[CONV], watched()["Default"]) == (2, 0, 1)
    update = {"watch_point_id": 1, "watch_nodes": [CONV.rpartition("/")[0]], "mode": 1}
    dumps.sent(f"{session}/update-watchpoint", update)
    assert watched()[CONV] == 2
    dumps.sent(f"{session}/update-watchpoint", {**update, "mode": 0})
    assert (watched()[RELU], watched()[CONV]) == (2, 0)
    params = {"watch_point_id": 1, "name": RELU.rpartition("/")[0]}
    nodes = dumps.sent(f"{session}/retrieve", {"mode": "watchpoint", "params": params})["graph"]["nodes"]
    assert {node["name"]: node["watched"] for node in nodes}[RELU] == 2


def test_nodes_taken_from_a_watchpoint_for_all(dumps: Any, session: Any) -> None:
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])
    body = {"watch_point_id": 1, "mode": 0, "search_pattern": {"name": "op"}}
    dumps.sent(f"{session}/update-watchpoint", body)
    go(dumps, session, mode="continue", level="step", steps=1)
    answer = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 10}})
    assert answer == {"outdated": False}


def test_watchpoints_that_cannot_be_set(dumps: Any, session: Any) -> None:
    def fault(call: Any, **body: Any) -> Any:
        return code_of(dumps.post(f"{session}/{call}", body))

    create = "create-watchpoint"
    assert fault(create) == (400, "5054B081")
    assert fault(create, condition={"id": "nothing"}) == (400, "5054B081")
    assert fault(create, condition={"id": ["tensor_overflow"]}) == (400, "5054B081")
    for params in ([{"name": "max_gt", "value": "1"}], [{"name": "other", "value": 1}], [3], [], "x"):
        condition = {"id": "tensor_too_large", "params": params}
        assert fault(create, condition=condition) == (400, "5054B081")
    condition = {"id": "tensor_overflow", "params": []}
    assert fault(create, condition=condition, watch_nodes=["no"], graph_name="Net_0") == (400, "5054B100")
    assert fault("update-watchpoint", watch_point_id=1, mode=1) == (400, "5054B081")
    assert fault("delete-watchpoint", watch_point_id=1) == (400, "5054B081")
    assert fault("delete-watchpoint", watch_point_id="1") == (400, "5054B081")


def test_watchpoints_are_listed_and_removed(dumps: Any, session: Any) -> None:
    watch(dumps, session, "tensor_too_large", [("max_gt", 0.1)])
    watch(dumps, session, "tensor_overflow")
    listed = dumps.sent(f"{session}/retrieve", {"mode": "watchpoint"})["watch_points"]
    params = [{"name": "max_gt", "value": 0.1}]
    assert listed[0] == {
        "id": 1,
        "watch_condition": {"id": "tensor_too_large", "abbr": "TL", "params": params},
    }
    dumps.sent(f"{session}/delete-watchpoint", {"watch_point_id": 1})
    assert [watchpoint["id"] for watchpoint in state_of_watchpoints(dumps, session)] == [2]
    dumps.sent(f"{session}/delete-watchpoint", {})
    assert state_of_watchpoints(dumps, session) == []


def state_of_watchpoints(dumps: Any, session: Any) -> Any:
    return dumps.sent(f"{session}/retrieve", {"mode": "all"})["watch_points"]


def test_common_faults_are_watched_for_once(dumps: Any, session: Any) -> None:
    path = f"{session}/set-recommended-watch-points"
    assert code_of(dumps.post(path, {})) == (400, "50540003")
    assert code_of(dumps.post(path, {"requestBody": {}})) == (400, "5054B081")
    numbers = dumps.sent(path, {"requestBody": {"set_recommended": True}})["id"]
    assert len(numbers) == len(state_of_watchpoints(dumps, session)) > 5
    assert code_of(dumps.post(path, {"requestBody": {"set_recommended": True}})) == (400, "5054B189")


def test_a_watchpoint_is_hit(dumps: Any, session: Any) -> None:
    expected = json.loads((DATA / "dumps/ms_sync_v2_0_names/watchpoints_expected.json").read_text())["out"]
    (large,) = [entry for entry in expected if entry["condition"] == 15 and entry["iteration"] == 0]
    limits = [(entry["name"], entry["value"]) for entry in large["parameters"] if not entry["disabled"]]
    assert watch(dumps, session, "weight_too_large", limits)["id"] == 1
    go(dumps, session, mode="continue", level="step", steps=-1)
    assert state(dumps, session)["step"] == 1
    answer = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 10}})
    names = {hit["node_name"].rpartition("/")[2] for hit in answer["watch_point_hits"]}
    assert names == {hit["name"] for hit in large["hits"]}
    (conv,) = [entry for entry in answer["watch_point_hits"] if entry["node_name"] == WEIGHT]
    params = conv["tensors"][0]["watch_points"][0]["watch_condition"]["params"]
    assert [entry["name"] for entry in params] == ["abs_mean_gt", "max_gt", "mean_gt"]
    assert params[1]["actual_value"] == pytest.approx(0.01553309, rel=1e-6)
    watchpoints = dumps.ok(f"{session}/tensor-hits", tensor_name=f"{WEIGHT}:0")["watch_points"]
    assert watchpoints[0]["watch_condition"]["abbr"] == "WL"
    history = dumps.sent(f"{session}/tensor-history", {"name": WEIGHT})["tensor_history"]
    assert history[0]["is_hit"]


def test_why_a_condition_was_not_judged_is_a_key_of_the_pages(dumps: Any, session: Any) -> None:
    watch(dumps, session, "weight_not_changed")
    go(dumps, session, mode="continue", level="step", steps=1)
    hits = dumps.sent(f"{session}/search-watchpoint-hits", {"group_condition": {"limit": 1}})
    (watchpoint,) = hits["watch_point_hits"][0]["tensors"][0]["watch_points"]
    assert (watchpoint["error_code"], watchpoint["error_list"]) == (4, ["no_prev_tensor"])


def test_hits_in_pages(dumps: Any, session: Any) -> None:
    def page(**group: Any) -> Any:
        return dumps.post(f"{session}/search-watchpoint-hits", {"group_condition": group})

    assert fine(page(limit=1)) == {"outdated": False}
    watch(dumps, session, "tensor_too_small", [("max_lt", 1e9)])
    go(dumps, session, mode="continue", level="step", steps=1)
    whole = fine(page(limit=100))
    assert whole["total"] == len(whole["watch_point_hits"]) > 2
    second = fine(page(limit=1, offset=1))
    assert second["watch_point_hits"] == whole["watch_point_hits"][1:2]
    focus = {"graph_name": "Net_0", "node_name": whole["watch_point_hits"][2]["node_name"]}
    assert fine(page(limit=1, focused_node=focus))["offset"] == 2
    assert fine(page(limit=9, watchpoint_id=7)) == {"outdated": False}
    assert code_of(page(limit=1, offset=whole["total"])) == (400, "5054B081")
    assert code_of(page(limit=0)) == (400, "5054B081")
    assert code_of(page()) == (400, "5054B081")
    assert code_of(page(limit=1, rank_id=4)) == (400, "5054B081")
    assert code_of(dumps.post(f"{session}/search-watchpoint-hits", {})) == (400, "5054B080")
