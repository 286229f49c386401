"""Arguments, gradients and calls that are not judged, against what msprobe said of the same two dumps."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.debug.compare.arguments import Difference, differences
from mindinsight.server.debug.compare.comparison import Side, compare_sides
from mindinsight.server.debug.compare.report import fields
from mindinsight.server.formats.dumps import open_dump
from tests.server.debug.conftest import DUMPS

RULES = json.loads((DUMPS / "compare" / "msprobe_rules.json").read_text())
ONLY_OURS = {  # msprobe does not look into slices, and takes a size for a shape
    "Functional.case13.0.forward.input.1": ("argument",),
    "Functional.case18.0.forward.input.1": ("argument",),
}
# msprobe compares a result that is a plain number like a tensor, lets ``empty`` go only if it was given
# something, and takes a module of that name for the function.
NOT_SO = {
    "Functional.case11.0.forward.output.0",
    "Torch.empty.1.forward.output.0",
    "Module.empty.Linear.forward.0.output.0",
}


def side(root: Any, data: Any) -> Any:
    folder = root / "step0" / "rank0"
    folder.mkdir(parents=True)
    top = {"task": "statistics", "level": "mix", "framework": "pytorch", "dump_data_dir": None}
    (folder / "dump.json").write_text(json.dumps({**top, "data": data}))
    return Side(open_dump(root), 0, 0)


@pytest.fixture
def rows(tmp_path: Path) -> Any:
    sides = [side(tmp_path / name, RULES[name]) for name in ("target", "reference")]
    return {name_of(row): row for row in compare_sides(*sides) if row.compared.pair.target}


def name_of(row: Any) -> Any:
    entry = row.compared.pair.target
    return f"{entry.recorded}.{entry.direction.replace('parameter', 'parameters')}.{entry.slot}"


def test_the_levels_of_msprobe_come_out(rows: Any) -> None:
    checked = 0
    for name, result in RULES["results"].items():
        row = rows.get(name)
        if row is None:  # arguments have a row where they differ
            assert result == "pass"
        elif name in ONLY_OURS:
            assert row.codes == ONLY_OURS[name]
        elif name not in NOT_SO:
            assert row.level == result, name
            checked += 1
    assert checked > 40
    assert set(rows) <= set(RULES["results"])


def test_where_msprobe_goes_by_a_word_the_kind_of_call_decides(rows: Any) -> None:
    assert rows["Torch.empty.1.forward.output.0"].codes == ()
    assert rows["Module.empty.Linear.forward.0.output.0"].codes == ("norm", "norm_growth")


def test_an_argument_that_differs_has_a_row_of_its_own(rows: Any) -> None:
    row = rows["Functional.case8.0.forward.input.dim"]
    columns = fields(row)
    assert (row.level, row.codes) == ("error", ("argument",))
    assert (columns["target_argument"], columns["reference_argument"]) == ("1", "2")
    assert (columns["cosine"], columns["target_shape"]) == (None, "[]")
    assert "argument" in columns["messages"]
    assert "Functional.case14.0.forward.input.1" not in rows  # the same on both sides


@pytest.mark.parametrize(
    ("target", "reference", "expected"),
    [
        ([("input.1", "2")], [("input.1", "3")], [Difference("1", "2", "3")]),
        ([("input.1", "2")], [("input.1", "2")], []),
        ([("input.1", "2")], [("input.1", "2.5")], []),
        ([("input.1", "true")], [("input.1", "1")], []),
        ([("input.1", "null")], [("input.1", "3")], []),
        ([("input.1", "2")], [("input.2", "3")], []),
        ([("output.1", "2")], [("output.1", "3")], []),
        ([("input.p", "[1, 2]")], [("input.p", "[1, 3]")], [Difference("p", "[1, 2]", "[1, 3]")]),
        ([("input.p", '"a')], [("input.p", '"b')], [Difference("p", '"a', '"b')]),
        ([("input.1", "NaN")], [("input.1", "NaN")], []),
    ],
)
def test_what_counts_as_another_argument(target: Any, reference: Any, expected: Any) -> None:
    assert list(differences(target, reference)) == expected
