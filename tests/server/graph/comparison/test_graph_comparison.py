"""Differences of two graphs, by node and summed over scopes."""

from collections.abc import Callable
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.comparison.graph_comparison import (
    CHANGED,
    FOLLOWS,
    LEFT,
    ONLY,
    RIGHT,
    SAME,
    BoxCounts,
    compare,
    list_edits,
    list_topmost_differences,
    paired_types,
)
from mindinsight.server.graph.encoders.comparison_json import (
    box_state,
    edits_json,
    list_differences,
    pair_json,
    summary,
)
from mindinsight.server.graph.scopes.folding import folded_tree, merged
from mindinsight.server.graph.scopes.scope_tree import ROOT
from tests.server.graph.edited_lenet import BACKBONE, constants, lenet, rows, states, widen


def test_a_graph_and_itself_are_the_same() -> None:
    comparison = compare(lenet(), lenet())
    assert summary(comparison) == {"same": 86, "changed": 0, "follows": 0, "left": 0, "right": 0}
    assert list_differences(comparison, 10) == {"total": 0, "shown": []}
    assert box_state(comparison, LEFT, ROOT)["state"] == "same"


def test_another_shape() -> None:
    comparison = compare(lenet(), lenet(widen))
    path = f"{BACKBONE}/fc1-Dense/MatMul-op0"
    assert states(comparison) == states(comparison, RIGHT) == {path: CHANGED}
    assert rows(comparison, path) == [("output", "", "float32 [10, 32]", "float32 [10, 64]")]


def test_attributes_in_another_order_are_the_same() -> None:
    def edit(proto: Any) -> None:
        for node in proto.node:
            attributes = list(node.attribute)
            del node.attribute[:]
            node.attribute.extend(reversed(attributes))

    assert states(compare(lenet(), lenet(edit))) == {}


def test_other_numbers_for_nodes_are_the_same() -> None:
    def edit(proto: Any) -> None:
        for node in proto.node:
            node.name = str(int(node.name) + 1000)
            for source in node.input:
                source.name = str(int(source.name) + 1000) if source.name.isdecimal() else source.name
        for output in proto.outputs:
            output.name = str(int(output.name) + 1000)

    comparison = compare(lenet(), lenet(edit))
    assert states(comparison) == states(comparison, RIGHT) == {}


def test_constants_are_told_by_their_value_and_not_by_their_name() -> None:
    left, right = constants(3, 3)
    assert states(compare(left, right)) == {}


def test_one_operator_more_between_two_others(graph: Any) -> None:
    nodes = [("net/a/MatMul-op0", []), ("net/b/Add-op0", ["net/a/MatMul-op0"])]
    more = [nodes[0], ("net/a/Cast-op0", ["net/a/MatMul-op0"]), ("net/b/Add-op0", ["net/a/Cast-op0"])]
    comparison = compare(folded_tree(graph(nodes)), folded_tree(graph(more)))
    assert states(comparison) == {"net/b/Add-op0": FOLLOWS}
    assert states(comparison, RIGHT) == {"net/b/Add-op0": FOLLOWS, "net/a/Cast-op0": ONLY}
    assert rows(comparison, "net/b/Add-op0") == [
        ("input", "0", "MatMul-op0 float32 [2, 3]", "Cast-op0 float32 [2, 3]")
    ]
    left, right = comparison.trees
    assert comparison.box_counts(LEFT, left.indices["net/a"]) == BoxCounts(1, 0, 0, 0, 1)
    assert comparison.box_counts(RIGHT, right.indices["net/a"]) == BoxCounts(2, 0, 1, 0, 0)
    assert comparison.state(LEFT, left.indices["net/a"]) == CHANGED
    assert comparison.state(LEFT, left.indices["net/a/MatMul-op0"]) == SAME


def test_a_scope_that_is_only_here_is_one_difference(graph: Any, blocks: Any) -> None:
    comparison = compare(folded_tree(graph(blocks(3))), folded_tree(graph(blocks(2))))
    assert summary(comparison) == {"same": 5, "changed": 0, "follows": 1, "left": 2, "right": 0}
    differences = list_differences(comparison, 10)
    assert differences["total"] == 1
    assert [(row["state"], row["operators"], row["left"]["label"]) for row in differences["shown"]] == [
        ("only", 2, "2-Block"),
    ]
    assert differences["shown"][0]["right"] is None


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_nothing_in_common(graph: Any, side: Any) -> None:
    trees = folded_tree(graph([("a/Add-op0", [])])), folded_tree(graph([("b/Mul-op0", [])]))
    comparison = compare(*trees)
    assert comparison.state(side, 1) == ONLY
    assert list(list_topmost_differences(comparison, side)) == [1]
    index = (1, -1) if side == LEFT else (-1, 1)
    assert pair_json(comparison, index)["differences"] == []


