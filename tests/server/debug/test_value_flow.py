"""Views and constant zeros, by the graph of a step."""

from pathlib import Path

import numpy as np

from mindinsight.server.debug.value_flow import ValueFlow
from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump


def test_zeros_of_constants_and_views_are_known(tmp_path: Path) -> None:
    graph = GraphBuilder("Net")
    weight = graph.parameter("w", (2, 2))
    zeros, turned = graph.node("zeros", shape=(2, 2)), graph.node("t", [weight], shape=(2, 2))
    product = graph.node("mm", [zeros, turned], shape=(2, 2))
    total = graph.node("add", [product, weight], shape=(2, 2))
    graph.output(graph.node("relu", [total], shape=(2, 2)))
    graph.output(graph.node("relu", [product], shape=(2, 2)))
    step = Dump(tmp_path / "dump", graph=graph).iteration(0)
    for name in ("zeros-op0", "t-op0", "mm-op0", "add-op0", "relu-op0", "relu-op1"):
        step.output(f"Default/{name}", np.zeros((2, 2), np.float32))
    dump = open_dump(tmp_path / "dump")
    flow = ValueFlow(list_operators(dump, 0, 0).items)
    entries = {entry.operator.rpartition("/")[2]: entry for entry in list_tensors(dump, 0, 0).items}
    explained = {name for name, entry in entries.items() if flow.follows_from_zeros(entry)}
    assert explained == {"zeros-op0", "mm-op0", "relu-op1"}
    assert {name: flow.viewed(entry) for name, entry in entries.items() if flow.viewed(entry)} == {
        "t-op0": "w"
    }


def test_nothing_is_known_without_a_graph(tmp_path: Path) -> None:
    step = Dump(tmp_path / "dump").iteration(0)
    step.output("Default/mm-op0", np.zeros(2, np.float32))
    dump = open_dump(tmp_path / "dump")
    flow = ValueFlow(list_operators(dump, 0, 0).items)
    (entry,) = list_tensors(dump, 0, 0).items
    assert not flow.follows_from_zeros(entry)
    assert flow.viewed(entry) == ""
