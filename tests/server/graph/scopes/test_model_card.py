from collections.abc import Callable
from typing import Any

from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.scopes.costs import costs_of
from mindinsight.server.graph.scopes.folding import display_name, folded_tree
from mindinsight.server.graph.scopes.model_card import Part, model_parts
from mindinsight.server.graph.scopes.tree import Tree


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
