"""The state of a session and nodes of its graph."""

from typing import Any

from tests.server.api.v1.conftest import code_of
from tests.server.api.v1.debugger.conftest import CONV, RELU


def test_all_is_retrieved_at_once(dumps: Any, session: Any) -> None:
    answer = dumps.sent(f"{session}/retrieve", {"mode": "all"})
    facts = {name: answer["metadata"][name] for name in ("state", "step", "total_step_num", "enable_recheck")}
    assert facts == {"state": "waiting", "step": 0, "total_step_num": 2, "enable_recheck": False}
    assert answer["metadata"]["data_version"]["ms"] == "2.0.0"
    names = [node["name"] for node in answer["graph"]["nodes"]]
    assert names == ["Parameter[5]_1", "Default", "Gradients"]
    assert answer["graph"]["graph_names"] == answer["devices"][0]["graph_names"] == ["Net_0"]
    assert answer["devices"][0]["total_step_num"] == 2
    assert answer["watch_points"] == []


def test_nodes_of_a_scope(dumps: Any, session: Any) -> None:
    scope = "Default/network-WithLossCell/_backbone-Net/relu-ReLU"
    params = {"name": scope, "graph_name": "Net_0"}
    nodes = dumps.sent(f"{session}/retrieve", {"mode": "node", "params": params})["graph"]["nodes"]
    (relu,) = [node for node in nodes if node["name"] == RELU]
    assert relu["type"] == "ReLU"
    assert list(relu["input"]) == [CONV]
    assert "activation.py" in relu["stack_info"][0]["file_path"]
    assert relu["full_name"] == RELU


def test_levels_down_to_a_node(dumps: Any, session: Any) -> None:
    params = {"name": RELU, "single_node": True}
    level = dumps.sent(f"{session}/retrieve", {"mode": "node", "params": params})["graph"]
    while level["children"]:
        level = level["children"]
    assert RELU in [node["name"] for node in level["nodes"]]


def test_what_cannot_be_retrieved(dumps: Any, session: Any) -> None:
    def fault(**body: Any) -> Any:
        return code_of(dumps.post(f"{session}/retrieve", body))

    assert fault(mode="other") == (400, "5054B081")
    assert fault(mode="node", params=[1]) == (400, "5054B080")
    assert fault(mode="node", params={"name": "no", "graph_name": "Net_0"}) == (400, "5054B100")
    assert fault(mode="node", params={"name": "no"}) == (400, "5054B101")
    assert fault(mode="node", params={"name": ["no"]}) == (400, "5054B101")
    assert fault(mode="node", params={"graph_name": "other"}) == (400, "5054B081")
    assert fault(mode="node", params={"rank_id": 7}) == (400, "5054B081")
    assert fault(mode="watchpoint", params={"watch_point_id": 9}) == (400, "5054B081")
