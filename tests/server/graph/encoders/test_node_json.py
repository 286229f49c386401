"""Model card as JSON: parts with their costs, and the number of equal layers."""

from collections.abc import Callable
from typing import Any

import pytest

from mindinsight.server.graph.encoders.node_json import describe_node, describe_outer, model_card_json
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.costs import costs_of
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


@pytest.mark.parametrize("count", [4, 160])
def test_repeated_layers_are_claimed_with_their_count_and_their_box(
    graph: Callable[..., Graph], blocks: Any, count: int
) -> None:
    nodes = [(path, [*inputs, "w"] if "MatMul" in path else inputs) for path, inputs in blocks(count)]
    tree = folded_tree(graph(nodes, ["w"]))
    card = model_card_json(tree, costs_of(tree))
    claim = card["claims"][0]
    assert claim["values"] == {"n": count, "layer": "Block"}
    (spot,) = claim["evidence"]
    assert spot["node"] in [part["id"] for part in card["parts"]]


def test_layers_that_are_not_equal_are_parts_without_a_claim(graph: Callable[..., Graph]) -> None:
    kinds = ("Conv2D", "MatMul", "Conv3D", "Gather")
    nodes: list[Any] = [("net/In-op0", [])]
    for number, kind in enumerate(kinds):
        nodes.append((f"net/{number}-Layer/{kind}-op0", [nodes[-1][0], "w"]))
    tree = folded_tree(graph(nodes, ["w"]))
    card = model_card_json(tree, costs_of(tree))
    assert "claim.graph.repeats" not in {claim["key"] for claim in card["claims"]}
    assert [part["label"] for part in card["parts"]] == [f"{number}-Layer" for number in range(4)]
