"""A graph comparison as JSON: states of boxes, the list of differences, details of a pair."""

from typing import Any

from mindinsight.server.graph.comparison.graph_comparison import CHANGED, LEFT, RIGHT, compare
from mindinsight.server.graph.encoders.comparison_json import box_state, list_differences
from mindinsight.server.graph.scopes.folding import folded_tree
from tests.server.graph.edited_lenet import BACKBONE, constants, lenet, operator, rows, states, widen


def test_another_attribute_and_one_that_is_gone() -> None:
    def edit(proto: Any) -> None:
        attributes = operator(proto, "conv1-Conv2d/Conv2D-op0").attribute
        kernel = next(attribute for attribute in attributes if attribute.name == "kernel_size")
        kernel.value.values[0].int_val = 3
        attributes.remove(next(attribute for attribute in attributes if attribute.name == "group"))

    comparison = compare(lenet(), lenet(edit))
    path = f"{BACKBONE}/conv1-Conv2d/Conv2D-op0"
    assert states(comparison) == {path: CHANGED}
    assert rows(comparison, path) == [
        ("attribute", "group", "1", ""),
        ("attribute", "kernel_size", "(5, 5)", "(3, 5)"),
    ]


def test_another_value_of_a_constant_is_an_input() -> None:
    comparison = compare(*constants(3, 4))
    assert rows(comparison, "net/Add-op0") == [("input", "0", "cst 3", "cst 4")]


def test_a_parameter_of_another_shape_is_an_input_of_its_users() -> None:
    def edit(proto: Any) -> None:
        weight = next(parameter for parameter in proto.parameters if parameter.name == "fc1.weight")
        weight.type.tensor_type.shape.dim[0].size = 64

    comparison = compare(lenet(), lenet(edit))
    users = states(comparison)
    assert users and set(users.values()) == {CHANGED}
    for user in users:
        assert ("input", "fc1.weight float32 [32, 32]", "fc1.weight float32 [64, 32]") in [
            (what, left, right) for what, _, left, right in rows(comparison, user)
        ]


def test_differences_come_in_the_order_in_which_operators_run(graph: Any) -> None:
    def chain(*names: Any) -> list[Any]:
        paths = [f"net/{name}/{kind}" for name, kind in names]
        return list(zip(paths, [[], *([path] for path in paths)], strict=False))

    left = chain(("z", "Add-op0"), ("m", "Mul-op0"), ("a", "Sub-op0"))
    right = chain(("z", "Add-op0"), ("b", "Div-op0"), ("m", "Mul-op0"), ("a", "Sub-op0"), ("c", "Exp-op0"))
    shown = list_differences(compare(folded_tree(graph(left)), folded_tree(graph(right))), 10)["shown"]
    assert [(row["left"] or row["right"])["label"] for row in shown] == ["b", "c"]


def test_of_many_differences_the_first_are_shown_and_all_are_counted() -> None:
    def edit(proto: Any) -> None:
        for node in proto.node:
            node.output_type.tensor_type.elem_type = 10

    differences = list_differences(compare(lenet(), lenet(edit)), 7)
    assert len(differences["shown"]) == 7 and differences["total"] == 9  # the others follow from these


def test_boxes_tell_their_partners_and_what_differs_within() -> None:
    comparison = compare(lenet(), lenet(widen))
    left, right = comparison.trees
    scope = f"{BACKBONE}/fc1-Dense"
    assert box_state(comparison, LEFT, left.indices[scope]) == {
        "partner": right.indices[scope],
        "state": "changed",
        "changed": 1,
        "only": 0,
        "follows": 0,
        "missing": 0,
    }
    assert box_state(comparison, RIGHT, right.indices[f"{BACKBONE}/fc2-Dense"])["state"] == "same"
