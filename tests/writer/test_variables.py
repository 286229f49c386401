"""What MindSpore's variables switch on is loaded only then."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from mindinsight.writer import variables


def test_nothing_is_loaded_without_a_variable(tmp_path: Path) -> None:
    program = """
import sys
from mindinsight.writer import SummaryRecord
with SummaryRecord(sys.argv[1]) as record:
    record.add_value("scalar", "loss", 0.5)
    record.record(1)
optional = ("log", "recorder", "graph", "operators")
print([name for name in optional if f"mindinsight.writer.{name}" in sys.modules])
"""
    shown = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": ""},
    )
    assert shown.stdout == "[]\n"


def test_a_wrong_value_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GLOG_v", "loud")
    with caplog.at_level(logging.WARNING):
        variables.configure_logging()
    assert "GLOG_v must be a number, 0 to 4, got 'loud'" in caplog.text


def test_the_data_recorder_runs_when_its_variable_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr("mindinsight.writer.recorder.leave_if_asked", lambda run, error: calls.append(error))
    monkeypatch.delenv("MS_RDR_ENABLE", raising=False)
    error = ValueError("nan")
    variables.run_data_recorder(object(), error)  # type: ignore[arg-type]
    monkeypatch.setenv("MS_RDR_ENABLE", "1")
    variables.run_data_recorder(object(), error)  # type: ignore[arg-type]
    assert calls == [error]
