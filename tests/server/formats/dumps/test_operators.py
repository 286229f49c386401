"""Operators of a step from tensors, execution order and graph."""

from typing import Any

from mindinsight.server.formats.dumps.operators import assemble_operators
from mindinsight.server.formats.dumps.types import TensorEntry
from mindinsight.server.formats.graphs.ir import IrNode


def entry(
    name: Any, direction: Any, slot: Any, sequence: Any, order: int = -1, kind: str = "MatMul"
) -> TensorEntry:
    return TensorEntry(
        0,
        0,
        "Net/0",
        name,
        name.replace("/", "_"),
        kind,
        direction,
        slot,
        sequence,
        order,
        0,
        None,
        "",
        "",
        None,
    )


def assemble(entries: Any, order: Any = (), nodes: Any = None) -> Any:
    return assemble_operators("Net/0", entries, order, nodes or {}, lambda kind, name: ((kind, name),))


def test_tensors_of_one_operator_are_its_slots() -> None:
    (operator,) = assemble(
        [entry("fc/MatMul-op1", side, "0", i) for i, side in enumerate(("input", "output"))]
    )
    assert (operator.name, operator.recorded, operator.scope) == ("fc/MatMul-op1", "fc_MatMul-op1", ("fc",))
    assert (operator.inputs, operator.outputs, operator.arguments) == (
        ("0",),
        ("0",),
        (("MatMul", "fc_MatMul-op1"),),
    )
    assert operator.inputs_known and operator.outputs_known


def test_operators_come_in_execution_order_and_planned_ones_are_among_them() -> None:
    entries = [
        entry("b", "output", "0", 0, order=2),
        entry("x", "output", "0", 1),
        entry("a", "output", "0", 2, 0),
    ]
    operators = assemble(entries, order=["a", "fc/ReLU-op7", "b"])
    assert [operator.name for operator in operators] == ["a", "fc/ReLU-op7", "b", "x"]
    planned = operators[1]
    assert (planned.type, planned.sequence, planned.recorded, planned.scope) == ("ReLU", -1, "", ("fc",))


def test_inputs_are_known_only_when_no_slot_is_missing() -> None:
    (gap,) = assemble([entry("a", "input", slot, i) for i, slot in enumerate(("0", "2"))])
    assert not gap.inputs_known and not gap.outputs_known
    node = IrNode("MatMul", "a", "", ("x", "y"), ())
    (fewer,) = assemble([entry("a", "input", "0", 0)], nodes={"a": node})
    assert fewer.sources == ("x", "y") and not fewer.inputs_known


def test_names_of_parameters_are_separated_by_dots() -> None:
    (parameter,) = assemble([entry("net.fc.weight", "parameter", "0", 0, kind="Parameter")])
    assert parameter.scope == ("net", "fc")
