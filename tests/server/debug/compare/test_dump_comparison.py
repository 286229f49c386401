"""Comparisons of real dumps against msprobe's reports on them."""

import json
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from mindinsight.server.debug.compare.comparison_export import fields
from mindinsight.server.debug.compare.dump_comparison import Side, compare
from mindinsight.server.formats.dumps import open_dump
from tests.narrowing import require
from tests.server.debug.conftest import DUMPS

REPORTS = json.loads((DUMPS / "compare" / "msprobe_reports.json").read_text())


COLUMNS = ("cosine", "distance", "max_absolute", "max_relative", "one_thousandth", "five_thousandths")


def compared(report: Any) -> list[Any]:
    dump = open_dump(DUMPS / "msprobe_pytorch" / report["dump"])
    sides: Any = [Side(dump, rank, step).entries() for rank, step in (report["target"], report["reference"])]
    return list(compare(*sides))


def msprobe_name(row: Any) -> str:
    entry = row.compared.pair.target
    if ".parameters_grad." in entry.recorded:
        return f"{entry.recorded}.{entry.slot}"
    return f"{entry.recorded}.{entry.direction.replace('parameter', 'parameters')}.{entry.slot}"


@pytest.mark.parametrize("name", REPORTS)
def test_the_numbers_of_msprobe_come_out(name: Any) -> None:
    rows = {msprobe_name(row): row for row in compared(REPORTS[name])}
    expected = REPORTS[name]["rows"]
    assert set(rows) <= set(expected)  # msprobe has lines for scalar arguments too
    checked = 0
    for tensor, row in rows.items():
        columns, (*texts, _) = fields(row), expected[tensor]
        if len(texts) == 1 and columns["norm_error"] is not None:  # integers have no norm there
            assert columns["norm_error"] == pytest.approx(float(texts[0].rstrip("%")) / 100)
            checked += 1
        for column, text in zip(COLUMNS, texts, strict=False):
            if len(texts) > 1 and text not in ("unsupported", "N/A"):
                assert columns[column] == pytest.approx(float(text), rel=2e-6, abs=2e-6), (tensor, column)
                checked += 1
    assert checked > {"ranks": 300, "steps": 200, "stat": 40, "md5": -1}[name]


@pytest.mark.parametrize("name", REPORTS)
def test_the_verdicts_of_msprobe_come_out(name: Any) -> None:
    ours: dict[Any, Any] = {}
    theirs: dict[Any, Any] = {}
    for row in compared(REPORTS[name]):
        operator = row.compared.pair.target.recorded
        ours.setdefault(operator, []).append(row.level)
        theirs.setdefault(operator, []).append(REPORTS[name]["rows"][msprobe_name(row)][-1])
    # Of several outputs the worst is marked here, the first there.
    assert {k: sorted(v) for k, v in ours.items()} == {k: sorted(v) for k, v in theirs.items()}


def test_rows_come_in_the_order_the_target_ran() -> None:
    rows = compared(REPORTS["steps"])
    sequences = [row.compared.pair.target.sequence for row in rows]
    assert sequences == sorted(sequences)


def test_a_pool_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.compute.parallel_map.HERE", 0)
    dump = open_dump(DUMPS / "ms_sync_v2_0_names")
    target, reference = (Side(dump, 0, step).entries() for step in (0, 1))
    with ProcessPoolExecutor(2) as pool:
        assert list(compare(target, reference, None, pool)) == list(compare(target, reference))


def test_recorded_statistics_are_not_sent_to_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mindinsight.server.compute.parallel_map.HERE", 0)
    dump = open_dump(DUMPS / "ms_sync_v2_0_names")
    target, reference = (
        [entry._replace(ref=None) for entry in Side(dump, 0, step).entries()] for step in (0, 1)
    )
    pool = ProcessPoolExecutor(1)
    pool.shutdown()  # refuses work
    assert len(list(compare(target, reference, None, pool))) == len(target)


def test_mindspore_is_matched_with_pytorch_layer_by_layer() -> None:
    sides = [
        Side(open_dump(DUMPS / f"msprobe_{framework}" / "L0_tensor_statistics"), 0, 0)
        for framework in ("mindspore", "pytorch")
    ]
    target, reference = (Side(side.dump, side.dump.ranks[0], 0).entries() for side in sides)
    rows = list(compare(target, reference))
    assert len(rows) == 19
    for row in rows:
        pair = row.compared.pair
        assert pair.way == "alike"
        assert require(pair.target).slot == require(pair.reference).slot
        assert require(row.compared.target).shape == require(row.compared.reference).shape


def test_a_file_that_is_gone_is_said_and_the_rest_compared(copied: Any) -> None:
    path = copied("ms_sync_v2_0_names")
    entries = Side(open_dump(path), 0, 0).entries()
    gone = next((path / "rank_0" / "Net" / "0" / "0").glob("Conv2D.*.output.0.*"))
    gone.unlink()
    rows = list(compare(entries, entries))
    assert [row.compared.damage.path for row in rows if row.compared.damage] == [str(gone)]
