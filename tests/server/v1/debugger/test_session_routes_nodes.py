"""The state of a session and nodes of its graph."""

from typing import Any

from tests.server.v1.conftest import code_of
from tests.server.v1.debugger.conftest import CONV, RELU, WEIGHT


def leaf_names(nodes: Any) -> list[Any]:
    return [name for node in nodes for name in (leaf_names(node["nodes"]) or [node["name"]])]


def test_search(dumps: Any, session: Any) -> None:
    assert leaf_names(dumps.ok(f"{session}/search", name="relu-op52")["nodes"]) == [RELU]
    weights = leaf_names(dumps.ok(f"{session}/search", node_category="weight")["nodes"])
    assert WEIGHT in weights
    assert all(name.endswith(("weight", "bias")) for name in weights)
    assert leaf_names(dumps.ok(f"{session}/search", node_category="activation")["nodes"]) == [RELU]
    lines = dumps.ok(f"{session}/search", stack_info_key_word="activation.py", name="op52")["nodes"]
    assert leaf_names(lines) == [RELU]
    assert dumps.ok(f"{session}/search") == {"nodes": []}
    assert dumps.fault(f"{session}/search", node_category="x") == (400, "5054B081")
    assert dumps.fault(f"{session}/search", rank_id="x") == (400, "50540001")
    assert dumps.fault(f"{session}/search", rank_id=5) == (400, "5054B081")


def test_source_lines_in_pages(dumps: Any, session: Any) -> None:
    pages = dumps.ok(f"{session}/stacks", limit=100)
    assert pages["total"] == len(pages["stack_infos"]) > 2
    second = dumps.ok(f"{session}/stacks", limit=1, offset=1)
    assert second["stack_infos"] == pages["stack_infos"][1:2]
    files = dumps.ok(f"{session}/stacks", key_word="activation.py")["stack_infos"]
    assert all(set(line) == {"file_path", "line_no", "code_line"} for line in files[0]["items"])
    assert dumps.ok(f"{session}/stacks", key_word="no such line") == {}
    assert dumps.fault(f"{session}/stacks", limit="x") == (400, "50540001")


def test_steps_of_a_rank(dumps: Any, session: Any) -> None:
    runs = dumps.ok(f"{session}/ranks/0/graph-runs")["graph_runs"]
    assert [run["count"] for run in runs] == [1, 2]
    assert runs[0]["sub_graph_names"] == ["Net_0"]
    assert dumps.fault(f"{session}/ranks/5/graph-runs") == (400, "5054B081")
    assert dumps.fault(f"{session}/ranks/x/graph-runs") == (400, "50540001")


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
