"""Reports of real runs: what is in them, in both languages, and that nothing from files becomes HTML."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mindinsight.server.client.reader import Summary
from mindinsight.server.report import Page, Progress, ReportSource, make_report
from mindinsight.server.report.report_content import curve_of
from mindinsight.writer import SummaryRecord
from tests.flight import unpack
from tests.narrowing import require
from tests.raw_keys import raw_keys

HOSTILE = '"><img src=x onerror="alert(1)"><script>alert(2)</script>'
EXPECTED = {
    "logarithm": ("Default/log-op0", "log received -691.012 at [0, 1]", "return torch.log(scores)"),
    "square_root": ("Default/sqrt-op0", "The square root of a negative number is NaN", "torch.sqrt(scores)"),
    "nan_in_data": ("Default/fc1-Linear/addmm-op0", "came in with inputs0", "self.fc1(x)"),
    "nan_in_weight": ("Default/fc2-Linear/t-op1", "came in with the weight fc2.weight", "self.fc2(hidden)"),
    "half_overflow": ("Default/mul-op0", "Cause unknown: mul produced", ".half() * 10)"),
    "exploding_gradient": (
        "tensors that were searched are finite",
        "the loss jumped to",
        "None of the conditions that could be checked is met.",
    ),
    "dead_relu": (
        "tensors that were searched are finite",
        "every output of act is zero",
        "Saturated activation",
    ),
}


class Elements(HTMLParser):
    """Collects the tags, attributes and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.rows: list[list[str]] = []  # cells of all tables
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {data}".strip()


def report(base: Path, run: str, language: str = "en") -> tuple[Elements, list[Progress]]:
    summary = Summary(base)
    source = ReportSource(summary.run(run), summary.by_id(), summary.dump_path)
    parts = list(make_report(source, language))
    (page,) = [part for part in parts if isinstance(part, Page)]
    return Elements(page.html), [part for part in parts if isinstance(part, Progress)]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_planted_fault_is_in_the_report_with_operator_reason_and_line(name: str, tmp_path: Path) -> None:
    unpack(name, tmp_path)
    page, progress = report(tmp_path, f"./{name}")
    text = re.sub(r"\s+", " ", page.text)
    assert [part for part in EXPECTED[name] if part not in text] == []
    assert "Curves around step 25" in text or name == "dead_relu"
    assert progress[0].key == "report.measuring"
    assert progress[0].done <= progress[0].total
    assert {"script", "img", "link", "iframe", "object"} & page.tags == set()
    assert {"src", "href", "onerror"} & page.attributes == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_has_a_name_and_every_check_a_reason(language: str, tmp_path: Path) -> None:
    unpack("logarithm", tmp_path)
    with SummaryRecord(tmp_path / "logarithm") as record:
        record.add_value("code", "code", {"command": ["train.py"], "python": "3.11.2"})
        record.add_value("histogram", "weights", [1.0, 2.0])
        record.add_value("text", "note", "text")
        record.record(0)
    page, _ = report(tmp_path, "./logarithm", language)
    assert raw_keys(page.text) == set()
    condition, reason = {
        "en": ("NaN or Inf in a tensor", r"NaN: \d+, Inf: \d+, elements: \d+"),
        "zh": ("张量含 NaN 或无穷", r"\d+ 个元素中有 \d+ 个 NaN、\d+ 个 Inf"),
    }[language]
    hits = [row for row in page.rows if row and row[0] == condition]
    assert hits
    assert [row for row in hits if not re.fullmatch(reason, row[-1])] == []


def test_the_rank_that_strays_is_in_the_report_of_its_job_in_chinese(tmp_path: Path) -> None:
    unpack("wrong_reduction", tmp_path)
    page, _ = report(tmp_path, "./wrong_reduction/rank_0", "zh")
    assert "Default/div_-op0 给卡 1 的结果与其他卡不同" in page.text
    assert "parameter.grad.div_(1 if wrong else world)" in page.text
    assert page.text.count("the gradients of rank 1 differ") == 6  # title and text for each rank


