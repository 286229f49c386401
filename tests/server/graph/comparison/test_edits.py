"""Edits that lead from one graph to another, grouped."""

from collections.abc import Callable
from typing import Any

import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.compare import compare
from mindinsight.server.graph.comparison.edits import list_edits
from mindinsight.server.graph.encoders.comparison import edits_json
from mindinsight.server.graph.scopes.folding import folded_tree


def transformer(
    layers: Any, norm: str = "LayerNorm", width: int = 8, parameter: str = "blocks.{}.{}"
) -> tuple[Any, Any, Any]:
    """Nodes and parameters of layers of a norm and a dense layer."""
    nodes: list[tuple[str, list[str]]] = [("net/In-op0", [])]
    parameters: list[str] = []
    for layer in layers:
        names = [parameter.format(layer, part) for part in ("gamma", "weight")]
        before = nodes[-1][0]
        scope = f"net/blocks/{layer}-Block"
        nodes += [
            (f"{scope}/ln/{norm}-op{layer}", [before, names[0]]),
            (f"{scope}/fc/MatMul-op{layer}", [f"{scope}/ln/{norm}-op{layer}", names[1]]),
        ]
        parameters += names
    return [*nodes, ("net/Out-op0", [nodes[-1][0]])], parameters, width


@pytest.fixture
def tree(graph: Any) -> Callable[..., Any]:
    """tree(transformer(...)) -> the folded tree of a graph whose weights have the width."""

    def build(network: Any) -> Any:
        nodes, parameters, width = network
        proto = GraphProto.FromString(graph(nodes, parameters=parameters).payload)
        for declared in proto.parameters:
            declared.type.data_type = 14
            declared.type.tensor_type.elem_type = 11
            declared.type.tensor_type.shape.dim.add(size=width if "weight" in declared.name else 4)
        return folded_tree(read_graph(proto.SerializeToString()))

    return build


def edits(left: Any, right: Any) -> list[Any]:
    return [
        (edit.kind, edit.subject, edit.left, edit.right, edit.count)
        for edit in list_edits(compare(left, right))
    ]


def test_equal_graphs_have_no_edits(tree: Callable[..., Any]) -> None:
    assert edits(tree(transformer(range(3))), tree(transformer(range(3)))) == []


def test_replaced_operators_are_one_edit(tree: Callable[..., Any]) -> None:
    left, right = transformer(range(6)), transformer(range(6), norm="RmsNorm")
    assert edits(tree(left), tree(right)) == [("replaced", "", "LayerNorm", "RmsNorm", 6)]


def test_a_layer_that_is_missing_is_named_and_its_number_is_not_given_to_another(
    tree: Callable[..., Any],
) -> None:
    left, right = transformer(range(6)), transformer([0, 1, 2, 4, 5])
    assert edits(tree(left), tree(right)) == [("scope_removed", "", "blocks/3-Block", "", 1)]
    assert edits(tree(right), tree(left)) == [("scope_added", "", "", "blocks/3-Block", 1)]


def test_wider_layers_are_one_edit_of_their_parameters(tree: Callable[..., Any]) -> None:
    left, right = transformer(range(4)), transformer(range(4), width=16)
    assert edits(tree(left), tree(right)) == [("resized", "blocks.*.weight", "float32 8", "16", 4)]


def test_other_names_of_parameters_are_one_edit(tree: Callable[..., Any]) -> None:
    left, right = transformer(range(4)), transformer(range(4), parameter="model.blocks.{}.{}")
    assert edits(tree(left), tree(right)) == [("renamed", "", "blocks.*.gamma", "model.blocks.*.gamma", 8)]


def test_attributes_and_outputs_and_constants(graph: Any) -> None:
    nodes = [("net/Conv-op0", ["cst"]), ("net/Add-op0", ["net/Conv-op0"])]

    def edited(stride: Any, value: Any, kind: Any) -> Any:
        proto = GraphProto.FromString(graph(nodes, constants={"cst": value}).payload)
        attribute = proto.node[0].attribute.add(name="stride").value
        attribute.dtype, attribute.int_val = 5, stride
        proto.node[0].output_type.tensor_type.elem_type = kind
        return folded_tree(read_graph(proto.SerializeToString()))

    assert edits(edited(1, 3, 11), edited(2, 3, 11)) == [("attribute", "Conv stride", "1", "2", 1)]
    assert edits(edited(1, 3, 11), edited(1, 4, 11)) == [("constant", "Conv[0]", "3", "4", 1)]
    assert edits(edited(1, 3, 11), edited(1, 3, 10)) == [("output", "Conv", "float32 2×3", "float16 2×3", 1)]


def test_operators_more_and_less(graph: Any) -> None:
    left = [("net/In-op0", []), ("net/Drop-op0", ["net/In-op0"]), ("net/Out-op0", ["net/Drop-op0"])]
    right = [("net/In-op0", []), ("net/Out-op0", ["net/In-op0"])]
    trees = folded_tree(graph(left)), folded_tree(graph(right))
    assert edits(*trees) == [("removed", "", "Drop", "", 1)]
    assert edits(*trees[::-1]) == [("added", "", "", "Drop", 1)]


def test_json_has_the_first_place_in_both_graphs_and_a_limit(tree: Callable[..., Any]) -> None:
    left, right = tree(transformer(range(4))), tree(transformer(range(4), norm="RmsNorm", width=9))
    answer = edits_json(compare(left, right), 1)
    assert answer["total"] == 2
    (row,) = answer["shown"]
    assert (row["kind"], row["before"], row["after"], row["count"]) == ("replaced", "LayerNorm", "RmsNorm", 4)
    assert row["left"]["path"] == "net/blocks/0-Block/ln/LayerNorm-op0"
    assert row["right"]["path"] == "net/blocks/0-Block/ln/RmsNorm-op0"
