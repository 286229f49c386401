"""Responses against those of MindInsight 2.3.1 for the same graphs (tests/data/graph/*.json)."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.encoders import v1_graph
from mindinsight.server.graph.model.node_details import output_of
from mindinsight.server.graph.model.simplification import simplify
from mindinsight.server.graph.scopes.scope_tree import Folding, build_tree

DATA = Path(__file__).parents[3] / "data/graph"
GRAPHS = [
    ("lenet", ".graph"),
    ("small", ".graph"),
    ("conv_optimize", ".pb"),
    ("aggregated", ".pb"),
    ("simplified", ".pb"),
    ("ordered", ".pb"),
    ("controls", ".pb"),
    ("types", ".pb"),
]


def tree_of(name: Any, ending: Any, mode: Any) -> Any:
    graph = read_graph((DATA / f"{name}{ending}").read_bytes())
    return build_tree(graph) if mode == "normal" else build_tree(simplify(graph), Folding(least=10))


@pytest.fixture(params=[(*graph, mode) for graph in GRAPHS for mode in ("normal", "optimize")], ids=str)
def case(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    name, ending, mode = request.param
    facts = json.loads((DATA / f"{name}.json").read_text())[mode]
    return tree_of(name, ending, mode), facts


def newer_types(text: Any) -> Any:
    """Check names of element types above 42, which MindInsight 2.3.1 calls undefined."""
    return text.replace("DT_SLICE", "DT_UNDEFINED").replace("DT_BFLOAT16", "DT_UNDEFINED")


def test_nodes_of_every_scope(case: tuple[Any, Any]) -> None:
    tree, facts = case
    for scope, expected in facts["nodes"].items():
        answer = json.loads(newer_types(json.dumps(v1_graph.children(tree, scope))))
        assert [node["name"] for node in answer] == [node["name"] for node in expected], scope
        for ours, theirs in zip(answer, expected, strict=True):
            assert ours == theirs


def flat(nodes: Any) -> set[Any]:
    return {
        entry
        for node in nodes
        for entry in [(node["name"], node["type"], node["is_dynamic_shape_node"]), *flat(node["nodes"])]
    }


def test_search_names(case: tuple[Any, Any]) -> None:
    """Check that a match inside a scope stays if the scope matches later, unlike in MindInsight."""
    tree, facts = case
    for search, expected in facts["names"].items():
        ours, theirs = flat(v1_graph.search_names(tree, search, 0, 1000)), flat(expected)
        assert theirs <= ours, search
        assert bool(theirs) == bool(ours), search
        lost = {name for name, _, _ in ours - theirs}
        scopes_kept = {name for name, _, _ in theirs}
        assert all(any(name.startswith(f"{scope}/") for scope in scopes_kept) for name in lost), search


def test_all_leaves_below_a_scope(case: tuple[Any, Any]) -> None:
    tree, facts = case
    for scope, expected in facts["all"].items():
        assert [node["name"] for node in v1_graph.all_leaves(tree, scope)] == expected


def names_of(level: Any) -> dict[Any, Any]:
    if not level:
        return {}
    names = [node["name"] for node in level["nodes"]]
    return {"scope_name": level["scope_name"], "nodes": names, "children": names_of(level["children"])}


def test_levels_down_to_a_node(case: tuple[Any, Any]) -> None:
    tree, facts = case
    for name, expected in facts["single"].items():
        assert names_of(v1_graph.levels(tree, name)) == expected


def test_a_leaf_has_no_children_and_a_wrong_name_is_refused() -> None:
    tree = tree_of("small", ".graph", "normal")
    assert v1_graph.children(tree, "Default/Depend-op3") == []
    for call in (v1_graph.children, v1_graph.all_leaves, v1_graph.levels):
        with pytest.raises(v1_graph.UnknownNode):
            call(tree, "Default/nothing")


def test_pages_of_search_names() -> None:
    tree = tree_of("lenet", ".graph", "normal")
    facts = json.loads((DATA / "lenet.json").read_text())["normal"]
    assert v1_graph.search_names(tree, "conv1", offset=1, limit=2) == facts["second_page_of_two"]
    assert v1_graph.search_names(tree, "conv1", offset=900, limit=2) == []


def test_what_an_output_is_like_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of("aggregated", ".pb", "normal")
    nodes = []

    def counted(graph: Any, node: Any) -> Any:
        nodes.append(node)
        return output_of(graph, node)

    monkeypatch.setattr(v1_graph, "output_of", counted)
    assert len(v1_graph.all_leaves(tree)) > 10
    assert 0 < len(nodes) <= len(set(tree.edges.sources.tolist())) < len(tree.edges)


def test_leaves_with_too_many_edges_are_refused_and_those_of_a_scope_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = tree_of("aggregated", ".pb", "normal")
    scopes = [path for index, path in enumerate(tree.paths) if path and not tree.is_leaf(index)]
    smallest = min(scopes, key=lambda path: v1_graph.edges_at(tree, tree.indices[path]))
    monkeypatch.setattr(v1_graph, "MOST_EDGES", v1_graph.edges_at(tree, tree.indices[smallest]))
    assert v1_graph.all_leaves(tree, smallest)
    with pytest.raises(v1_graph.TooManyEdges):
        v1_graph.all_leaves(tree)
