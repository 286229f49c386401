"""Simplification beyond MindInsight's, which test_v1.py compares."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.model.graph import Graph
from mindinsight.server.graph.model.simplification import PASSING, pass_values, simplify


def chain_of_orders(count: Any) -> list[Any]:
    """Return a graph in which each side effect waits for the one before: UpdateState after UpdateState."""
    nodes: list[Any] = [("Default/In-op0", [])]
    for number in range(count):
        before = f"Default/UpdateState-op{number - 1}" if number else "Default/In-op0"
        nodes.append((f"Default/Assign-op{number}", ["Default/In-op0", before]))
        nodes.append((f"Default/UpdateState-op{number}", [before, f"Default/Assign-op{number}"]))
    return [*nodes, ("Default/Return-op0", [nodes[-1][0]])]


def edges_of(graph: Any) -> set[Any]:
    pairs = zip(graph.edges.sources.tolist(), graph.edges.targets.tolist(), strict=True)
    return {
        (graph.names[source].split("/")[-1], graph.names[target].split("/")[-1]) for source, target in pairs
    }


def test_orders_are_bypassed_or_left_out(graph: Any) -> None:
    made = graph(chain_of_orders(3))
    assert ("Assign-op0", "Assign-op2") in edges_of(simplify(made))
    assert edges_of(simplify(made, ordering=False)) == {("In-op0", f"Assign-op{n}") for n in range(3)}


@pytest.mark.slow
def test_long_chains_of_orders_do_not_grow_with_their_square(graph: Any) -> None:
    made = graph(chain_of_orders(3000))
    assert len(simplify(made).edges) < 3_100_000
    assert len(simplify(made, ordering=False).edges) == 3001  # the first takes its input twice


def test_cycles_in_a_file_end(graph: Any) -> None:
    made = graph([("Default/Load-op0", ["1"]), ("Default/Load-op1", ["0"]), ("Default/Add-op0", ["1", "2"])])
    assert edges_of(simplify(made)) <= {("Add-op0", "Add-op0")}


def test_a_node_that_is_its_own_input_ends(graph: Any) -> None:
    made = graph(
        [
            ("Default/In-op0", []),
            ("Default/Load-op0", ["2", "1", "0"]),
            ("Default/Load-op1", ["0"]),
            ("Default/Add-op0", ["2", "1"]),
        ]
    )
    assert edges_of(simplify(made)) == {("In-op0", "Add-op0")}


BYPASSED = {"Load", "UpdateState"}


def reaching(graph: Any, through: Any) -> set[Any]:
    """Return (source, target) pairs joined by edges, also through the nodes named in ``through``."""
    inputs: dict[Any, Any] = {}
    for source, target in zip(graph.edges.sources.tolist(), graph.edges.targets.tolist(), strict=True):
        inputs.setdefault(target, []).append(source)

    def sources(node: Any) -> Iterator[Any]:
        for source in inputs.get(node, []):
            if through(source):
                yield from sources(source)
            else:
                yield source

    ends = [node for node in range(len(graph)) if not graph.kinds[node] and not through(node)]
    return {(graph.names[source], graph.names[node]) for node in ends for source in sources(node)}


@given(st.data())
def test_values_reach_what_they_reached(written: Any, data: Any) -> None:
    made = data.draw(written)
    simple = simplify(made)
    assert not BYPASSED & set(simple.types)
    expected = reaching(made, lambda node: made.types[node] in BYPASSED)
    last = {name.rpartition("/")[2] for name in simple.names}
    assert {(a.rpartition("/")[2], b.rpartition("/")[2]) for a, b in expected} == {
        (a.rpartition("/")[2], b.rpartition("/")[2]) for a, b in reaching(simple, lambda node: False)
    }
    assert {name.rpartition("/")[2] for pair in expected for name in pair} == last


@pytest.mark.parametrize(
    ("paths", "after"),
    [
        (["n/relu-ReLU/ReLU-op0", "n/relu-ReLU/ReLU-op1"], ["n/ReLU-op0", "n/ReLU-op1"]),
        (["n/relu-ReLU/ReLU-op0", "n/relu-ReLU/Add-op1"], ["n/relu-ReLU/ReLU-op0", "n/relu-ReLU/Add-op1"]),
        (["n/relu/ReLU-op0", "n/relu/ReLU-op1"], ["n/relu/ReLU-op0", "n/relu/ReLU-op1"]),
        (["ReLU/ReLU-op0", "ReLU/ReLU-op1"], ["ReLU-op0", "ReLU-op1"]),
        (["a-ReLU/ReLU-op0", "a-ReLU/ReLU-op1", "a-ReLU/b/Add-op0"],) * 2,
    ],
)
def test_scopes_that_say_nothing_are_dissolved(graph: Any, paths: Any, after: Any) -> None:
    nodes = [(path, [paths[number - 1]] if number else []) for number, path in enumerate(paths)]
    assert set(simplify(graph(nodes)).names) == set(after)


def test_the_backward_pass_and_the_optimizer_are_left_out(graph: Any) -> None:
    forward = [("Default/net/MatMul-op0", ["w"]), ("Default/net/Add-op0", ["Default/net/MatMul-op0"])]
    backward = [
        ("Gradients/Default/net/Grad-op0", ["Default/net/Add-op0"]),
        ("Default/optimizer-Adam/Adam-op0", ["Gradients/Default/net/Grad-op0", "w"]),
        ("Default/alone/Iso-op0", ["Default/optimizer-Adam/Adam-op0"]),
    ]
    assert set(simplify(graph([*forward, *backward], ["w"])).names) == {*(path for path, _ in forward), "w"}


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
