"""Details of scopes, operators and parameters as JSON."""

from typing import Any

from mindinsight.server.graph.encoders.nodes import describe_node, describe_outer
from mindinsight.server.graph.scopes.folding import folded_tree

SIDE = [
    ("Default/a/A-op0", ["w"]),
    ("Default/a/B-op0", ["Default/a/A-op0"]),
    ("Default/b/C-op0", ["Default/a/A-op0", "cst1"]),
    ("Default/b/D-op0", ["Default/a/B-op0", "Default/b/C-op0"]),
    ("Default/E-op0", []),
]


def test_facts_of_a_scope_and_of_an_operator(graph: Any) -> None:
    tree = folded_tree(graph(SIDE, parameters=["w"], constants={"cst1": 1}))
    scope = describe_node(tree, tree.indices["Default/b"])
    assert scope["operators"] == 2 and scope["types"] == {"C": 1, "D": 1}
    assert [row["label"] for row in scope["inputs"]["shown"]] == ["A-op0", "B-op0"]
    assert [(row["label"], row["text"]) for row in scope["outer"]["shown"]] == [("cst1", "1")]
    node = describe_node(tree, tree.indices["Default/a/A-op0"])
    assert [row["label"] for row in node["around"]] == ["Default", "a"]
    assert node["output"] == "float32 [2, 3]"
    assert [row["label"] for row in node["outputs"]["shown"]] == ["B-op0", "C-op0"]


def test_facts_of_a_parameter(graph: Any) -> None:
    tree = folded_tree(graph(SIDE, parameters=["w"], constants={"cst1": 1}))
    details = describe_outer(tree, tree.graph.names.index("w"))
    assert details["kind"] == "parameter"
    assert [user["path"] for user in details["users"]["shown"]] == ["Default/a/A-op0"]
