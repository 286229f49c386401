import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.process import logs
from mindinsight.server.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("GLOG_v", "GLOG_log_dir", "GLOG_logtostderr", "GLOG_stderrthreshold"):
        monkeypatch.delenv(name, raising=False)
    root = logging.getLogger()
    before = (root.level, root.handlers[:])
    yield Settings(tmp_path / "base", tmp_path / "workspace", port=1234)
    for handler in root.handlers[:]:
        if handler not in before[1]:
            handler.close()
    root.level, root.handlers = before[0], before[1]


def test_a_line_says_who_when_where_and_what(settings: Any) -> None:
    path = logs.configure(settings)
    logging.getLogger("store").warning("lost %s", "x")
    assert path == settings.workspace / "log" / "mindinsight.1234.log"
    line = path.read_text()
    assert line.startswith("[WARNING] MI(")
    assert line.endswith("] lost x\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(("level", "words"), [("0", ["fine", "so-so", "bad"]), ("2", ["bad"]), ("3", [])])
def test_the_level_is_glogs(settings: Any, monkeypatch: pytest.MonkeyPatch, level: str, words: Any) -> None:
    monkeypatch.setenv("GLOG_v", level)
    path = logs.configure(settings)
    log = logging.getLogger("store")
    log.debug("fine")
    log.info("so-so")
    log.warning("bad")
    assert [line.split()[-1] for line in path.read_text().splitlines()] == words


def test_the_folder_is_glogs(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path / "elsewhere"))
    assert logs.configure(settings).parent == tmp_path / "elsewhere"


def test_files_are_rolled_over(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("logger_maxBytes", "500")
    monkeypatch.setenv("logger_backupCount", "2")
    path = logs.configure(settings)
    for number in range(50):
        logging.getLogger("store").info("line %d", number)
    names = sorted(entry.name for entry in path.parent.iterdir())
    assert names == ["mindinsight.1234.log", "mindinsight.1234.log.1", "mindinsight.1234.log.2"]
    assert all(stat.S_IMODE((path.parent / name).stat().st_mode) == 0o600 for name in names)


def test_names_from_files_cannot_make_lines(settings: Any) -> None:
    path = logs.configure(settings)
    logging.getLogger("store").warning("tag %s", "a\n[ERROR] MI(1): forged\r")
    assert len(path.read_text().splitlines()) == 1


def test_a_repeated_fault_is_said_a_few_times_and_counted(
    settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = logs.configure(settings)
    now = [100.0]
    monkeypatch.setattr(logs.time, "monotonic", lambda: now[0])  # type: ignore[attr-defined]
    for number in range(1000):
        if number == 999:
            now[0] += logs.REPEAT_SECONDS
        logging.getLogger("store").error("cannot read %d", number)
    lines = path.read_text().splitlines()
    assert len(lines) == logs.REPEATS + 1
    assert lines[-1].endswith("cannot read 999 (994 more from here were not written)")
    assert capsys.readouterr().err.count("more from here") == 1


def test_errors_are_on_the_screen_until_the_server_has_started(
    settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.configure(settings)
    logging.getLogger("store").error("early")
    logs.leave_screen()
    logging.getLogger("store").error("late")
    shown = capsys.readouterr().err
    assert "early" in shown
    assert "late" not in shown