@given(st.data())
def test_sums_of_scopes_are_those_of_what_is_in_them(written: Any, data: Any) -> None:
    trees = [folded_tree(data.draw(written)) for _ in range(2)]
    comparison = compare(*trees)
    side: Literal[0, 1]
    for side in (0, 1):
        tree = trees[side]
        for index in range(len(tree.paths)):
            marks = [int(comparison.states[side][leaf]) for leaf in tree.leaves(index)]
            box_counts = comparison.box_counts(side, index)
            assert box_counts.operators == len(marks)
            counted = box_counts.changed, box_counts.only, box_counts.follows
            assert counted == (marks.count(CHANGED), marks.count(ONLY), marks.count(FOLLOWS))
    assert comparison.box_counts(LEFT, ROOT).changed == comparison.box_counts(RIGHT, ROOT).changed
    assert comparison.box_counts(LEFT, ROOT).missing == comparison.box_counts(RIGHT, ROOT).only


@given(st.data())
def test_every_graph_is_the_same_as_itself(written: Any, data: Any) -> None:
    tree = folded_tree(data.draw(written))
    assert list_differences(compare(tree, tree), 10)["total"] == 0


def test_another_shape_is_a_change_where_it_begins_and_followed_by_the_others(graph: Any) -> None:
    nodes = [("net/MatMul-op0", []), ("net/Add-op0", ["net/MatMul-op0"]), ("net/Mul-op0", ["net/Add-op0"])]
    proto = GraphProto.FromString(graph(nodes).payload)
    for node in proto.node:
        node.output_type.tensor_type.shape.dim[0].size = 7
    comparison = compare(folded_tree(graph(nodes)), folded_tree(read_graph(proto.SerializeToString())))
    assert states(comparison) == {
        "net/MatMul-op0": CHANGED,
        "net/Add-op0": FOLLOWS,
        "net/Mul-op0": FOLLOWS,
    }
    left = comparison.trees[LEFT]
    assert comparison.state(LEFT, left.indices["net"]) == CHANGED
    assert comparison.state(LEFT, left.indices["net/Mul-op0"]) == FOLLOWS


def test_a_parameter_of_another_name_is_the_same_input(graph: Any) -> None:
    left = folded_tree(graph([("net/MatMul-op0", ["fc.weight"])], parameters=["fc.weight"]))
    right = folded_tree(graph([("net/MatMul-op0", ["model.fc.weight"])], parameters=["model.fc.weight"]))
    assert states(compare(left, right)) == {}


def test_an_operator_in_the_place_of_another_is_its_changed_partner(graph: Any) -> None:
    def norm(kind: Any, parameters: Any) -> Any:
        nodes = [
            ("net/In-op0", []),
            (f"net/{kind}-op0", ["net/In-op0", *parameters]),
            ("net/Out-op0", [f"net/{kind}-op0"]),
        ]
        return folded_tree(graph(nodes, parameters=parameters))

    comparison = compare(norm("LayerNorm", ["norm.gamma", "norm.beta"]), norm("RmsNorm", ["norm.gamma"]))
    assert states(comparison) == {"net/LayerNorm-op0": CHANGED}
    assert rows(comparison, "net/LayerNorm-op0") == [
        ("type", "", "LayerNorm", "RmsNorm"),
        ("input", "2", "norm.beta []", ""),
    ]


def test_one_parameter_of_another_name_among_many_is_the_same_input_where_it_is_used(graph: Any) -> None:
    def network(name: Any) -> Any:
        parameters = ["a.w", "b.w", "c.w", name]
        nodes: list[tuple[str, list[str]]] = [("net/In-op0", [])]
        for number, parameter in enumerate(parameters):
            nodes.append((f"net/MatMul-op{number}", [nodes[-1][0], parameter]))
        return folded_tree(graph(nodes, parameters=parameters))

    assert states(compare(network("head.w"), network("classifier.w"))) == {}


def transformer(
    layers: Any, norm: str = "LayerNorm", width: int = 8, parameter: str = "blocks.{}.{}"
) -> tuple[Any, Any, Any]:
    """Return nodes and parameters of layers with a norm and a dense layer."""
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
    """Return a function: tree(transformer(...)) -> the folded tree of a graph with weights of this width."""

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


def test_types_are_shortened_by_what_they_share_except_in_tuples() -> None:
    assert paired_types("float32 2×3", "float32 2×4") == ("float32 2×3", "2×4")
    assert paired_types("float32 2×3", "float16 2×3") == ("float32 2×3", "float16 2×3")
    halves = "(float32 [2], float32 [2])", "(float32 [2], float16 [2])"
    assert paired_types(*halves) == halves


def test_merged_texts_keep_the_numbers_that_all_have() -> None:
    assert merged(["h.0.fc1.b", "h.1.fc1.b"]) == "h.*.fc1.b"
    assert merged(["h.0.fc1.b", "h.1.fc2.b"]) == "h.*.fc*.b"
    assert merged(["h.0.fc1.b", "h.1.ln.b"]) == "h.*.fc*.b"
    assert merged(["h.0.fc1.b", "h.0.fc1.b"]) == "h.0.fc1.b"
