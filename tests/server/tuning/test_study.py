"""The last lines of a training's output: few, short, and whatever bytes they are made of."""

from pathlib import Path

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.tuning.study import last_lines, lock_journal, marked_processes


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b" \n\n", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"10%\r50%\r100%\nend", ["100%", "end"]),  # a progress bar
        (b"a\r\nb\r\n", ["", "b"]),
        (b"\xff\n", ["�"]),
    ],
)
def test_lines_are_those_a_terminal_would_show(tmp_path: Path, content: bytes, expected: list[str]) -> None:
    log = tmp_path / "log"
    log.write_bytes(content)
    assert last_lines(log) == expected


def test_of_a_long_output_only_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n" for number in range(1000)))
    assert last_lines(log, lines=2) == ["line 998", "line 999"]
    assert sum(map(len, last_lines(log, lines=10_000, size=100))) <= 100


def test_without_an_output_there_are_no_lines(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "none") == []


def test_a_mark_that_nobody_has_marks_no_process() -> None:
    assert marked_processes("no such mark") == []


def test_only_a_lock_that_is_held_makes_a_study_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = tmp_path / "studies" / "s.journal"
    with pytest.raises(TimeoutError, match="a slow disk"), lock_journal(journal):
        raise TimeoutError("a slow disk")
    monkeypatch.setattr("mindinsight.server.tuning.study._LOCK_WAIT", 0.01)
    with lock_journal(journal), pytest.raises(BadSettings), lock_journal(journal):
        pass
