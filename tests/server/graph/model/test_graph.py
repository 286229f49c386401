"""The columnar model: messages of nodes, chosen edges, and subgraphs with their own numbers."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import NamedValueProto, NodeProto, ParameterProto
from mindinsight.server.graph.model.graph import CONSTANT, OPERATOR, PARAMETER, Graph, scope_of

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
