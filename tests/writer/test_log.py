"""Messages go where the variables say."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.log import LogSettings, configure
from mindinsight.writer.record import SummaryRecord


def ours(name: Any) -> list[Any]:
    """The logger's handlers that configure() made; pytest has some of its own."""
    handlers = logging.getLogger(name).handlers
    return [handler for handler in handlers if handler.get_name() == "mindinsight.writer.log"]


@pytest.fixture
def name() -> Iterator[Any]:
    """A logger of the test's own."""
    name = "test of mindinsight.writer.log"
    yield name
    logger = logging.getLogger(name)
    for handler in ours(name):
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = True


@pytest.fixture
def directory(tmp_path: Path) -> Any:
    """Below a path that GLOG_log_dir may name; pytest's own are of such letters."""
    return tmp_path / "logs_of-run"


def say_one_of_each(name: Any) -> None:
    logger = logging.getLogger(name)
    for level in ("debug", "info", "warning", "error", "critical"):
        getattr(logger, level)("a %s message", level)


def levels(text: Any) -> list[Any]:
    return [line.partition("]")[0].lstrip("[") for line in text.splitlines()]


@pytest.mark.parametrize(("value", "count"), [("0", 5), ("1", 4), ("2", 3), ("3", 2), ("4", 1)])
def test_the_level_decides_what_is_shown(
    name: Any, capsys: pytest.CaptureFixture[str], value: str, count: int
) -> None:
    configure({"GLOG_v": value}, name)
    say_one_of_each(name)
    shown = levels(capsys.readouterr().err)
    assert shown == ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"][-count:]


def test_a_line_tells_process_time_and_place(name: Any, capsys: pytest.CaptureFixture[str]) -> None:
    configure({"GLOG_v": "1"}, name)
    logging.getLogger(name).info("hello")
    line = capsys.readouterr().err
    assert line.startswith(f"[INFO] {name}({os.getpid()},MainProcess):")
    assert "[test_log.py:" in line
    assert line.endswith("] hello\n")


def test_without_a_variable_nothing_is_changed(name: Any) -> None:
    configure({"PATH": "/bin"}, name)
    assert ours(name) == []
    assert logging.getLogger(name).propagate


def test_files_are_by_rank_and_process_and_the_screen_shows_the_worst(
    name: Any, capsys: pytest.CaptureFixture[str], directory: Any
) -> None:
    environment = {
        "GLOG_logtostderr": "0",
        "GLOG_log_dir": str(directory),
        "GLOG_v": "1",
        "GLOG_stderrthreshold": "3",
        "RANK_ID": "2",
        "RANK_SIZE": "4",
    }
    configure(environment, name)
    say_one_of_each(name)
    path = directory / "rank_2" / "logs" / f"mindinsight.log.{os.getpid()}"
    assert levels(path.read_text()) == ["INFO", "WARNING", "ERROR", "CRITICAL"]
    assert levels(capsys.readouterr().err) == ["ERROR", "CRITICAL"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_is_rolled_over_and_the_oldest_are_dropped(name: Any, directory: Any) -> None:
    environment = {"GLOG_logtostderr": "0", "GLOG_log_dir": str(directory), "GLOG_stderrthreshold": "4"}
    configure({**environment, "logger_maxBytes": "300", "logger_backupCount": "2"}, name)
    for number in range(40):
        logging.getLogger(name).warning("message %d", number)
    files = sorted((directory / "rank_0" / "logs").iterdir())
    assert [path.name.rpartition(".")[2] for path in files] == [str(os.getpid()), "1", "2"]
    assert all(path.stat().st_size <= 300 for path in files)
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert "message 39" in files[0].read_text()


def test_configuring_again_replaces_what_was_there(name: Any, capsys: pytest.CaptureFixture[str]) -> None:
    configure({"GLOG_v": "0"}, name)
    configure({"GLOG_v": "3"}, name)
    say_one_of_each(name)
    assert levels(capsys.readouterr().err) == ["ERROR", "CRITICAL"]


def test_the_defaults_are_mindspores() -> None:
    settings = LogSettings.of({})
    assert settings == LogSettings(logging.WARNING, None, logging.WARNING, 52428800, 30)


@pytest.mark.parametrize(
    ("wrong", "variable"),
    [
        ({"GLOG_v": "5"}, "GLOG_v"),
        ({"GLOG_v": "info"}, "GLOG_v"),
        ({"GLOG_logtostderr": "yes"}, "GLOG_logtostderr"),
        ({"GLOG_stderrthreshold": "-1"}, "GLOG_stderrthreshold"),
        ({"logger_maxBytes": "50MB"}, "logger_maxBytes"),
        ({"GLOG_logtostderr": "0", "GLOG_log_dir": "/a b"}, "GLOG_log_dir"),
        ({"GLOG_logtostderr": "0"}, "GLOG_log_dir"),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable(name: Any, wrong: Any, variable: str) -> None:
    with pytest.raises(ValueError, match=variable):
        configure(wrong, name)
    assert ours(name) == []


def test_a_recorder_heeds_the_variables_and_survives_wrong_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    configured = []
    monkeypatch.setattr("mindinsight.writer.log.configure", lambda: configured.append("yes"))
    SummaryRecord(tmp_path).close()
    assert configured == []
    monkeypatch.setenv("GLOG_v", "9")
    SummaryRecord(tmp_path).close()
    assert configured == ["yes"]
    monkeypatch.undo()
    monkeypatch.setenv("GLOG_v", "9")
    SummaryRecord(tmp_path).close()
    assert "GLOG_v must be a number, 0 to 4, got '9'" in caplog.text
