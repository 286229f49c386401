"""Search of nodes, source lines and steps."""

from typing import Any

from tests.server.api.v1.debugger.conftest import RELU, WEIGHT


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
