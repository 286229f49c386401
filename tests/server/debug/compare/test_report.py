"""The report as a file."""

import csv
import io
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.compare.comparison import Row, Side, compare
from mindinsight.server.debug.compare.report import MESSAGES, fields, safe_cell, write_csv
from mindinsight.server.debug.compare.verdicts import LEVELS
from mindinsight.server.formats.dumps import open_dump
from tests.server.debug.conftest import spoil


def test_every_pair_is_a_line_with_all_columns(lenet: Any) -> None:
    target, reference = (Side(lenet, 0, step).entries() for step in (0, 1))
    rows = list(compare(target, reference))
    file = io.StringIO()
    write_csv(rows, file)
    lines = list(csv.DictReader(file.getvalue().splitlines()))
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        assert line == {name: "" if value is None else str(value) for name, value in fields(row).items()}


def test_names_are_no_formulas_and_nothing_infinite_breaks_the_file(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    spoil(path, "Conv2D.*.output.0.*", np.inf)
    entries = [entry._replace(operator="=cmd()") for entry in Side(open_dump(path), 0, 0).entries()]
    file = io.StringIO()
    write_csv(compare(entries, entries), file)
    lines = list(csv.DictReader(file.getvalue().splitlines()))
    assert {line["target"][:7] for line in lines} == {"'=cmd()"}
    assert "inf" in {line["target_max"] for line in lines}


@pytest.mark.parametrize("text", ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_what_a_spreadsheet_would_compute_is_made_text(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert safe_cell(-1.5) == -1.5


def test_every_message_has_a_text(lenet: Any) -> None:
    assert MESSAGES.keys() == LEVELS.keys()
    entries = Side(lenet, 0, 0).entries()
    row = next(compare(entries, entries))
    assert (
        fields(Row(row.compared, ("dtype", "shape")))["messages"]
        == f"{MESSAGES['dtype']}; {MESSAGES['shape']}"
    )