def test_a_run_without_faults_says_so_and_shows_its_curves_and_settings(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path / "run") as record:
        for step in range(300):
            record.add_value("scalar", "loss", 1 / (step + 1))
            record.record(step)
    page, _ = report(tmp_path, "./run")
    assert "No dump belongs to this run" in page.text
    assert "The training code raised no alerts." in page.text
    assert "loss: 300 points, steps 0 to 299, last value 0.00333333" in page.text
    assert "polyline" in page.tags


def test_scalars_that_are_not_finite_are_named_beside_the_alerts(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path / "run") as record:
        for step in range(20):
            record.add_value("scalar", "loss", float("nan") if step >= 15 else 1.0)
            record.add_value("scalar", "rate", float("-inf") if step == 3 else 1.0)
            record.add_value("scalar", "fine", 1.0)
            record.record(step)
    page, _ = report(tmp_path, "./run")
    assert "loss: 5 of 20 points are non-finite, the first at step 15 (NaN)." in page.text
    assert "rate: 1 of 20 points is non-finite, at step 3 (" in page.text
    assert "fine: 0" not in page.text


def test_what_was_damaged_or_recorded_again_is_said(tmp_path: Path) -> None:
    for first in (0, 5):
        with SummaryRecord(tmp_path / "run") as record:
            for step in range(first, first + 10):
                record.add_value("scalar", "loss", 1.0)
                record.record(step)
    newest = max((tmp_path / "run").glob("*.summary.*"))
    newest.write_bytes(newest.read_bytes()[:-5])
    page, _ = report(tmp_path, "./run")
    assert "5 values of loss at steps 5 to 9 no longer count" in page.text
    assert newest.name in page.text


def test_names_and_texts_of_files_stay_text(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path / "run") as record:
        record.add_value("scalar", HOSTILE, 1.0)
        record.record(1)
        record.alert(HOSTILE, HOSTILE, "error", 1)
    page, _ = report(tmp_path, "./run")
    assert {"script", "img"} & page.tags == set()
    assert page.text.count("<script>alert(2)</script>") >= 3


def test_a_dump_that_cannot_be_read_is_named_and_the_rest_is_there(tmp_path: Path) -> None:
    run = unpack("logarithm", tmp_path)
    step = run / "flight_dump" / "rank_0" / "Net" / "0" / "25"
    for file in step.glob("*.npy"):
        file.write_bytes(file.read_bytes()[:40])
    page, _ = report(tmp_path, "./logarithm")
    assert "Curves around step 25" in page.text
    assert "0 of " in page.text or "Unknown whether the tensors are finite" in page.text
    summary = Summary(tmp_path)
    source = ReportSource(summary.run("./logarithm"), summary.by_id(), summary.dump_path)
    shutil.rmtree(run / "flight_dump")
    gone = [part for part in make_report(source, "en") if isinstance(part, Page)]
    assert "./logarithm/flight_dump: " in gone[0].html


def test_a_curve_breaks_where_values_are_not_finite(tmp_path: Path) -> None:
    unpack("nan_in_data", tmp_path)
    summary = Summary(tmp_path)
    line = summary.run("./nan_in_data").scalars["loss"].line()
    curve = require(curve_of("loss", line, 25))
    assert (len(curve.segments), len(curve.broken), curve.points) == (1, 5, 30)
    assert require(curve.mark) == curve.broken[0]
    assert curve_of("loss", line.rows(slice(0, 0)), 25) is None


@pytest.mark.parametrize(("language", "state"), [("en", "failed"), ("zh", "失败")])
def test_the_error_that_ended_a_run_is_its_state(tmp_path: Path, language: str, state: str) -> None:
    with pytest.raises(ValueError, match="odd"), SummaryRecord(str(tmp_path / "a")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(0)
        raise ValueError("odd batch")
    page, _ = report(tmp_path, "./a", language)
    assert f"{state}: ValueError: odd batch" in page.text
