"""The graph calls, against what MindInsight 2.3.1 answered for the same files."""

import json
from typing import Any

import pytest

from tests.server.v1.conftest import DATA, code_of

PATH = "datavisual/graphs"
EXPECTED = json.loads((DATA / "graph" / "aggregated.json").read_text())
JOB = {"train_id": "./pb", "tag": "aggregated.pb"}


def test_nodes_of_scopes(v1: Any) -> None:
    for scope, nodes in EXPECTED["normal"]["nodes"].items():
        assert v1.ok(f"{PATH}/nodes", **JOB, name=scope)["nodes"] == nodes


def test_the_top_is_shown_without_a_name(v1: Any) -> None:
    assert v1.ok(f"{PATH}/nodes", **JOB)["nodes"] == EXPECTED["normal"]["nodes"][""]


def test_the_simplified_graph_has_a_tag_of_its_own(v1: Any) -> None:
    query = {"train_id": "./pb", "mode": "optimize", "tag": "aggregated.pb (optimized)"}
    for scope, nodes in EXPECTED["optimize"]["nodes"].items():
        assert v1.ok(f"{PATH}/nodes", **query, name=scope)["nodes"] == nodes


@pytest.mark.parametrize(("mode", "suffix"), [("normal", ""), ("optimize", " (optimized)")])
def test_the_first_tag_by_name_is_taken_when_none_is_named(v1: Any, mode: str, suffix: str) -> None:
    tags = v1.ok("datavisual/plugins", train_id="./pb")["plugins"]["graph"]
    assert tags == ["ms_output_optimize.pb", "aggregated.pb"]
    query = {"train_id": "./pb", "mode": mode}
    first = v1.ok(f"{PATH}/nodes", **query, tag=f"aggregated.pb{suffix}")
    assert v1.ok(f"{PATH}/nodes", **query) == first


def test_a_leaf_holds_nothing(v1: Any) -> None:
    leaf = v1.ok(f"{PATH}/nodes/all", **JOB, name="")["all_nodes_detail"][0]["name"]
    assert v1.ok(f"{PATH}/nodes", **JOB, name=leaf) == {"nodes": []}


def test_all_leaves(v1: Any) -> None:
    for scope, names in EXPECTED["normal"]["all"].items():
        answer = v1.ok(f"{PATH}/nodes/all", **JOB, name=scope)
        assert [node["name"] for node in answer["all_nodes_detail"]] == names


def test_levels_down_to_a_node(v1: Any) -> None:
    for name in EXPECTED["normal"]["single"]:
        level, scopes = v1.ok(f"{PATH}/single-node", **JOB, name=name), []
        while level:
            scopes.append(level["scope_name"])
            last, level = level, level["children"]
        assert scopes[0] == ""
        assert name in [node["name"] for node in last["nodes"]]


def test_search_counts_pages(v1: Any) -> None:
    def leaves(nodes: Any) -> list[Any]:
        return [name for node in nodes for name in (leaves(node["nodes"]) or [node["name"]])]

    whole = leaves(v1.ok(f"{PATH}/nodes/names", **JOB, search="op")["nodes"])
    pages = [v1.ok(f"{PATH}/nodes/names", **JOB, search="op", limit=20, offset=n)["nodes"] for n in range(9)]
    assert len(whole) > 20
    assert sorted(name for page in pages for name in leaves(page)) == sorted(whole)
    assert v1.ok(f"{PATH}/nodes/names", **JOB, search="op", offset=9999) == {"nodes": []}
    assert v1.ok(f"{PATH}/nodes/names", **JOB) == {"nodes": []}


@pytest.mark.parametrize("call", ["nodes", "nodes/all", "nodes/names", "single-node"])
def test_faults_are_told_in_order(v1: Any, call: str) -> None:
    path = f"{PATH}/{call}"
    assert v1.fault(path, mode="other") == (400, "50540002")
    assert v1.fault(path) == (400, "50540003")
    assert v1.fault(path, train_id="./nothing", limit="x") == (400, "50545005")
    assert v1.fault(path, train_id="pb") == (400, "50545005")
    assert v1.fault(path, train_id="./values") == (400, "5054500C")
    assert v1.fault(path, train_id="./pb", tag="nothing") == (400, "5054500C")
    assert v1.fault(path, train_id="./pb", tag="aggregated.pb", mode="optimize") == (400, "5054500C")
    assert v1.fault(path, train_id="./pb", tag="aggregated.pb (optimized)") == (400, "5054500C")


def test_a_node_that_is_not_there(v1: Any) -> None:
    for call in ("nodes", "nodes/all", "single-node"):
        assert v1.fault(f"{PATH}/{call}", **JOB, name="Default/nothing") == (400, "50545009")
    assert v1.fault(f"{PATH}/single-node", **JOB) == (400, "50540003")


def test_numbers_of_pages_are_checked(v1: Any) -> None:
    path = f"{PATH}/nodes/names"
    assert v1.fault(path, **JOB, limit="x") == (400, "50540001")
    assert v1.fault(path, **JOB, limit=1001) == (400, "50540002")
    assert v1.fault(path, **JOB, offset=-1) == (400, "50540002")


def test_a_graph_from_an_event_file(v1: Any) -> None:
    tags = v1.ok("datavisual/plugins", train_id="./lineage_and_graph")["plugins"]["graph"]
    nodes = v1.ok(f"{PATH}/nodes", train_id="./lineage_and_graph", tag=tags[0])["nodes"]
    assert nodes


def test_there_is_no_post(v1: Any) -> None:
    assert code_of(v1.post(f"{PATH}/nodes")) == (405, "50545002")
