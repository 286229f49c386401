"""A graph is asked of the framework a network comes from; the frameworks are stood in for.

The real ones are exercised by the scripts of tests/interop.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.network import graph_of, observed_graph


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A framework that knows networks of type dict and answers with what is in them."""

    def trace(network: Any, inputs: Any) -> Any:
        if "fails" in network:
            raise RuntimeError("cannot follow\nthe branch")
        return network["graph"](inputs) if callable(network["graph"]) else network["graph"]

    framework = SimpleNamespace(trace=trace)
    monkeypatch.setattr(
        "mindinsight.writer.network.framework_of",
        lambda value: framework if isinstance(value, (dict, complex)) else None,
    )
    return framework


def test_a_graph_of_ours_is_its_bytes() -> None:
    graph = GraphBuilder("net")
    graph.node("ReLU", [graph.parameter("x")])
    assert graph_of(graph) == observed_graph(graph)() == graph.serialised()


@pytest.mark.parametrize("network", [None, "text", 3, lambda x: x])
def test_what_is_no_network_has_no_graph(network: Any) -> None:
    assert graph_of(network) is None
    assert graph_of(network, [1]) is None


def test_a_framework_may_answer_bytes_a_builder_or_nothing(framework: Any) -> None:
    builder = GraphBuilder("net")
    assert graph_of({"graph": b"bytes"}) == b"bytes"
    assert graph_of({"graph": builder}) == builder.serialised()
    assert graph_of({"graph": None}) is None


def test_inputs_reach_the_framework(framework: Any) -> None:
    network = {"graph": lambda inputs: repr(inputs).encode()}
    assert graph_of(network, (1, 2)) == b"(1, 2)"
    assert graph_of(network, 3) == b"(3,)"  # the only one
    assert graph_of(network) == b"None"


@pytest.mark.parametrize("inputs", [(1, 1j), ([{"weight": [0, 1j]}],)])
def test_a_function_belongs_to_the_framework_of_its_inputs(framework: Any, inputs: Any) -> None:
    framework.trace = lambda function, inputs: b"function"
    assert graph_of(lambda *x: x, inputs) == b"function"


def test_what_cannot_be_traced_is_a_warning_of_one_line(
    framework: Any, caplog: pytest.LogCaptureFixture
) -> None:
    assert graph_of({"fails": True}) is None
    assert [record.getMessage() for record in caplog.records] == ["no graph of dict: cannot follow"]


def test_the_first_call_gives_the_inputs_when_the_framework_can_see_it(framework: Any) -> None:
    calls: list[Any] = []
    framework.first_inputs = lambda network: lambda: calls[0] if calls else None
    graph = observed_graph({"graph": lambda inputs: repr(inputs).encode()})
    assert graph() == b"None"
    calls.append((7,))
    assert graph() == b"(7,)"
