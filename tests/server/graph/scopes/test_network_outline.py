"""Scopes open at first: enough to see, and not more than is legible."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.layout.nested import draw
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.costs import costs_of
from mindinsight.server.graph.scopes.folding import REST, display_name, folded_tree
from mindinsight.server.graph.scopes.network_outline import Part, choose_initial_scopes, model_parts
from mindinsight.server.graph.scopes.scope_tree import Tree

DATA = Path(__file__).parents[3] / "data/graph"
LEGIBLE = 100


def closed(tree: Any) -> list[Any]:
    return [box for box in draw(tree, choose_initial_scopes(tree)).boxes if not box.open]


@pytest.mark.parametrize("file", ["lenet.graph", "conv_optimize.pb", "simplified.pb", "aggregated.pb"])
def test_a_network_of_a_few_layers_fits_on_a_screen(file: str) -> None:
    tree = folded_tree(read_graph((DATA / file).read_bytes()))
    assert len(draw(tree, []).boxes) < len(draw(tree, choose_initial_scopes(tree)).boxes) <= 30


def test_a_large_graph_in_one_scope_shows_its_stages(graph: Any) -> None:
    scope = "Default/network-Net"
    paths = [
        f"{scope}/stage_{stage}/block_{block}/Add-op{stage}_{block}"
        for stage in range(50)
        for block in range(20)
    ]
    before = [[], *([path] for path in paths)]
    tree = folded_tree(graph(list(zip(paths, before, strict=False))))
    drawing = draw(tree, choose_initial_scopes(tree))
    assert [box.content.label for box in closed(tree)] == [
        "Add-op0_0",
        "+ 19 × block",
        "+ 49 × stage",
    ]
    assert len(drawing.boxes) + len(drawing.lines) <= 300


def test_a_chain_of_single_scopes_is_walked_down_to_what_it_holds(graph: Any) -> None:
    scope = "/".join(f"scope{level}" for level in range(20))
    nodes: list[Any] = [(f"{scope}/Add-op{number}", []) for number in range(9)]
    tree = folded_tree(graph(nodes))
    assert sorted(box.content.label for box in closed(tree)) == [f"Add-op{number}" for number in range(9)]


def test_of_repeated_layers_the_first_is_open(graph: Any, blocks: Any) -> None:
    tree = folded_tree(graph(blocks(50)))
    assert sorted(box.content.label for box in closed(tree)) == [
        "+ 49 × Block",
        "In-op0",
        "MatMul-op0",
        "Out-op0",
        "ReLU-op0",
    ]


def test_the_optimizer_and_the_backward_pass_stay_closed(graph: Any, blocks: Any) -> None:
    optimizer: list[Any] = [(f"Default/optimizer-Adam/Adam-op{number}", []) for number in range(9)]
    backward: list[Any] = [(f"Gradients/Default/{part}/Grad-op0", []) for part in "abc"]
    tree = folded_tree(graph([*blocks(4), *optimizer, *backward]))
    boxes = draw(tree, choose_initial_scopes(tree)).boxes
    assert {box.content.label: box.open for box in boxes if tree.nodes[box.index] < 0} == {
        "Default": True,
        "net": True,
        "4 × Block": True,
        "0-Block": True,
        "act": True,
        "+ 3 × Block": False,
        "optimizer-Adam": False,
        "Gradients": False,
    }


def test_nothing_but_a_backward_pass_is_opened(graph: Any) -> None:
    tree = folded_tree(graph([(f"Gradients/Default/{part}/Grad-op0", []) for part in "abc"]))
    assert len(closed(tree)) == 3


def test_the_scope_that_holds_the_most_is_opened_first(graph: Any, blocks: Any) -> None:
    small: list[Any] = [(f"Default/small/{number}/x/Add-op{number}", []) for number in range(3)]
    tree = folded_tree(graph([*small, *blocks(40)]))
    opened = {tree.paths[index] for index in choose_initial_scopes(tree)}
    assert "Default/net" in opened and "Default/net/*-Block[40]" in opened


def test_a_chain_too_deep_to_be_read_ends_somewhere(graph: Any) -> None:
    tree = folded_tree(graph([("/".join(["deep"] * 150) + "/Add-op0", [])]))
    assert len(draw(tree, choose_initial_scopes(tree)).boxes) == LEGIBLE


@given(st.data())
def test_any_graph_shows_something_and_never_too_much(written: Any, data: Any) -> None:
    tree = folded_tree(data.draw(written))
    opened = choose_initial_scopes(tree)
    shown = [box.index for box in closed(tree)]
    assert opened == choose_initial_scopes(tree) == sorted(set(opened))
    assert all(tree.parents[index] in {0, *opened} for index in opened)
    assert len(shown) >= 8 or all(tree.nodes[index] >= 0 or tree.types[index] == REST for index in shown)
    assert len(opened) + len(shown) <= LEGIBLE


def outline(tree: Tree, parts: list[Part]) -> list[Any]:
    return [(display_name(tree, part.index), outline(tree, part.inside)) for part in parts]


def test_a_transformer_is_its_embedding_its_layers_and_its_head(graph: Callable[..., Graph]) -> None:
    network = "Default/network-WithLossCell/_backbone-GPT"
    nodes: list[Any] = [(f"{network}/wte-Embedding/Gather-op0", ["table"])]
    for layer in range(6):
        for part in ("attention/q", "attention/k", "mlp"):
            path = f"{network}/blocks-CellList/{layer}-Block/{part}/MatMul-op{layer}"
            nodes.append((path, [nodes[-1][0], f"w{layer}{part}"]))
    nodes.append((f"{network}/head-Dense/MatMul-op9", [nodes[-1][0], "table"]))
    nodes.append(("Default/network-WithLossCell/_loss_fn/Loss-op0", [nodes[-1][0]]))
    nodes.append(("Gradients/Default/network-WithLossCell/_loss_fn/Grad-op0", [nodes[-1][0]]))
    nodes += [(f"Default/optimizer-Adam/Adam-op{number}", ["table"]) for number in range(99)]
    tree = folded_tree(graph(nodes, ["table"]))
    scope, parts = model_parts(tree, costs_of(tree))
    assert tree.paths[scope] == network
    assert outline(tree, parts) == [
        ("wte-Embedding", []),
        ("6 × Block", [("attention", [("q", []), ("k", [])]), ("mlp", [])]),
        ("head-Dense", []),
    ]


def test_a_graph_without_scopes_has_its_operators_with_parameters(graph: Callable[..., Graph]) -> None:
    tree = folded_tree(graph([("MatMul-op0", ["w"]), ("ReLU-op0", ["MatMul-op0"])], ["w"]))
    scope, parts = model_parts(tree, costs_of(tree))
    assert (scope, outline(tree, parts)) == (0, [("MatMul-op0", [])])
