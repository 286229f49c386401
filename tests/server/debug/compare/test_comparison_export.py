"""Reports with msprobe's columns against the reports of msprobe 26.2 on the same dumps.

``tests/data/dumps/compare/msprobe_*.csv`` are its files without call stacks and names of data files.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.debug.compare.comparison_export import (
    MESSAGES,
    CsvReport,
    fields,
    safe_cell,
    write_csv,
    write_msprobe_csv,
    write_msprobe_xlsx,
)
from mindinsight.server.debug.compare.dump_comparison import Row, Side, compare, compare_sides
from mindinsight.server.debug.compare.error_measures import LEVELS
from mindinsight.server.formats.dumps import open_dump
from tests.narrowing import require
from tests.server.debug.conftest import spoil

DUMPS = Path(__file__).parents[3] / "data" / "dumps"
COMPARED = {
    "tensor": ("mix_tensor_2ranks", (0, 0), (1, 0)),
    "stat": ("L1_statistics_statistics", (0, 0), (0, 1)),
    "md5": ("mix_statistics_md5", (0, 0), (0, 1)),
}
OTHER_WORDS = ("NPU Dtype", "Bench Dtype", "Err_message")  # float32 for torch.float32, other sentences
NUMBERS = ("EucDist", "One Thousandth Err Ratio", "Five Thousandths Err Ratio")  # msprobe leaves scalars out


def rows_of(name: str) -> list[Row]:
    folder, target, reference = COMPARED[name]
    dump = open_dump(DUMPS / "msprobe_pytorch" / folder)
    return list(compare_sides(Side(dump, *target), Side(dump, *reference)))


def lines_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def value(text: str) -> Any:
    try:
        return float(text.rstrip("%"))
    except ValueError:
        return text


def comparable(expected: dict[str, str]) -> set[str]:
    """Return the columns with a value in both: msprobe has no mean of integers and no distance of scalars."""
    unknown = {column for column in NUMBERS if expected.get(column) == "unsupported"}
    if expected.get("NPU mean") == "None":
        unknown |= {column for column in expected if "ean" in column or "orm" in column}
    return expected.keys() - unknown - set(OTHER_WORDS)


@pytest.mark.parametrize("name", COMPARED)
def test_columns_names_and_values_are_those_of_msprobe(name: str) -> None:
    file = io.StringIO()
    write_msprobe_csv(rows_of(name), file)
    ours = lines_of(file.getvalue())
    known = lines_of((DUMPS / "compare" / f"msprobe_{name}.csv").read_text())
    theirs = {line["NPU Name"]: line for line in known}
    assert list(ours[0]) == list(known[0])
    assert len(ours) > 40
    for line in ours:
        expected = theirs[line["NPU Name"]]
        for column in comparable(expected):
            wanted = value(expected[column])
            if isinstance(wanted, float):  # a mean around zero is what is left of sums in float32
                wanted = pytest.approx(wanted, rel=1e-6, abs=1e-8)
            assert value(line[column]) == wanted, (line["NPU Name"], column)


def test_a_workbook_has_the_same_rows_and_no_formula() -> None:
    rows = rows_of("stat")
    compared = rows[0].compared
    entry = require(compared.pair.target)
    pair = dataclasses.replace(compared.pair, target=entry._replace(operator="=cmd()"))
    rows[0] = Row(dataclasses.replace(compared, pair=pair), ("cosine",))
    file = io.BytesIO()
    write_msprobe_xlsx(rows, file)
    with zipfile.ZipFile(file) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert sheet.count("<row ") == len(rows) + 1
    assert "<f>" not in sheet
    assert "=cmd().input.0" in sheet


class FullDisk(io.BytesIO):
    def write(self, data: Any) -> int:
        raise OSError("no space left")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # zipfile tries once more
def test_a_workbook_that_cannot_be_written_leaves_no_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match="no space left"):
        write_msprobe_xlsx(rows_of("stat"), FullDisk())
    assert sorted(Path("/proc/self/fd").iterdir()) == before
    assert list(tmp_path.iterdir()) == []


def test_every_pair_is_a_line_with_all_columns(lenet: Any) -> None:
    target, reference = (Side(lenet, 0, step).entries() for step in (0, 1))
    rows = list(compare(target, reference))
    file = io.StringIO()
    write_csv(rows, file)
    lines = list(csv.DictReader(file.getvalue().splitlines()))
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        assert line == {name: "" if value is None else str(value) for name, value in fields(row).items()}


def test_a_report_without_rows_has_its_header() -> None:
    empty, by_step, full = io.StringIO(), io.StringIO(), io.StringIO()
    write_csv([], empty)
    write_csv(rows_of("stat"), full)
    assert empty.getvalue() == full.getvalue().splitlines(keepends=True)[0]
    report = CsvReport(by_step)
    report.write([], rank=0, step=1)
    report.write([], rank=0, step=2)
    assert by_step.getvalue() == f"rank,step,{empty.getvalue()}"


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
    assert MESSAGES.keys() == {*LEVELS, "apart", "beyond", "rounding"}
    entries = Side(lenet, 0, 0).entries()
    row = next(compare(entries, entries))
    assert (
        fields(Row(row.compared, ("dtype", "shape")))["messages"]
        == f"{MESSAGES['dtype']}; {MESSAGES['shape']}"
    )
