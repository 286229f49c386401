"""Operators of a step from tensors, execution order and graph."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.formats import dumps
from mindinsight.server.formats.dumps import (
    describe_tensor,
    list_operators,
    list_overflows,
    list_tensors,
    open_dump,
    read_tensor,
)
from mindinsight.server.formats.dumps.dump_layout import Layout, assemble_operators
from mindinsight.server.formats.dumps.dump_types import Dump, StepFolder, TensorEntry, TensorRef
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


class Single(Layout):
    """A directory of one step; the least that a layout can be."""

    name = "single"

    def match(self, path: Any) -> Any:
        return 0.99 if (path / "single").exists() else -1.0

    def open_dump(self, path: Any) -> Dump:
        return Dump(str(path), self.name, (StepFolder(0, 3, "", str(path), str(path)),), ((0, ""),))


def test_a_layout_inherits_what_it_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory it knows and how to open it: the rest is a dump without tensors, or of npy files."""
    monkeypatch.setattr(dumps, "known_layouts", lambda: (Single(),))
    monkeypatch.setattr(dumps, "_load_layout", lambda name: Single())
    (tmp_path / "single").mkdir()
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(2, 3))
    dump = open_dump(tmp_path)
    assert (dump.layout, dump.steps()) == ("single", (3,))
    for listing in (list_tensors, list_operators, list_overflows):
        assert len(listing(dump, 0, 3)) == 0
    ref = TensorRef("single", str(tmp_path / "a.npy"))
    assert describe_tensor(ref).shape == (2, 3)
    assert read_tensor(ref).tolist() == [[0, 1, 2], [3, 4, 5]]
