"""The model card as JSON: parts with their costs, and how many equal layers stand behind one."""

from collections.abc import Callable
from typing import Any

import pytest

from mindinsight.server.graph.encoders.model_card import model_card_json
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.costs import costs_of
from mindinsight.server.graph.scopes.folding import folded_tree


@pytest.mark.parametrize("count", [4, 160])
def test_repeated_layers_are_claimed_with_their_count_and_their_box(
    graph: Callable[..., Graph], blocks: Any, count: int
) -> None:
    nodes = [(path, [*inputs, "w"] if "MatMul" in path else inputs) for path, inputs in blocks(count)]
    tree = folded_tree(graph(nodes, ["w"]))
    card = model_card_json(tree, costs_of(tree))
    (claim,) = card["claims"]
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
    assert card["claims"] == []
    assert [part["label"] for part in card["parts"]] == [f"{number}-Layer" for number in range(4)]
