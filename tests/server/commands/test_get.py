"""Printing scalar series."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.client import reader
from mindinsight.writer import SummaryRecord
from tests.narrowing import require

DATA = Path(__file__).parents[2] / "data" / "events"


LENET = DATA / "lenet"


def test_a_series_is_printed_point_by_point(run: Any) -> None:
    code, out, _ = run("get", "./lenet", "loss/auto", "--summary-dir", DATA)
    rows = list(csv.DictReader(io.StringIO(out)))
    (columns,) = reader.open(LENET).scalars("loss/auto").values()
    assert code == 0
    assert {(row["run"], row["tag"]) for row in rows} == {("./lenet", "loss/auto")}
    assert [int(row["step"]) for row in rows] == columns.steps.tolist()
    assert [float(row["wall_time"]) for row in rows] == columns.walls.tolist()
    assert np.array([row["value"] for row in rows], np.float32).tolist() == columns.values.tolist()


def test_what_a_restart_overwrote_is_printed_and_marked_when_asked_for(run: Any, base: Any) -> None:
    _, out, _ = run("get", "./again", "loss", "--summary-dir", base, "--overwritten")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["overwritten"], row["step"]) for row in rows] == [
        ("0", "1"), ("1", "2"), ("1", "3"), ("0", "2"), ("0", "3"),
    ]  # fmt: skip
    _, out, _ = run("get", "./again", "loss", "--summary-dir", base, "--format", "json", "--overwritten")
    (curve,) = json.loads(out)
    assert (curve["overwritten"], curve["step"]) == ([False, True, True, False, False], [1, 2, 3, 2, 3])


def test_what_is_strange_stays_strict_json_and_safe_csv(run: Any, base: Any) -> None:
    _, out, _ = run("get", "./strange", "*", "--summary-dir", base, "--format", "json")
    (curve,) = json.loads(out, parse_constant=lambda name: 1 / 0)
    assert (curve["tag"], curve["value"]) == ("=a,b", [0.5, "nan"])
    _, out, _ = run("get", "./strange", "*", "--summary-dir", base)
    assert [row["tag"] for row in csv.DictReader(io.StringIO(out))] == ["'=a,b"] * 2


def test_patterns_choose_several(run: Any) -> None:
    _, out, _ = run("get", "./rank_?", "*", "--summary-dir", DATA / "multi_rank")
    runs = {row["run"] for row in csv.DictReader(io.StringIO(out))}
    assert runs == {f"./rank_{number}" for number in range(4)}


@pytest.mark.parametrize(
    ("chosen", "tag", "message"), [("./no", "loss", "no run './no'"), ("./", "no", "no scalar 'no'")]
)
def test_what_is_not_there_is_named(run: Any, chosen: str, tag: str, message: str) -> None:
    code, out, err = run("get", chosen, tag, "--summary-dir", LENET)
    assert (code, out) == (1, "")
    assert message in err
    assert "mindinsight ls" in err


def test_a_reader_who_has_enough_is_no_error(tmp_path: Path) -> None:
    """``mindinsight get ... | head -1``"""
    with SummaryRecord(str(tmp_path / "long")) as record:
        for step in range(5000):
            record.add_value("scalar", "loss", 0.5)
            record.record(step)
    code = "import sys; from mindinsight.server.commands.main import main; sys.exit(main())"
    arguments = ["get", "./", "loss", "--summary-dir", str(tmp_path / "long")]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    require(process.stdout).readline()
    require(process.stdout).close()
    assert (require(process.stderr).read(), process.wait()) == (b"", 0)
    require(process.stderr).close()


def test_texts_are_printed_when_asked_for(run: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "a")) as record:
        for step, text in enumerate(("# one\n\ntwo", "=SUM(A1)")):
            record.add_value("text", "note", text)
            record.record(step)
    code, out, _ = run("get", "./a", "note", "--kind", "text", "--summary-dir", tmp_path, "--format", "json")
    assert (code, [(row["step"], row["text"]) for row in json.loads(out)]) == (
        0,
        [(0, "# one\n\ntwo"), (1, "=SUM(A1)")],
    )
    _, out, _ = run("get", "*", "note", "--kind", "text", "--summary-dir", tmp_path)
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert [row["text"] for row in rows] == ["# one\n\ntwo", "'=SUM(A1)"]
    code, _, error = run("get", "./a", "other", "--kind", "text", "--summary-dir", tmp_path)
    assert code != 0
    assert "no text 'other'" in error


def test_integers_that_may_have_been_rounded_are_said(run: Any, tmp_path: Path) -> None:
    for name, value in (("big", 2**53 + 1), ("small", 2**53 - 1)):
        with SummaryRecord(str(tmp_path / name)) as record:
            record.add_value("scalar", "count", value)
            record.record(1)
    _, _, warning = run("get", "big", "count", "--summary-dir", tmp_path)
    assert "1 value is 2^53 or larger" in warning
    _, out, warning = run("get", "small", "count", "--summary-dir", tmp_path)
    assert "9007199254740991" in out
    assert "2^53" not in warning


def test_a_missing_kind_is_named_in_the_language_of_the_terminal(
    run: Any, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    _, _, err = run("get", "*", "missing", "--summary-dir", base)
    assert "中没有标量“missing”" in err
