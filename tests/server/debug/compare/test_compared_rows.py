"""Names of the rows of a comparison, where the graph says which parameter an input is."""

from pathlib import Path

from mindinsight.server.debug.compare.compared_rows import (
    is_output,
    module_path,
    parameter_name,
    tensor_name,
    weight_name,
)
from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.formats.dumps import open_dump
from tests.claims.situations.dump_weights import weights_of, write_blocks


def test_an_input_has_the_name_of_its_parameter(tmp_path: Path) -> None:
    side = Side(open_dump(write_blocks(tmp_path / "dump", weights_of())), 0, 0)
    rows = {row.compared.pair.target: row for row in compare_sides(side, side)}
    names = {
        (entry.operator.rpartition("/")[2], entry.direction, entry.slot): parameter_name(row)
        for entry, row in rows.items()
        if entry is not None
    }
    assert names["t-op1", "input", "0"] == "blocks.1.fc1.weight"
    assert names["addmm-op1", "input", "0"] == "blocks.1.fc1.bias"
    assert names["addmm-op1", "input", "1"] == ""  # the output of the layer before
    assert names["addmm-op1", "output", "0"] == ""
    assert names["blocks.1.fc1.bias", "parameter", "0"] == "blocks.1.fc1.bias"


def test_tensors_without_a_parameter_are_named_by_operator(tmp_path: Path) -> None:
    side = Side(open_dump(write_blocks(tmp_path / "dump", weights_of())), 0, 0)
    for row in compare_sides(side, side):
        if is_output(row):
            assert tensor_name(row).endswith(" output 0")
            assert weight_name(row) is None
    assert module_path("Module.blocks.2.fc1.Linear.forward.0") == "blocks.2.fc1"
    assert module_path("Default/fc1-Dense/MatMul-op0") == "Default/fc1-Dense/MatMul-op0"
