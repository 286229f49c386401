"""The command that writes the report of a run."""

from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import SummaryRecord
from tests.flight import unpack


def test_the_report_of_a_run_is_one_file(run: Any, tmp_path: Path) -> None:
    unpack("logarithm", tmp_path / "base")
    output = tmp_path / "out.html"
    options = ("--summary-base-dir", tmp_path / "base", "--output", output, "--language", "zh")
    code, out, _ = run("report", "logarithm", *options)
    assert (code, out.strip()) == (0, str(output))
    page = output.read_text(encoding="utf-8")
    assert "报告：logarithm" in page
    assert page.index("<h2>诊断</h2>") < page.index("首先在卡 0 的第 25 步发现") < page.index("<dl>")
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_a_directory_is_taken_as_a_run(run: Any, tmp_path: Path) -> None:
    folder = unpack("nan_in_data", tmp_path / "elsewhere")
    output = tmp_path / "out.html"
    (tmp_path / "base").mkdir()
    code, _, _ = run("report", folder, "--summary-base-dir", tmp_path / "base", "--output", output)
    assert code == 0
    assert "came in with inputs0" in output.read_text(encoding="utf-8")


def test_an_unknown_run_is_answered_with_names_that_are_near(run: Any, tmp_path: Path) -> None:
    unpack("logarithm", tmp_path)
    unpack("dead_relu", tmp_path)
    code, out, err = run("report", "logaritm", "--summary-base-dir", tmp_path)
    assert (code, out) == (2, "")
    assert "'logaritm'. Did you mean ./logarithm?" in err
    _, _, err = run("report", "*", "--summary-base-dir", tmp_path)
    assert "choose one: ./dead_relu, ./logarithm" in err
    _, _, err = run("report", "xyz", "--summary-base-dir", tmp_path)
    assert "There are: ./dead_relu, ./logarithm." in err


def test_a_file_that_cannot_be_written_is_an_error_in_a_line(run: Any, tmp_path: Path) -> None:
    unpack("dead_relu", tmp_path / "base")
    missing = tmp_path / "nowhere" / "out.html"
    code, _, err = run("report", "dead_relu", "--summary-base-dir", tmp_path / "base", "--output", missing)
    assert code == 2
    assert "nowhere" in err


def test_the_report_of_a_job_says_that_it_is_of_one_rank(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    for rank in range(2):
        with SummaryRecord(str(tmp_path / "base" / "job"), rank=rank) as record:
            record.add_value("scalar", "loss", 1.0)
            record.record(1)
    code, out, err = run("report", "job", "--summary-base-dir", tmp_path / "base")
    assert (code, out) == (0, "report-job-rank_0.html\n")
    assert "The report is of job/rank_0 alone." in err
    _, _, err = run("report", "job/rank_1", "--summary-base-dir", tmp_path / "base")
    assert "alone" not in err
