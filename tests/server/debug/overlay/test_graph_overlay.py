"""Symptoms of the operators in a step of a dump, and their positions in the tree of a graph."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.debug.examine import measure_all, operator_key
from mindinsight.server.debug.inspection import Listing
from mindinsight.server.debug.overlay.graph_join import key_of
from mindinsight.server.debug.overlay.graph_overlay import (
    SYMPTOMS,
    Overlay,
    Symptom,
    count_symptoms,
    largest_below,
    leaf_column,
    magnitudes,
    parameter_column,
    step_masks,
    symptoms,
)
from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.server.formats.graphs.graph_proto import read_graph
from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.writer.recorders.dump import Dump
from tests.server.debug.conftest import spoil

GRAPH = "Net/0"


@pytest.fixture
def step(copied: Any) -> Callable[..., Any]:
    """Return a function: step({pattern: value, ...}) -> answers of step 1 with these numbers in the files."""

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
    assert count_symptoms(tree, column, 0) == {"received": 1, "caught": 3}
    assert largest_below(tree, column, tree.indices["b/Three-op1"]) == Symptom.CAUGHT
    assert largest_below(tree, column, tree.indices["b/Five-op1"]) is None
    assert largest_below(tree, column, tree.indices["a/One-op1"]) == Symptom.CAUGHT
    assert largest_below(tree, column, tree.indices["c"]) == Symptom.RECEIVED
    assert largest_below(tree, column, tree.indices["a/Two-op1"]) is None


def test_two_operators_at_one_node_give_it_the_larger(graph: Any) -> None:
    tree = folded_tree(graph([("a/One-op1", [])]))
    column = leaf_column(tree, {("x", "o"): 0, ("y", "o"): 0}, {("x", "o"): 3.0, ("y", "o"): 2.0})
    assert largest_below(tree, column, tree.indices["a/One-op1"]) == 3.0


MATMUL = "MatMul-op66"


@pytest.fixture
def overlay(copied: Any) -> Iterator[Any]:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", f"MatMul.{MATMUL}.*.output.0.*", np.nan, position=0)
    graph = read_graph((path / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb").read_bytes())
    with ThreadPoolExecutor(1) as executor:
        listing = Listing(open_dump(path), 0, 1, executor, None, Threads(2, "job"))
        assert listing.wait(60)
        yield Overlay(folded_tree(graph), listing)


def leaf_of(overlay: Any, recorded: Any) -> int:
    return int(overlay.tree.leaf_indices[overlay.joined.nodes["Net/0", recorded]])


def test_the_first_fault_is_marked_at_its_node(overlay: Any) -> None:
    column = overlay.column(SYMPTOMS)
    assert len(column) == len(overlay.tree.paths)
    assert np.flatnonzero(column == Symptom.FAULT).tolist() == [leaf_of(overlay, MATMUL)]
    assert column[leaf_of(overlay, "ReLU-op52")] == Symptom.FINE


def test_a_statistic_is_a_column_too(overlay: Any) -> None:
    column = overlay.column("nans")
    assert column[leaf_of(overlay, MATMUL)] == 1
    assert np.nansum(column) == 1


def test_a_complete_column_is_computed_once(overlay: Any) -> None:
    assert overlay.column("norm") is overlay.column("norm")


def test_operators_are_known_by_node(overlay: Any) -> None:
    node = overlay.joined.nodes["Net/0", MATMUL]
    assert [operator.recorded for operator in overlay.operators_of[node]] == [MATMUL]


def test_a_weight_that_the_update_broke_marks_no_operator_that_took_it_before(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path / "rank_0" / "Net" / "0" / "1", "Parameter.conv1.weight.*", np.nan, position=0)
    graph = read_graph((path / "rank_0" / "graphs" / "ms_output_trace_code_graph_0.pb").read_bytes())
    with ThreadPoolExecutor(1) as executor:
        listing = Listing(open_dump(path), 0, 1, executor, None, Threads(2, "job"))
        assert listing.wait(60)
        overlay = Overlay(folded_tree(graph), listing)
        assert ("Net/0", "conv1.weight") in overlay.updated
        assert ("Net/0", "data-1") not in overlay.updated
        assert overlay.column(SYMPTOMS)[leaf_of(overlay, "Conv2D-op51")] == Symptom.FINE


def attention_dump(root: Path, last: float) -> Path:
    """Write scores with a causal mask that was filled in, and a softmax of which all values are ``last``."""
    step = Dump(root).iteration(0)
    scores, mask = np.ones((2, 2), np.float32), np.array([[0, -np.inf], [0, 0]], np.float32)
    step.input("Default/masked_fill-op0", scores)
    step.output("Default/masked_fill-op0", scores + mask)
    step.input("Default/_softmax-op0", scores + mask)
    step.output("Default/_softmax-op0", np.full((2, 2), last, np.float32))
    return root


@pytest.mark.parametrize(("last", "symptom"), [(0.5, Symptom.MASK), (np.nan, Symptom.LOST)])
def test_a_mask_is_no_fault(tmp_path: Path, last: float, symptom: Symptom) -> None:
    entries = list_tensors(open_dump(attention_dump(tmp_path, last)), 0, 0).items
    operators = list_operators(open_dump(tmp_path), 0, 0).items
    listed: Any = SimpleNamespace(entries=entries, operators={key_of(known): known for known in operators})
    results = list(measure_all(entries))
    masks = step_masks(listed, results, done=True)
    by_type = {key[1].rpartition("_")[2]: value for key, value in symptoms(results, masks=masks).items()}
    assert by_type["fill-op0"] == Symptom.MASK
    assert by_type["softmax-op0"] == symptom


def test_nothing_that_may_be_a_mask_is_a_fault_while_tensors_are_measured(tmp_path: Path) -> None:
    entries = list_tensors(open_dump(attention_dump(tmp_path, np.nan)), 0, 0).items
    results = list(measure_all(entries))[:2]
    listed: Any = SimpleNamespace(entries=entries, operators={})
    masks = step_masks(listed, results, done=False)
    assert set(symptoms(results, masks=masks).values()) == {Symptom.MASK}


def test_a_scope_has_no_value_of_a_view_inside(tmp_path: Path, graph: Any) -> None:
    """A view has the values of what goes into a module, which are larger than what the module computes."""
    made = graph([("mlp-MLP/view-op0", []), ("mlp-MLP/mul-op1", ["mlp-MLP/view-op0"])])
    step = Dump(tmp_path).iteration(0)
    step.output("mlp-MLP/view-op0", np.full(3, 9, np.float32))
    step.output("mlp-MLP/mul-op1", np.full(3, 2, np.float32))
    with ThreadPoolExecutor(1) as executor:
        listing = Listing(open_dump(tmp_path), 0, 0, executor, None, Threads(2, "job"))
        assert listing.wait(60)
        overlay = Overlay(folded_tree(made), listing)
        column = overlay.column("maximum")
        scope = overlay.tree.indices["mlp-MLP"]
        assert largest_below(overlay.tree, column, overlay.tree.indices["mlp-MLP/view-op0"]) == 9
        assert largest_below(overlay.tree, overlay.computed(column), scope) == 2
