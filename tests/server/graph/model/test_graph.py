"""Columnar model: messages of nodes, selected edges, and subgraphs with new numbers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model.graph import (
    CONSTANT,
    OPERATOR,
    PARAMETER,
    Graph,
    has_training,
    operator_path,
    scope_of,
    scopes_of,
    training_operators,
    unique_paths,
)

MakeGraph = Callable[..., Graph]


@pytest.fixture
def small(graph: MakeGraph) -> Graph:
    return graph(
        [("a/Mul-op1", ["w", "c"]), ("a/Add-op2", ["a/Mul-op1", "w"]), ("Sub-op3", ["a/Add-op2"])],
        ["w"],
        {"c": 7},
    )


def edges_of(graph: Graph) -> list[tuple[str, str]]:
    pairs = zip(graph.edges.sources.tolist(), graph.edges.targets.tolist(), strict=True)
    return [(graph.names[source], graph.names[target]) for source, target in pairs]


def test_operators_come_first_then_parameters_then_constants(small: Graph) -> None:
    assert small.names == ("a/Mul-op1", "a/Add-op2", "Sub-op3", "w", "c")
    assert small.kinds.tolist() == [OPERATOR] * 3 + [PARAMETER, CONSTANT]
    assert len(small) == 5


def test_a_message_is_that_of_the_node(small: Graph) -> None:
    assert NodeProto.FromString(small.message(1)).full_name == "a/Add-op2"
    assert ParameterProto.FromString(small.message(3)).name == "w"
    assert NamedValueProto.FromString(small.message(4)).value.int_val == 7


def test_edges_are_chosen_by_flags_or_in_the_order_of_numbers(small: Graph) -> None:
    edges = small.edges
    assert len(edges) == 5
    chosen = edges.select(np.array([4, 0]))
    assert chosen.targets.tolist() == [edges.targets[4], edges.targets[0]]
    assert len(edges.select(edges.targets == 1)) == 2


def test_a_subgraph_keeps_what_lies_between_its_nodes(small: Graph) -> None:
    part = small.subgraph(("sum", "weight", "product"), np.array([1, 3, 0]), small.edges)
    assert part.names == ("sum", "weight", "product")
    assert part.types == ("Add", "Parameter", "Mul")
    assert part.kinds.tolist() == [OPERATOR, PARAMETER, OPERATOR]
    assert sorted(edges_of(part)) == [("product", "sum"), ("weight", "product"), ("weight", "sum")]
    assert part.edges.targets.tolist() == sorted(part.edges.targets.tolist())
    assert part.message(0) == small.message(1)


def test_the_outputs_of_a_subgraph_are_those_that_are_in_it(small: Graph) -> None:
    whole = replace(small, outputs=np.array([2, 1], np.int32))
    assert whole.subgraph(("x",), np.array([1]), whole.edges).outputs.tolist() == [0]


@pytest.mark.parametrize(("path", "scope"), [("a/b/c", "a/b"), ("a", ""), ("", "")])
def test_scope_of_a_path(path: str, scope: str) -> None:
    assert scope_of(path) == scope


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (("Default/a/Add-op3", "Default/a", "Add", "7"), "Default/a/Add-op3"),
        (("", "Default/a", "Add", "7"), "Default/a/Add-op7"),
        (("Default/Image[:Image]", "Default", "ImageSummary", "2"), "Default/ImageSummary-op2"),
        (("/lead//Add-op1/", "x", "Add", "1"), "lead/Add-op1"),
        (("", "", "", "4"), "call-op4"),
    ],
)
def test_the_path_of_an_operator(given: Any, path: str) -> None:
    assert operator_path(*given) == path


def test_scopes_open_before_what_is_in_them() -> None:
    assert list(scopes_of(["a/b/x", "a/y", "c/z", "top"])) == ["a", "a/b", "c"]


def test_a_name_that_is_taken_is_changed_and_all_others_stay() -> None:
    assert unique_paths(["a/x", "a/y"]) == ["a/x", "a/y"]
    assert unique_paths(["a/x", "a/x", "a/x", "a/x#2"]) == ["a/x", "a/x#2", "a/x#3", "a/x#2#2"]
    assert unique_paths(["a/x", "a/x/y"]) == ["a/(x)", "a/x/y"]


FORWARD = ("Default/net/Add-op0", ["x"])
BACKWARD = ("Gradients/Default/net/Grad-op0", ["x"])


def test_a_training_has_both_passes(graph: Callable[..., Graph]) -> None:
    assert has_training(graph([FORWARD, BACKWARD], ["x"]))
    assert not has_training(graph([FORWARD], ["x"]))
    assert not has_training(graph([BACKWARD], ["x"]))


def test_operators_of_the_optimizer_belong_to_the_training(graph: Callable[..., Graph]) -> None:
    made = graph([FORWARD, BACKWARD, ("Default/optimizer-Adam/Adam-op0", ["x"])], ["x"])
    assert training_operators(made).tolist() == [False, True, True, False]
