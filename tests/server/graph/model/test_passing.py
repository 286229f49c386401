"""What operators take in the simplified graph, against what they take in the recorded one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.model.passing import PASSING, pass_values
from mindinsight.server.graph.model.simplify import simplify


def inputs(graph: Graph, name: str) -> list[str]:
    edges = pass_values(graph, np.ones(len(graph), dtype=np.bool_))
    node = graph.names.index(name)
    return [graph.names[source] for source in edges.sources[edges.targets == node].tolist()]


def test_inputs_keep_their_order_whether_passed_on_or_not(graph: Callable[..., Graph]) -> None:
    nodes = [("a/Load-op0", ["w", "u"]), ("a/Neg-op0", ["x"]), ("a/MatMul-op0", ["a/Load-op0", "a/Neg-op0"])]
    assert inputs(graph(nodes, ["w", "x"], {"u": 1}), "a/MatMul-op0") == ["w", "a/Neg-op0"]


def test_an_item_of_a_tuple_is_that_item_and_no_other(graph: Callable[..., Graph]) -> None:
    nodes = [
        ("a/Neg-op0", ["x"]),
        ("a/Abs-op0", ["x"]),
        ("a/MakeTuple-op0", ["a/Neg-op0", "a/Abs-op0", "y"]),
        ("a/TupleGetItem-op0", ["a/MakeTuple-op0", "second"]),
        ("a/Add-op0", ["a/TupleGetItem-op0", "x"]),
        ("a/Pack-op0", ["y", "a/MakeTuple-op0"]),
    ]
    made = graph(nodes, ["x", "y"], {"second": 1})
    assert inputs(made, "a/Add-op0") == ["a/Abs-op0", "x"]
    assert inputs(made, "a/Pack-op0") == ["y", "a/Neg-op0", "a/Abs-op0", "y"]


def test_an_item_of_what_an_operator_gives_is_the_operator_without_the_number(
    graph: Callable[..., Graph],
) -> None:
    nodes = [
        ("a/Split-op0", ["x"]),
        ("a/TupleGetItem-op0", ["a/Split-op0", "first"]),
        ("a/Mul-op0", ["a/TupleGetItem-op0", "a/TupleGetItem-op0"]),
    ]
    assert inputs(graph(nodes, ["x"], {"first": 0}), "a/Mul-op0") == ["a/Split-op0", "a/Split-op0"]


def test_chains_and_cycles_of_items_end() -> None:
    proto = GraphProto()
    for number in range(5000):
        node = proto.node.add(name=str(number), op_type="TupleGetItem", full_name=f"TupleGetItem-op{number}")
        node.input.add(name=str((number + 1) % 5000))
        node.input.add(name="cst")
    proto.node.add(name="end", op_type="Add", full_name="Add-op0").input.add(name="0")
    proto.const_vals.add(key="cst").value.int_val = 0
    assert inputs(read_graph(proto.SerializeToString()), "Add-op0") == []


@given(st.data())
def test_no_operator_gets_more_inputs(written: Any, data: Any) -> None:
    made = data.draw(written)
    if set(made.types) & (PASSING - {"Load"}):
        return
    simple = simplify(made, ordering=False)
    counts = {name: int((made.edges.targets == node).sum()) for node, name in enumerate(made.names)}
    for node, name in enumerate(simple.names):
        assert int((simple.edges.targets == node).sum()) <= counts.get(name, 0)
