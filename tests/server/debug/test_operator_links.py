"""Links between operators, by the graph and by equal tensors."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.operator_links import (
    ValueFlow,
    canonical,
    content_links,
    graph_links,
    inputs_of,
    is_sum,
    outputs_of,
    passes_on,
    places_constants,
    takes_no_number,
)
from mindinsight.server.debug.recorded_statistics import infer_statistics
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.dumps import list_operators, list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import Operator, RecordedStatistics, TensorEntry
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.recorders.dump import Dump

SLOT: Final = ("0", 0, 0, 0, (2,), "float32", "", None)


def test_the_graph_is_walked_in_both_directions(lenet: Any) -> None:
    links = graph_links(list_operators(lenet, 0, 0).items)
    assert {link.source for link in inputs_of("ReLU-op52", links)} == {"Conv2D-op51"}
    assert {link.target for link in outputs_of("ReLU-op52", links)} >= {"MaxPool-op53"}
    assert all(link.certain for link in links)
    assert {link.source for link in inputs_of("Conv2D-op51", links)} == {"inputs0", "conv1.weight"}


def test_contents_tell_where_an_input_came_from(lenet: Any) -> None:
    links = content_links(measure_all(list_tensors(lenet, 0, 0).items))
    (link,) = inputs_of("MaxPool-op53", links)
    assert (link.source, link.source_slot, link.target_slot, link.certain) == ("ReLU-op52", "0", "0", False)
    assert inputs_of("Conv2D-op51", links) == []


def test_checksums_are_enough(data: Any) -> None:
    dump = open_dump(data / "msprobe_pytorch" / "mix_statistics_md5")
    links = content_links(measure_all(list_tensors(dump, dump.ranks[0], 0).items))
    sources = {link.source for link in inputs_of("Functional.relu.0.forward", links)}
    assert sources == {"Functional.linear.0.forward", "Module.fc1.Linear.forward.0"}
    assert {link.target for link in outputs_of("Functional.relu.0.forward", links)} >= {"Torch.add.0.forward"}


def test_types_are_compared_without_case_and_punctuation() -> None:
    assert {canonical(name) for name in ("RealDiv", "real_div_", "Torch.realDiv", "aten::real_div")} == {
        "realdiv"
    }


def test_sums_are_known_however_they_are_spelled() -> None:
    assert all(map(is_sum, ("ReduceMean", "aten::bmm", "torch.sum", "Dense")))
    assert not any(map(is_sum, ("Add", "Softmax", "")))


@pytest.mark.parametrize(
    "operator", ["aten::masked_fill_", "MaskedFill", "torch.where", "FillV2", "Triu", "Select"]
)
def test_operators_that_fill_in_are_known_however_they_are_spelled(operator: str) -> None:
    assert places_constants(operator)
    assert not places_constants("Log")


@pytest.mark.parametrize(
    ("operator", "tensors", "known"),
    [("log", 1, True), ("mul", 1, False), ("mul", 2, True), ("clamp", 1, False), ("addmm", 3, False)],
)
def test_which_operators_take_no_number_is_known_by_type(operator: str, tensors: int, known: bool) -> None:
    assert takes_no_number(operator, tensors) is known


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


def test_copies_of_given_constants_follow_from_them() -> None:
    def operator(name: str, kind: str, *sources: str) -> Operator:
        return Operator(name, name, kind, (), "", 0, 0, sources=sources)

    listed = [operator("n", "full"), operator("v", "_to_copy", "n"), operator("w", "mm", "n", "x")]
    flow = ValueFlow(listed)
    entries = {name: TensorEntry(0, 0, "", name, name, "_to_copy", "output", *SLOT) for name in "nvw"}
    assert [name for name, entry in entries.items() if flow.follows_from_zeros(entry)] == ["n", "v"]


def test_views_of_norms_are_zero_as_their_tensors_are() -> None:
    def operator(name: str, kind: str, *sources: str) -> Operator:
        return Operator(name, name, kind, (), "", 0, 0, sources=sources)

    listed = [operator("n", "_foreach_norm", "b"), operator("v", "view", "n"), operator("w", "view", "b")]
    flow = ValueFlow(listed)
    entries = {name: TensorEntry(0, 0, "", name, name, "view", "output", *SLOT) for name in "nvw"}
    assert [name for name, entry in entries.items() if flow.follows_from_zeros(entry)] == ["n", "v"]


def test_an_input_of_other_statistics_was_changed_on_its_way() -> None:
    entry = TensorEntry(0, 0, "", "Default/mul", "mul", "Mul", "output", *SLOT)

    def known(*values: float, dtype: str = "float32", printed: bool = False) -> TensorResult:
        array = np.array(values, dtype)
        statistics: Any = measure(array)
        if printed:  # with four digits, as some dumps have them
            low, high, mean = (float(f"{number:.4g}") for number in (array.min(), array.max(), array.mean()))
            statistics = infer_statistics(RecordedStatistics(min=low, max=high, mean=mean), array.shape)
        return TensorResult(
            entry._replace(dtype=dtype), Measurement(statistics, array.shape, dtype), computed=not printed
        )

    given = known(1.23456, 2.34567)
    assert passes_on(given, known(1.23456, 2.34567)) is True
    assert passes_on(given, known(1.23456, 2.34568)) is False
    assert passes_on(known(1.23456, 2.34567, printed=True), given) is True
    assert passes_on(known(1.23456, 2.34567, printed=True), known(-1, 2.34567)) is False
    assert passes_on(given, known(1.23456, 2.34567, dtype="float16")) is None
    assert passes_on(given, known(1.23456, 2.34567, 3)) is None
    assert passes_on(given, TensorResult(entry, None)) is None
