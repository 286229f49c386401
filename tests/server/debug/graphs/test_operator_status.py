"""What a step of a dump tells of its operators, and where that is in the tree of a graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.examine import measure_all
from mindinsight.server.debug.finiteness import operator_key
from mindinsight.server.debug.graphs.operator_status import (
    Symptom,
    count_symptoms,
    largest_below,
    leaf_column,
    magnitudes,
    parameter_column,
    symptoms,
)
from mindinsight.server.formats.dumps import list_tensors, open_dump
from mindinsight.server.graph.scopes.folding import folded_tree
from tests.server.debug.conftest import spoil

GRAPH = "Net/0"


@pytest.fixture
def step(copied: Any) -> Callable[..., Any]:
    """step({pattern: value, ...}) -> answers of step 1 with these numbers put into files."""

    def broken(values: Any) -> list[Any]:
        path = copied("ms_sync_v2_0_names")
        folder = path / "rank_0" / "Net" / "0" / "1"
        for pattern, value in values.items():
            if value == 0:
                for file in folder.glob(pattern):
                    np.save(file, np.zeros_like(np.load(file)))
            else:
                spoil(folder, pattern, value)
        return list(measure_all(list_tensors(open_dump(path), 0, 1).items))

    return broken


def test_a_healthy_step_is_fine(step: Callable[..., Any]) -> None:
    states = symptoms(step({}))
    assert set(states.values()) == {Symptom.FINE}
    assert (GRAPH, "Conv2D-op51") in states and (GRAPH, "fc1.weight") in states


def test_the_maker_is_the_fault_and_who_met_it_received(step: Callable[..., Any]) -> None:
    results = step(
        {"MatMul.MatMul-op66.*.output.0.*": np.nan, "ApplyMomentum.ApplyMomentum-op73.*.input.3.*": np.inf}
    )
    states = symptoms(results, fault=(GRAPH, "MatMul-op66"))
    assert states[GRAPH, "MatMul-op66"] == Symptom.FAULT
    assert states[GRAPH, "ApplyMomentum-op73"] == Symptom.RECEIVED
    assert states[GRAPH, "ReLU-op52"] == Symptom.FINE


def test_zeros_count_when_no_output_has_anything_else(step: Callable[..., Any]) -> None:
    states = symptoms(step({"ReluGrad.ReluGrad-op71.*.output.0.*": 0, "Conv2D.*.input.0.*": 0}))
    assert states[GRAPH, "ReluGrad-op71"] == Symptom.ZERO
    assert states[GRAPH, "Conv2D-op51"] == Symptom.FINE  # its input is zeros, its output is not


def test_the_device_and_watchpoints_are_believed(step: Callable[..., Any]) -> None:
    results = step({"MatMul.MatMul-op66.*.output.0.*": np.nan})
    states = symptoms(
        results,
        overflowed={"Conv2D-op51"},
        caught={(GRAPH, "ReLU-op52"), (GRAPH, "MatMul-op66")},
        fault=(GRAPH, "MatMul-op66"),
    )
    assert states[GRAPH, "Conv2D-op51"] == Symptom.OVERFLOW
    assert states[GRAPH, "ReLU-op52"] == Symptom.CAUGHT
    assert states[GRAPH, "MatMul-op66"] == Symptom.FAULT  # worse than what caught it


def test_magnitudes_are_of_outputs_and_the_largest_of_a_key(step: Callable[..., Any]) -> None:
    results = step({})
    largest = magnitudes(results, "minimum", operator_key)
    conv = next(
        result
        for result in results
        if operator_key(result.entry)[1] == "Conv2D-op51" and result.entry.direction == "output"
    )
    assert largest[GRAPH, "Conv2D-op51"] == abs(conv.measurement.statistics.minimum)
    assert (GRAPH, "fc1.weight") not in largest
    assert magnitudes(results, "count", lambda entry: "all")["all"] == max(
        result.measurement.statistics.count for result in results if result.entry.direction == "output"
    )


def test_a_scope_has_the_worst_inside_and_counts_it(graph: Any) -> None:
    made = graph(
        [("a/One-op1", []), ("a/b/Two-op1", []), ("a/b/Three-op1", []), ("c/Four-op1", [])], parameters=["w"]
    )
    tree = folded_tree(made)
    nodes = {("", name): node for node, name in enumerate(("one", "two", "three", "four"))} | {("", "w"): 4}
    column = leaf_column(tree, nodes, {
        ("", "one"): Symptom.FINE, ("", "two"): Symptom.ZERO, ("", "three"): Symptom.ZERO,
        ("", "w"): Symptom.LOST, ("", "elsewhere"): Symptom.FAULT,
    })  # fmt: skip
    scope = tree.indices["a"]
    assert largest_below(tree, column, scope) == Symptom.ZERO
    assert count_symptoms(tree, column, scope) == {"zero": 2}
    assert largest_below(tree, column, tree.indices["c"]) is None
    assert count_symptoms(tree, column, 0) == {"zero": 2}  # parameters have no box


def test_what_is_wrong_with_a_weight_is_seen_at_the_operators_that_take_it(graph: Any) -> None:
    made = graph(
        [
            ("a/One-op1", ["w", "fine"]), ("a/Two-op1", ["fine"]), ("b/Load-op1", ["w"]),
            ("b/Three-op1", ["b/Load-op1"]), ("b/Five-op1", ["b/Three-op1"]), ("c/Four-op1", ["v"]),
        ],
        parameters=["w", "v", "fine"],
    )  # fmt: skip
    tree = folded_tree(made)
    nodes = {("", name): made.names.index(name) for name in ("w", "v", "fine", "a/Two-op1")}
    column = parameter_column(tree, nodes, {
        ("", "w"): Symptom.CAUGHT, ("", "v"): Symptom.FAULT, ("", "fine"): Symptom.FINE,
        ("", "a/Two-op1"): Symptom.ZERO, ("", "elsewhere"): Symptom.LOST,
    })  # fmt: skip
    assert count_symptoms(tree, column, 0) == {"lost": 1, "caught": 3}
    assert largest_below(tree, column, tree.indices["b/Three-op1"]) == Symptom.CAUGHT
    assert largest_below(tree, column, tree.indices["b/Five-op1"]) is None
    assert largest_below(tree, column, tree.indices["a/One-op1"]) == Symptom.CAUGHT
    assert largest_below(tree, column, tree.indices["c"]) == Symptom.LOST
    assert largest_below(tree, column, tree.indices["a/Two-op1"]) is None


def test_two_operators_at_one_node_give_it_the_larger(graph: Any) -> None:
    tree = folded_tree(graph([("a/One-op1", [])]))
    column = leaf_column(tree, {("x", "o"): 0, ("y", "o"): 0}, {("x", "o"): 3.0, ("y", "o"): 2.0})
    assert largest_below(tree, column, tree.indices["a/One-op1"]) == 3.0
