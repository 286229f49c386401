"""Operators of a dump and the nodes of a graph, by the names both have."""

from dataclasses import replace
from typing import Any

import pytest

from mindinsight.server.debug.graphs.join import join
from mindinsight.server.formats.dumps import list_operators
from mindinsight.server.formats.dumps.types import Operator
from mindinsight.server.formats.graphs.graph_proto import read_graph
from tests.server.graph.conftest import write

NET = "Default/network-Net"


def dumped(recorded: Any, name: Any = None, kind: str = "MatMul", sequence: int = 0) -> Operator:
    return Operator(name or recorded, recorded, kind, (), "Net/0", sequence, -1)


def names(joined: Any, graph: Any) -> dict[Any, Any]:
    return {recorded: graph.names[node] for (_, recorded), node in joined.nodes.items()}


def test_every_operator_of_a_real_dump_is_in_the_graph_of_its_training(data: Any, lenet: Any) -> None:
    files = data / "ms_sync_v2_0_names" / "rank_0" / "graphs"
    graph = read_graph((files / "ms_output_trace_code_graph_0.pb").read_bytes())
    operators = list_operators(lenet, 0, 1).items
    joined = join(operators, graph)
    assert (joined.dumped, joined.matched, joined.by_order) == (22, 22, 0)
    joined_names = names(joined, graph)
    assert (
        joined_names["Conv2D-op51"] == "Default/network-WithLossCell/_backbone-Net/conv1-Conv2d/Conv2D-op51"
    )
    assert joined_names["fc1.weight"] == "fc1.weight"
    assert "data-1" not in joined_names


@pytest.mark.parametrize(
    ("recorded", "name"),
    [
        ("MatMul-op7", f"{NET}/fc1-Dense/MatMul-op7"),
        ("Default_network-Net_fc1-Dense_MatMul-op7", None),
        ("MatMul-op7", None),
    ],
    ids=["full name", "escaped name", "last part of it"],
)
def test_all_forms_of_a_name_lead_to_the_node(graph: Any, recorded: str, name: Any) -> None:
    made = graph([(f"{NET}/fc1-Dense/MatMul-op7", []), (f"{NET}/fc2-Dense/MatMul-op8", [])])
    joined = join([dumped(recorded, name)], made)
    assert names(joined, made) == {recorded: f"{NET}/fc1-Dense/MatMul-op7"}
    assert (joined.matched, joined.by_order) == (1, 0)


def test_operators_made_anew_are_paired_by_order_and_said_to_be(graph: Any) -> None:
    made = graph([(f"{NET}/{name}", []) for name in ("TopK-op1", "Cast-op2", "Cast-op4", "Cast-op9")])
    files = ["TopK-op0", "Cast-op4", "Cast-op5", "Cast-op6", "ReLU-op1"]
    operators = [dumped(f"Default_network-Net_{file}") for file in files]
    joined = join(operators, made)
    assert names(joined, made) == {
        "Default_network-Net_TopK-op0": f"{NET}/TopK-op1",
        "Default_network-Net_Cast-op4": f"{NET}/Cast-op4",
        "Default_network-Net_Cast-op5": f"{NET}/Cast-op2",
        "Default_network-Net_Cast-op6": f"{NET}/Cast-op9",
    }
    assert (joined.dumped, joined.matched, joined.by_order) == (5, 4, 3)


def test_a_node_that_is_surely_another_operators_is_not_paired(graph: Any) -> None:
    made = graph([(f"{NET}/Add-op1", [])])
    sure = dumped("Default_network-Net_Add-op1", f"{NET}/Add-op1")
    joined = join([sure, dumped("Default_network-Net_Add-op2")], made)
    assert names(joined, made) == {sure.recorded: f"{NET}/Add-op1"}
    assert (joined.dumped, joined.matched) == (2, 1)


def test_operators_of_two_graphs_of_a_dump_may_be_one_node(graph: Any) -> None:
    made = graph([(f"{NET}/Add-op1", [])])
    operator = dumped("Add-op1")
    joined = join([operator, replace(operator, graph="Net/1")], made)
    assert set(joined.nodes) == {("Net/0", "Add-op1"), ("Net/1", "Add-op1")}
    assert joined.matched == 2


def test_only_operators_that_left_tensors_are_counted(graph: Any) -> None:
    made = read_graph(write([(f"{NET}/Add-op1", []), (f"{NET}/Mul-op2", [])], parameters=["w"]))
    never_run = dumped("x", f"{NET}/Add-op1", sequence=-1)
    joined = join([never_run, dumped("y", f"{NET}/Mul-op2"), dumped("w", kind="Parameter")], made)
    assert (joined.dumped, joined.matched) == (1, 1)
    assert len(joined.nodes) == 3


def test_another_network_has_nothing_in_common(graph: Any, lenet: Any) -> None:
    joined = join(list_operators(lenet, 0, 0).items, graph([("Default/other/Sin-op1", [])]))
    assert (joined.dumped, joined.matched, joined.nodes) == (22, 0, {})
