"""Execution order of tensors where modules are recorded around the calls inside them."""

from typing import Any

from mindinsight.server.debug.execution_order import execution_order, tensors_by_operator
from mindinsight.server.formats.dumps.types import Operator, TensorEntry

GRAPH = ""


def entry(recorded: Any, direction: Any, sequence: Any) -> TensorEntry:
    return TensorEntry(
        0, 0, GRAPH, recorded, recorded, "", direction, "0", sequence, -1, 0, None, "", "", None
    )


def order_of(tensors: Any, *operators: Any) -> list[Any]:
    """Names with directions in execution order; operators as (recorded, scope, depends)."""
    entries = [entry(recorded, direction, i) for i, (recorded, direction) in enumerate(tensors)]
    by_key = {
        (GRAPH, recorded): Operator(recorded, recorded, "", scope, GRAPH, 0, -1, depends=depends)
        for recorded, scope, depends in operators
    }
    positions = execution_order(entries, by_key, tensors_by_operator(entries))
    return [tensors[position] for position in positions]


def test_flat_operators_keep_their_order() -> None:
    tensors = [("a", "input"), ("a", "output"), ("b", "input"), ("b", "output")]
    assert order_of(tensors, ("a", (), ()), ("b", (), ())) == tensors


def test_a_module_outputs_after_the_calls_inside_it() -> None:
    tensors = [("module", "input"), ("module", "output"), ("relu", "input"), ("relu", "output")]
    assert order_of(tensors, ("module", (), ()), ("relu", ("module",), ())) == [
        ("module", "input"),
        ("relu", "input"),
        ("relu", "output"),
        ("module", "output"),
    ]


def test_an_inner_module_outputs_before_the_outer_one() -> None:
    tensors = [("outer", "output"), ("inner", "output"), ("relu", "output")]
    operators = [("outer", (), ()), ("inner", ("outer",), ()), ("relu", ("outer", "inner"), ())]
    assert [name for name, _ in order_of(tensors, *operators)] == ["relu", "inner", "outer"]


def test_a_gradient_of_a_weight_follows_the_calls_it_depends_on() -> None:
    tensors = [("gradient", "output"), ("backward", "input"), ("backward", "output")]
    assert [name for name, _ in order_of(tensors, ("gradient", (), ("backward",)), ("backward", (), ()))] == [
        "backward",
        "backward",
        "gradient",
    ]
