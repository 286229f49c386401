"""Levels of console lines by their words, with tracebacks as a whole."""

from pathlib import Path

import pytest

from mindinsight.server.store import console_levels, console_log
from mindinsight.server.store.console_levels import LevelScanner, leveled_lines, levels_of
from mindinsight.server.store.console_log import Line, Part

TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "loader.py", line 31, in read',
    "    raise OSError('short read')",
    "OSError: short read",
]


def line(text: str, mark: console_log.Mark = "e") -> Line:
    return Line(1000.0, mark, text, 0, 0)


def written(folder: Path, *texts: str) -> list[Part]:
    rows = "".join(f"1000.000 {text[:1]} {text[2:]}\n" for text in texts)
    (folder / "console.1000.7.0000.log").write_text(f"# mindinsight console 1 0\n{rows}")
    return console_log.parts_in(str(folder))


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("2026-11-29 ERROR cannot read the data", "error"),
        ("\x1b[31mERROR\x1b[0m out of memory", "error"),
        ("RuntimeError: CUDA out of memory.", "error"),
        ("WARNING: loss spike", "warning"),
        ("x.py:3: UserWarning: deprecated", "warning"),
        ("step 60 loss nan", "nan"),
        ("0 errors, 0 failed tests in the sanity check", ""),
        ("metric error_rate=0.031 (top-1 error)", ""),
        ("banana finance, an ErrorHandler", ""),
    ],
)
def test_words_of_a_line(text: str, level: str) -> None:
    assert LevelScanner().level_of(line(text)) == level


@pytest.mark.parametrize("prefix", ["", "[rank0]: "])
def test_a_traceback_is_one_error_up_to_its_exception(prefix: str) -> None:
    scanner = LevelScanner()
    levels = [scanner.level_of(line(prefix + text)) for text in [*TRACEBACK, "retry 1 succeeded"]]
    assert levels == ["error", "trace", "trace", "trace", ""]


def test_another_stream_neither_ends_nor_joins_a_traceback() -> None:
    scanner = LevelScanner()
    lines = [line(text) for text in TRACEBACK]
    lines[2:2] = [line("  step 7", "o"), line("step 8", "o")]
    assert [scanner.level_of(item) for item in lines] == ["error", "trace", "", "", "trace", "trace"]


def test_a_cut_traceback_ends_before_the_next_line() -> None:
    scanner = LevelScanner()
    lines = [*TRACEBACK[:3], "step 9 done", "OSError: other"]
    assert [scanner.level_of(line(text)) for text in lines] == ["error", "trace", "trace", "", "error"]


def test_lines_that_begin_within_a_traceback_belong_to_it(tmp_path: Path) -> None:
    parts = written(tmp_path, *(f"e {text}" for text in TRACEBACK), "o step")
    lines = console_log.lines_after(parts, 0, 0, 10)[2:]
    assert levels_of(parts, lines) == ["trace", "trace", "trace", ""]
    assert levels_of(parts, []) == []


def test_all_lines_with_a_level_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["o begun", "e WARNING: slow", *(f"e {text}" for text in TRACEBACK), "O 5 % ERROR", "o loss nan"]
    parts = written(tmp_path, *texts)
    marked = [(item.text, level) for item, level in leveled_lines(parts, 0, 0)]
    expected = [("WARNING: slow", "warning"), (TRACEBACK[0], "error")]
    expected += [(text, "trace") for text in TRACEBACK[1:]]
    assert marked == [*expected, ("loss nan", "nan")]
    monkeypatch.setattr(console_log, "_WINDOW", 80)  # a traceback over several sections
    assert [(item.text, level) for item, level in leveled_lines(parts, 0, 0)] == marked
    monkeypatch.setattr(console_levels, "SEARCHED", 60)
    *some, (rest, level) = leveled_lines(parts, 0, 0)
    assert (rest.mark, level) == ("gap", "")
    later = [(item.text, known) for item, known in leveled_lines(parts, rest.part, rest.offset)]
    assert len(some) < len(marked)
    assert later
