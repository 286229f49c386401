"""Chains of values: the input followed back, the end of a chain, and the graph around its start."""

from dataclasses import replace
from typing import Final

import numpy as np

from mindinsight.server.compute.tensor_statistics import measure
from mindinsight.server.debug.examine import TensorResult
from mindinsight.server.debug.operator_links import Link
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.debug.tensor_targets import parameter_kind
from mindinsight.server.debug.value_chain import ValueChain, cut_out, magnitude
from mindinsight.server.formats.dumps.dump_types import Operator, TensorEntry

LINKS = [
    ("batch", "mul"),
    ("fc.weight", "mul"),
    ("mul", "sub"),
    ("one", "sub"),
    ("sub", "log"),
    ("log", "sum"),
]
VALUES = {"batch": 2.0, "fc.weight": 300.0, "mul": 9.0, "one": 1.0, "sub": -1.0, "log": np.nan, "sum": np.nan}
SLOT: Final = ("0", 0, 0, 0, (1,), "float64", "", None)


def operator(name: str) -> Operator:
    return Operator(f"Default/{name}", name, name.title(), ("Default",), "", 0, 0)


def tensor(name: str) -> TensorEntry:
    if name in ("batch", "fc.weight"):
        return TensorEntry(0, 0, "", name, name, "Parameter", "parameter", *SLOT)
    return TensorEntry(0, 0, "", f"Default/{name}", name, name, "output", *SLOT)


def result(entry: TensorEntry) -> TensorResult:
    statistics = measure(np.array([VALUES[entry.recorded]], float))
    return TensorResult(entry, Measurement(statistics, (1,), "float64"))


OPERATORS = {name: operator(name) for name in ("mul", "one", "sub", "log", "sum")}
ENTRIES = [tensor(name) for name in VALUES]
EDGES = [Link(source, "", target, "", certain=True) for source, target in LINKS]
CHAIN = ValueChain(OPERATORS.values(), ENTRIES, EDGES, result)


def test_the_largest_input_is_followed_to_where_it_entered() -> None:
    names = [(link.name, link.carrier) for link in CHAIN.back_from("log")]
    assert names == [
        ("Default/log", "operator"),
        ("Default/sub", "operator"),
        ("Default/mul", "operator"),
        ("fc.weight", "weight"),
    ]


def test_an_index_is_no_source_and_a_chain_ends_where_values_began() -> None:
    def larger(entry: TensorEntry) -> TensorResult:
        statistics = measure(np.array([{"mul": 1.0, "one": 9.0}.get(entry.recorded, 0.0)], float))
        return TensorResult(entry, Measurement(statistics, (1,), "float64"))

    indices = [entry._replace(dtype="int64") if entry.recorded == "one" else entry for entry in ENTRIES]
    edges = [EDGES[2], EDGES[3]]
    for entries, source in ((indices, "mul"), (ENTRIES, "one")):
        chain = ValueChain(OPERATORS.values(), entries, edges, larger).back_from("sub")
        assert [link.recorded for link in chain] == ["sub", source]
    assert [link.recorded for link in CHAIN.back_from("sum")] == ["sum", "log"]  # whose inputs are finite


def test_a_named_source_goes_first_and_circles_end() -> None:
    assert [link.recorded for link in CHAIN.back_from("sub", "Default/one")] == ["sub", "one"]
    circle = [*EDGES, Link("sum", "", "one", "", certain=True)]
    chain = ValueChain(OPERATORS.values(), ENTRIES, circle, result).back_from("sub", "Default/one")
    assert [link.recorded for link in chain] == ["sub", "one", "sum", "log"]


def test_all_non_finite_ends_are_returned_and_no_finite_one() -> None:
    """The input x was not dumped, so that it has no recorded name."""
    links = [Link(source, "", "mul", "", certain=True) for source in ("x", "fc.weight", "fc.bias")]
    paired = replace(operator("mul"), inputs=("0", "1", "2"), sources=("x", "fc.weight", "fc.bias"))

    def ends(*values: float) -> list[str]:
        given = [
            tensor("one")._replace(recorded="mul", direction="input", slot=slot) for slot in paired.inputs
        ]
        measured = dict(zip(paired.inputs, map(np.array, values), strict=True))

        def find(entry: TensorEntry) -> TensorResult:
            statistics = measure(measured[entry.slot].reshape(1))
            return TensorResult(entry, Measurement(statistics, (1,), "float64"))

        return [link.name for link in ValueChain([paired], given, links, find).back_from("mul")[1:]]

    assert ends(5.0, np.nan, 7.0) == ["fc.weight"]
    assert ends(np.inf, np.nan, 7.0) == ["x", "fc.weight"]
    assert ends(5.0, 6.0, 7.0) == ["fc.bias"]


def test_what_is_not_finite_is_larger_than_all_and_the_unknown_smaller() -> None:
    assert magnitude(result(tensor("log"))) == np.inf
    assert magnitude(result(tensor("sub"))) == 1
    assert magnitude(None) == -1
    assert [parameter_kind(name, ()) for name in ("fc.weight", "moments.fc.weight", "inputs0")] == [
        "weight",
        "state",
        "data",
    ]


def test_the_part_of_the_graph_has_the_chain_and_the_neighbours_of_its_operator() -> None:
    drawn, links = cut_out(CHAIN.back_from("log"), OPERATORS, EDGES, 3)
    assert [known.recorded for known in drawn] == ["log", "sub", "mul", "sum"]
    assert {(link.source, link.target) for link in links} == {("mul", "sub"), ("sub", "log"), ("log", "sum")}


def test_a_weight_is_judged_by_what_its_operator_received() -> None:
    updated = tensor("fc.weight")._replace(sequence=9)
    entries = [updated if entry.recorded == "fc.weight" else entry for entry in ENTRIES]
    late = ValueChain(OPERATORS.values(), entries, EDGES, result).back_from("mul", "fc.weight")[-1]
    assert (late.carrier, late.is_late, late.magnitude) == ("weight", True, -1)
    paired = replace(operator("mul"), inputs=("0", "1"), sources=("batch", "fc.weight"))
    received = tensor("one")._replace(recorded="mul", direction="input", slot="1")
    chain = ValueChain([paired], [*entries, received], EDGES, result).back_from("mul", "fc.weight")
    assert (chain[-1].entry, chain[-1].is_late) == (received, False)
