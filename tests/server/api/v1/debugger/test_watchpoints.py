"""Watchpoints: created, changed, deleted."""

from typing import Any

from tests.server.api.v1.conftest import code_of
from tests.server.api.v1.debugger.conftest import CONV, RELU, go, watch


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
