"""Tree of operators for drawing."""

import math
from typing import Any

import pytest

from mindinsight.server.debug.operator_links import graph_links
from mindinsight.server.debug.operator_tree import call_of, operator_tree, order_of_unlinked, paths_of, share
from mindinsight.server.formats.dumps import list_operators, open_dump
from mindinsight.server.formats.dumps.dump_types import Operator
from tests.narrowing import require


def test_operators_stand_in_their_scopes_and_are_joined(lenet: Any) -> None:
    operators = list_operators(lenet, 0, 0).items
    drawn = operator_tree(operators, graph_links(operators))
    leaves = {require(drawn.operator_at(leaf)).recorded: leaf for leaf in drawn.tree.leaves(0)}
    assert set(leaves) == {operator.recorded for operator in operators if operator.type != "Parameter"}
    edges = drawn.tree.edges
    joined = set(zip(edges.sources.tolist(), edges.targets.tolist(), strict=True))
    assert (leaves["Conv2D-op51"], leaves["ReLU-op52"]) in joined
    scope = drawn.tree.indices["Default/network-WithLossCell/_backbone-Net/relu-ReLU"]
    assert drawn.operator_at(scope) is None
    names = {require(drawn.operator_at(leaf)).recorded for leaf in drawn.tree.leaves(scope)}
    assert names == {"ReLU-op52", "MatMulBiasAddReluFusion-op55"}


def test_a_scope_has_the_largest_value_inside(lenet: Any) -> None:
    operators = list_operators(lenet, 0, 0).items
    drawn = operator_tree(operators, [])
    values = {operator.name: float(operator.order) for operator in operators}
    scope = drawn.tree.indices["Default/network-WithLossCell/_backbone-Net/relu-ReLU"]
    assert drawn.largest(scope, values) == max(
        values[require(drawn.operator_at(leaf)).name] for leaf in drawn.tree.leaves(scope)
    )
    assert drawn.largest(scope, {}) is None


def test_modules_of_msprobe_are_drawn_once_around_their_functions(data: Any) -> None:
    dump = open_dump(data / "msprobe_pytorch" / "mix_statistics_md5")
    operators = list_operators(dump, dump.ranks[0], 0).items
    drawn = operator_tree(operators, [], order_of_unlinked(operators, []))
    recorded = [require(drawn.operator_at(leaf)).recorded for leaf in drawn.tree.leaves(0)]
    around = {"Module.fc1.Linear.forward.0", "Module.act.ReLU.forward.0", "Module.fc2.Linear.forward.0"}
    left_out = {operator.recorded for operator in operators} - set(recorded)
    assert around < left_out
    assert all(name.startswith("Module.") for name in left_out)
    assert len(recorded) == len(set(recorded))
    fc1 = drawn.tree.indices["fc1 · Linear"]
    assert [require(drawn.operator_at(leaf)).recorded for leaf in drawn.tree.leaves(fc1)] == [
        "Functional.linear.0.forward"
    ]
    assert len(drawn.tree.edges.controls) == len(recorded) - 1
    assert drawn.tree.edges.controls.all()


@pytest.mark.parametrize(
    ("value", "expected"), [(1, 0), (10, 0.5), (100, 1), (0, 0), (-5, 0), (math.inf, 1), (math.nan, 1)]
)
def test_shares_are_logarithmic(value: Any, expected: float) -> None:
    assert share(value, [0, 1, 10, 100, math.inf]) == pytest.approx(expected)


def test_a_single_value_is_the_whole() -> None:
    assert share(5, [5]) == 1
    assert share(0, [0]) == 0


def operator(name: str, *scope: str) -> Operator:
    return Operator(name, name, "", scope, "", 0, 0)


def test_calls_stand_in_their_phase_and_module() -> None:
    block = "Module.layers.0.Block.forward.0"
    paths = paths_of(
        [
            operator(block),
            operator("Functional.linear.3.forward", block),
            operator("Functional.relu.0.forward", "Functional"),
            operator("Module.fc.Linear.forward.1"),
            operator("Module.fc.Linear.backward.0"),
            operator("Module.fc.Linear.parameters_grad", "fc"),
            operator("Tensor.add_.0.forward", "optimizer"),
        ]
    )
    assert paths == [
        None,
        "layers.0 · Block/Functional.linear.3",
        "Functional.relu.0",
        "fc · Linear #1",
        "Backward/fc · Linear",
        "Backward/fc · Linear parameters_grad",
        "optimizer/Tensor.add_.0",
    ]


def test_scoped_names_stay() -> None:
    assert call_of("Default/fc-Dense/MatMul-op1") is None
    assert paths_of([operator("Default/fc-Dense/MatMul-op1", "Default", "fc-Dense")]) == [
        "Default/fc-Dense/MatMul-op1"
    ]
