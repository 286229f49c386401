"""Partners of nodes by parameters and structure."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindinsight.server.graph.comparison.node_labels import node_columns
from mindinsight.server.graph.comparison.node_matching import match_nodes, match_replaced


@pytest.fixture
def partners(graph: Any) -> Callable[..., Any]:
    """Return partners(left nodes, right nodes, left, right parameters) -> {left name: right name}."""

    def find(
        left: Any, right: Any, left_parameters: Any = (), right_parameters: Any = None, replaced: bool = False
    ) -> dict[Any, Any]:
        if right_parameters is None:
            right_parameters = left_parameters
        columns = node_columns(
            graph(left, parameters=left_parameters), graph(right, parameters=right_parameters)
        )
        _, partner, owners, _ = match_nodes(columns)
        if replaced:
            match_replaced(columns, partner, np.zeros_like(partner), owners)
        names = [*columns.graphs[0].names, *columns.graphs[1].names]
        count = columns.left_count
        assert all(partner[partner[node]] == node for node in np.flatnonzero(partner >= 0).tolist())
        return {names[node]: names[partner[node]] for node in range(count) if partner[node] >= 0}

    return find


def optimizer(weights: Any, first: int = 0) -> list[Any]:
    """Return nodes that update weights, numbered over the whole graph."""
    return [(f"opt/Adam-op{number}", [weight]) for number, weight in enumerate(weights, first)]


def test_updates_are_matched_by_their_weights_and_never_by_their_numbers(
    partners: Callable[..., Any],
) -> None:
    left, right = ["a.w", "b.w", "c.w"], ["a.w", "c.w", "d.w"]
    partner_of = partners(optimizer(left), optimizer(right), left, right)
    assert partner_of["opt/Adam-op0"] == "opt/Adam-op0"
    assert partner_of["opt/Adam-op2"] == "opt/Adam-op1"
    assert "opt/Adam-op1" not in partner_of


def test_names_that_are_only_numbered_say_nothing(partners: Callable[..., Any]) -> None:
    left = [("net/Conv-op0", ["p0"]), ("net/Dense-op0", ["p1", "net/Conv-op0"])]
    right = [("net/Conv-op0", ["p1"]), ("net/Dense-op0", ["p0", "net/Conv-op0"])]
    partner_of = partners(left, right, ["p0", "p1"])
    assert partner_of["p0"] == "p1" and partner_of["p1"] == "p0"


def test_parameters_below_another_prefix(partners: Callable[..., Any]) -> None:
    left = [f"blocks.{number}.weight" for number in range(5)]
    right = [f"model.{name}" for name in left]
    partner_of = partners(optimizer(left), optimizer(right[::-1], 7), left, right)
    assert all(partner_of[name] == f"model.{name}" for name in left)
    assert partner_of["opt/Adam-op0"] == "opt/Adam-op11"


def test_scopes_of_another_name_do_not_matter_to_connected_operators(partners: Callable[..., Any]) -> None:
    def chain(scope: Any) -> list[Any]:
        return [
            (f"{scope}/In-op0", []),
            (f"{scope}/MatMul-op0", [f"{scope}/In-op0"]),
            (f"{scope}/Add-op0", [f"{scope}/MatMul-op0"]),
        ]

    assert partners(chain("net"), chain("model")) == {
        "net/In-op0": "model/In-op0",
        "net/MatMul-op0": "model/MatMul-op0",
        "net/Add-op0": "model/Add-op0",
    }


def test_operators_that_nothing_tells_apart_are_matched_in_file_order(partners: Callable[..., Any]) -> None:
    nodes = [("net/In-op0", []), *((f"net/Add-op{number}", ["net/In-op0"]) for number in range(4))]
    partner_of = partners(nodes, nodes)
    assert partner_of == {name: name for name, _ in nodes}


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_file_does_not_matter(partners: Callable[..., Any], seed: Any) -> None:
    def network(order: Any, first: Any) -> tuple[Any, Any]:
        names = {layer: f"net/MatMul-op{first + index}" for index, layer in enumerate(order)}
        return [(names[layer], [f"layer.{layer}.w"]) for layer in order], names

    chance = random.Random(seed)
    layers = list(range(8))
    left, left_names = network(chance.sample(layers, 8), 0)
    right, right_names = network(chance.sample(layers, 8), 3)
    partner_of = partners(left, right, [f"layer.{layer}.w" for layer in layers])
    assert all(partner_of[left_names[layer]] == right_names[layer] for layer in layers)


def test_what_stands_in_the_place_of_another_replaces_it(partners: Callable[..., Any]) -> None:
    def chain(kind: Any) -> list[Any]:
        return [("n/In-op0", []), (f"n/{kind}-op0", ["n/In-op0"]), ("n/Out-op0", [f"n/{kind}-op0"])]

    assert "n/ReLU-op0" not in partners(chain("ReLU"), chain("GeLU"))
    assert partners(chain("ReLU"), chain("GeLU"), replaced=True)["n/ReLU-op0"] == "n/GeLU-op0"


def test_operators_far_from_each_other_do_not_replace_one_another(partners: Callable[..., Any]) -> None:
    left = [("n/A-op0", []), ("n/Old-op0", ["n/A-op0"]), ("n/B-op0", []), ("n/C-op0", ["n/B-op0"])]
    right = [("n/A-op0", []), ("n/B-op0", []), ("n/New-op0", ["n/B-op0"]), ("n/C-op0", ["n/New-op0"])]
    assert "n/Old-op0" not in partners(left, right, replaced=True)
