"""The ledger of fuzzing: what is next, what libFuzzer printed, and going on where the last call ended."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROTATE = runpy.run_path(str(Path(__file__).with_name("rotate.py")))
PRINTED = """
#2048	pulse  cov: 310 ft: 999 corp: 7/2Kb exec/s: 100 rss: 80Mb
#4000	DONE   cov: 412 ft: 1200 corp: 9/3Kb exec/s: 120 rss: 81Mb
stat::number_of_executed_units: 4001
stat::peak_rss_mb:              83
"""


def test_a_ledger_goes_on_and_new_readers_come_first(tmp_path: Path) -> None:
    path = tmp_path / "fuzzing.csv"
    ledger = ROTATE["read_ledger"](path, ["event", "json"])
    ROTATE["note"](ledger["event"], PRINTED, 59.6, 0)
    ROTATE["write_ledger"](path, ledger)
    again = ROTATE["read_ledger"](path, ["event", "json", "csv"])
    assert again["event"] == {
        "cpu_seconds": 60,
        "inputs": 4001,
        "branches": 412,
        "peak_mb": 83,
        "findings": 0,
        "inputs_since_new": 1,
    }
    assert ROTATE["next_reader"](again, ["event", "csv"]) == "csv"
    ROTATE["note"](again["event"], "#77\tNEW    cov: 9 ft: 1", 3, 1)
    assert (again["event"]["inputs"], again["event"]["branches"], again["event"]["findings"]) == (
        4078,
        412,
        1,
    )


def test_inputs_are_counted_since_the_last_new_branch() -> None:
    counts = dict.fromkeys(ROTATE["COLUMNS"][1:], 0) | {"branches": 300, "inputs_since_new": 5000}
    old = "#10\tINITED cov: 290 ft: 9\n#20\tNEW    cov: 300 ft: 12\n#1000\tDONE   cov: 300 ft: 12\n"
    ROTATE["note"](counts, old, 3, 0)
    assert (counts["branches"], counts["inputs_since_new"]) == (300, 6000)
    ROTATE["note"](counts, old.replace("cov: 300", "cov: 301"), 3, 0)
    assert (counts["branches"], counts["inputs_since_new"]) == (301, 980)


def test_a_ledger_of_before_that_column_is_read(tmp_path: Path) -> None:
    path = tmp_path / "fuzzing.csv"
    path.write_text("reader,cpu_seconds,inputs,branches,peak_mb,findings\nevent,579,421274,811,1009,0\n")
    assert ROTATE["read_ledger"](path, [])["event"] == dict(
        zip(ROTATE["COLUMNS"][1:], (579, 421274, 811, 1009, 0, 0), strict=True)
    )


def test_the_table_of_the_documents_is_the_ledger() -> None:
    """If it is not: python tests/fuzz/rotate.py --minutes 0 --ledger ... --document"""
    results = ROTATE["DOCUMENT"].parents[1] / "benchmarks" / "results" / "fuzzing.csv"
    assert ROTATE["table"](ROTATE["read_ledger"](results, [])) in ROTATE["DOCUMENT"].read_text()


def test_only_the_table_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("Before.\n\n| Reader | x |\n| --- | --- |\n| old | 1 |\n\nAfter.\n\n| a |\n")
    ledger = {"csv": dict.fromkeys(ROTATE["COLUMNS"][1:], 1234)}
    ROTATE["document"](ledger, path)
    assert path.read_text() == f"Before.\n\n{ROTATE['table'](ledger)}\nAfter.\n\n| a |\n"
    assert "| csv | 1 234 |" in path.read_text()


def test_findings_are_the_inputs_that_broke_the_reader(tmp_path: Path) -> None:
    for name in ("event-crash-1", "event-slow-unit-2", "json-timeout-3", "event-oom-4"):
        (tmp_path / name).touch()
    assert ROTATE["findings"](tmp_path, "event") == {"event-crash-1", "event-oom-4"}


@pytest.mark.parametrize(("new", "code"), [(0, 0), (1, 1)])
def test_a_stated_time_is_divided_among_the_readers_and_a_finding_is_the_exit_code(
    new: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a job of each night calls it, with a ledger and a corpus that it keeps."""
    clock, slices = [0.0], []

    def explore(reader: str, corpus: Path, seconds: int) -> tuple[str, float, int]:
        assert corpus.is_dir()
        slices.append((reader, seconds))
        clock[0] += seconds
        return PRINTED, float(seconds), new

    inside = ROTATE["main"].__globals__
    monkeypatch.setitem(inside, "explore", explore)
    monkeypatch.setattr(inside["time"], "monotonic", lambda: clock[0])
    arguments = ["--minutes=5", "--slice=120", f"--ledger={tmp_path / 'ledger.csv'}"]
    monkeypatch.setattr(
        sys, "argv", ["rotate.py", *arguments, f"--corpus={tmp_path / 'corpus'}", "npy", "ir"]
    )
    monkeypatch.setattr(
        inside["subprocess"], "run", lambda *command, **how: SimpleNamespace(stdout="npy\nir")
    )
    with pytest.raises(SystemExit) as ended:
        ROTATE["main"]()
    assert ended.value.code == code
    assert slices == [("npy", 120), ("ir", 120), ("npy", 60)]
