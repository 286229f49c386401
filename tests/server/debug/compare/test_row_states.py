"""State of a row: what it agrees by."""

from dataclasses import replace
from pathlib import Path

from mindinsight.server.debug.compare.dump_comparison import Row, Side, compare
from mindinsight.server.debug.compare.row_states import agrees_by, state
from mindinsight.server.debug.compare.tolerance import Tolerance
from mindinsight.server.formats.dumps import open_dump
from tests.claims.situations.dump_compare import Net, cancelling, cast, write


def rows_of(folder: Path, target: Net, reference: Net) -> list[Row]:
    sides = [
        Side(open_dump(write(folder / name, calls)), 0, 0).entries()
        for name, calls in (("target", target), ("reference", reference))
    ]
    return list(compare(sides[0], sides[1]))


def test_rounding_of_terms_that_cancel_is_the_only_reason_to_agree(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, cancelling(1e-5, 3e-7), cancelling(0, -2e-7))
    assert {state(row, Tolerance()) for row in rows} == {"agree"}
    (row,) = [row for row in rows if agrees_by(row, Tolerance(), "rounding")]
    assert state(replace(row, rounding=False), Tolerance()) == "differ"


def test_a_coarser_type_behind_it_is_the_only_reason_to_agree(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, cast(3e-3, "float16"), cast(0, "float32"))
    assert {row.coarser for row in rows if agrees_by(row, Tolerance(), "coarser")} == {"float16"}
    assert not any(agrees_by(row, Tolerance(), "rounding") for row in rows)
