"""Tables, JSON and progress."""

import io
import json
import math
import sys

import pytest

from mindinsight.server.commands import terminal


def test_a_table_sets_numbers_right_and_names_left() -> None:
    assert (
        terminal.table(("NAME", "N"), [("a", 1), ("bcdef", 1000.0)])
        == "NAME      N\na         1\nbcdef  1000"
    )


def test_names_cannot_break_lines_or_colours() -> None:
    assert terminal.cell("a\nb\x1b[31m\u202e") == "a\\nb\\x1b[31m\\u202e"
    assert terminal.cell("é中") == "é中"
    assert terminal.cell(None) == "-"
    assert terminal.cell(1 / 3) == "0.333333"


def test_a_narrow_terminal_costs_names_their_beginning() -> None:
    text = terminal.table(("NAME", "N"), [("Default/" * 9 + "end", 7)], width=30)
    assert [len(line) for line in text.splitlines()] == [30, 30]
    assert text.endswith("end  7")


def test_json_is_strict() -> None:
    text = terminal.as_json({"a": [math.nan, math.inf, 1.5], "b": (1, None)})
    assert json.loads(text, parse_constant=lambda name: 1 / 0) == {"a": ["nan", "inf", 1.5], "b": [1, None]}


def test_progress_passes_on_and_speaks_only_to_people(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(terminal.progress(range(3), 3, "read")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Screen())
    clock = iter(range(0, 100, 2))
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))  # type: ignore[attr-defined]
    assert list(terminal.progress(range(3), 3, "read")) == [0, 1, 2]
    assert sys.stderr.getvalue() == "\rread: 1 of 3\rread: 2 of 3\rread: 3 of 3\n"  # type: ignore[union-attr]


ODD = "a\x1b[31m\x9b2J\u202e\ud800\x7f"


def test_what_a_terminal_would_obey_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say(f"{ODD}\nsecond")
    assert capsys.readouterr().err == "a\\x1b[31m\\x9b2J\\u202e\\ud800\\x7f\nsecond\n"
    text = terminal.as_json({"tag": ODD})
    assert text.replace("\n", "").isprintable()
    assert json.loads(text) == {"tag": ODD}


def test_text_is_written_as_it_is_unless_somebody_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.write("a\x1b,1\r\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    terminal.write("a\x1b,1\r\n")
    assert capsys.readouterr().out == "a\x1b,1\r\na\\x1b,1\r\n"
