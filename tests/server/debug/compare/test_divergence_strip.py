"""Marks and layers of the divergence strip."""

from typing import Any

import pytest

from mindinsight.server.debug.compare.divergence_strip import layer_bands, strip_marks
from mindinsight.server.debug.compare.dump_comparison import Side, compare
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.formats.dumps import open_dump
from mindinsight.server.formats.dumps.dump_types import RecordedStatistics, TensorEntry
from tests.server.debug.conftest import DUMPS


@pytest.fixture
def entries() -> list[TensorEntry]:
    dump = open_dump(DUMPS / "ms_sync_v2_0_names")
    return [entry._replace(ref=None) for entry in Side(dump, 0, 0).entries()]


def measured(entries: list[TensorEntry], norms: dict[int, float]) -> list[TensorEntry]:
    """Return tensors with recorded norms: 1, or the norm in ``norms`` for a position."""
    return [
        entry._replace(
            shape=(2,), dtype="float32", statistics=RecordedStatistics(1, 0, 0.5, norms.get(position, 1.0))
        )
        for position, entry in enumerate(entries)
    ]


def states(target: list[TensorEntry], reference: list[TensorEntry]) -> dict[str, Any]:
    marks = strip_marks(compare(target, reference), Tolerance())
    return {mark.operator.rpartition("/")[2]: (mark.state, mark.error) for mark in marks}


def test_statistics_alone_do_not_show_that_an_operator_introduced_it(entries: list[TensorEntry]) -> None:
    output = next(position for position, entry in enumerate(entries) if entry.direction == "output")
    name = entries[output].operator.rpartition("/")[2]
    marks = states(measured(entries, {output: 2.0}), measured(entries, {}))
    assert marks[name] == ("differs", 1.0)
    assert {state for state, _ in marks.values()} == {"differs", "unknown"}


def test_an_operator_whose_inputs_differ_did_not_introduce_it(entries: list[TensorEntry]) -> None:
    output = next(position for position, entry in enumerate(entries) if entry.direction == "output")
    operator = entries[output].operator
    norms = {position: 2.0 for position, entry in enumerate(entries) if entry.operator == operator}
    marks = states(measured(entries, norms), measured(entries, {}))
    assert marks[operator.rpartition("/")[2]][0] == "differs"


def test_operators_of_one_side_are_unmatched_and_unmeasured_ones_unknown(entries: list[TensorEntry]) -> None:
    only = entries[-1].operator
    marks = states(entries, [entry for entry in entries if entry.operator != only])
    assert marks[only.rpartition("/")[2]] == ("unmatched", None)
    assert {state for state, _ in marks.values()} == {"unmatched", "unknown"}


@pytest.mark.parametrize(
    ("operators", "layers"),
    [
        (["net/a/Add-op0", "net/a/Mul-op0", "net/b/Add-op1"], [("a", 0, 2), ("b", 2, 3)]),
        (
            ["net/cells/0-Block/fc/A-op0", "net/cells/1-Block/fc/A-op1", "net/head/B-op0"],
            [("cells.0-Block", 0, 1), ("cells.1-Block", 1, 2), ("head", 2, 3)],
        ),
        (["Module.layers.0.fc.L.forward.0", "Module.layers.1.fc.L.forward.0"], [("0", 0, 1), ("1", 1, 2)]),
        (["Add-op0", "Mul-op0"], [("", 0, 2)]),
        ([], []),
    ],
)
def test_layers_are_what_paths_do_not_have_in_common(operators: Any, layers: Any) -> None:
    assert [(band.layer, band.begin, band.end) for band in layer_bands(operators)] == layers
