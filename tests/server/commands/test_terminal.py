"""Tables, JSON and progress."""

import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.commands import terminal
from mindinsight.server.commands.terminal import describe_reason, localize, report_damage, report_errors
from mindinsight.server.errors import BadSettings
from mindinsight.server.formats.dumps.dump_types import FileDamage
from mindinsight.server.formats.read_limits import UnreadableError
from tests.server.commands.conftest import VERSION, written
from tests.server.formats.tensorboard.conftest import Messages


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


@pytest.fixture
def locale(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """locale(LANG="zh_CN") sets these variables of the locale and no others."""

    def setter(**variables: Any) -> None:
        for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    setter()
    return setter


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"LANG": "en_GB.UTF-8"}, "the file is truncated"),
        ({"LANG": "zh_CN.UTF-8"}, "文件不完整"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "the file is truncated"),
        ({"LC_MESSAGES": "zh_TW"}, "文件不完整"),
        ({}, "the file is truncated"),
    ],
)
def test_damage_is_reported_in_the_language_of_the_terminal(
    locale: Callable[..., Any], capsys: pytest.CaptureFixture[str], variables: Any, text: str
) -> None:
    locale(**variables)
    report_damage([FileDamage("a.npy", "dump.truncated", "10 of 20 bytes")])
    colon = ": " if text.isascii() else "："
    assert capsys.readouterr().err == f"a.npy{colon}{text} (10 of 20 bytes)\n"


def test_a_reason_without_a_text_is_printed_as_it_is(locale: Callable[..., Any]) -> None:
    assert describe_reason("no.such.reason", "detail") == "no.such.reason (detail)"


def test_names_in_messages_cannot_control_the_terminal(
    locale: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    report_damage([FileDamage("a\x1b[31m.npy", "dump.truncated", "b\nc")])
    assert capsys.readouterr().err == "a\\x1b[31m.npy: the file is truncated (b\\nc)\n"
    assert "\\x1b" in localize("claim.fault.made", {"operator": "\x1b[31m", "tensor": "t", "slot": "0"})


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (UnreadableError("dump.truncated", "a.npy"), "mindinsight: the file is truncated (a.npy)\n"),
        (ValueError("no rank 3"), "mindinsight: no rank 3\n"),
        (BadSettings("the package dask is missing"), "mindinsight: the package dask is missing\n"),
        (
            PermissionError(13, "Permission denied", "out"),
            "mindinsight: out: Permission denied\n",
        ),
    ],
)
def test_errors_in_the_input_are_one_line_and_exit_code_2(
    locale: Callable[..., Any], capsys: pytest.CaptureFixture[str], error: Any, message: str
) -> None:
    def command(options: Any) -> None:
        raise error

    assert report_errors(command)(None) == 2  # type: ignore[arg-type]
    assert capsys.readouterr().err == message


def test_other_errors_and_closed_pipes_are_raised() -> None:
    for error in (BrokenPipeError(), KeyError("a bug")):

        def command(options: Any, error: Any = error) -> None:
            raise error

        with pytest.raises(type(error)):
            report_errors(command)(None)  # type: ignore[arg-type]


DATA = Path(__file__).parents[2] / "data" / "events"


def test_a_run_that_ends_in_an_unfinished_record_is_named_and_no_other(run: Any, tmp_path: Path) -> None:
    whole, cut, growing = (
        written(tmp_path / name, age) for name, age in (("a", 9_000), ("b", 9_000), ("c", 0))
    )
    for path in (cut, growing):
        path.write_bytes(path.read_bytes()[:-5])
    code, out, err = run("ls", "--summary-dir", tmp_path)
    assert code == 1
    assert [line.split()[1:4] for line in out.splitlines()[2:3]] == [["stopped,", "unfinished", "record"]]
    assert err.splitlines() == [f"unfinished: ./b/{cut.name} ends in 37 bytes of an incomplete record"]
    _, out, _ = run("ls", "--summary-dir", tmp_path, "--json")
    assert [(row["unfinished"], row["damage"]) for row in json.loads(out)] == [
        ([], 0),
        ([cut.name], 0),
        ([], 0),
    ]
    cut.unlink()
    growing.unlink()
    assert run("ls", "--summary-dir", tmp_path)[::2] == (0, "")
    assert whole.exists()


def test_wrong_checksums_everywhere_are_said(run: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a", 9_000)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    content[len(VERSION) - 1] ^= 1
    path.write_bytes(content)
    code, out, err = run("ls", "--summary-dir", tmp_path)
    assert code == 1
    assert "stopped, 2 damaged" in out
    (line,) = err.splitlines()
    assert line.startswith(f"skipped 2 sections ({len(content)} bytes) of ./a/{path.name}: ")


def test_damage_is_counted(run: Any) -> None:
    _, out, _ = run("ls", "--summary-dir", DATA / "damaged", "--runs", "./flip_body_crc", "--json")
    assert json.loads(out)[0]["damage"] == 1


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en_GB.UTF-8", "2 integers above 2^53 were rounded to the nearest double"),
        ("zh_CN.UTF-8", "2 个绝对值大于 2^53 的整数已舍入为最接近的双精度浮点数"),
    ],
)
@pytest.mark.parametrize("command", [["ls"], ["get", "*", "tokens"]])
def test_rounded_integers_are_said_and_are_no_damage(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], language: str, text: str
) -> None:
    tf = Messages()
    rows = [
        tf.record(step, tf.tensor("tokens", 9, [], tf.field(10, number), plugin=tf.plugin("scalars")))
        for step, number in enumerate((2**53, 2**53 + 1, -(2**53) - 1))
    ]
    path = tmp_path / "a" / "events.out.tfevents.1700000000.host.1.0"
    path.parent.mkdir()
    path.write_bytes(b"".join(rows))
    monkeypatch.setenv("LC_ALL", language)
    colon = "：" if language.startswith("zh") else ": "
    code, _, err = run(*command, "--summary-dir", tmp_path)
    assert (code, err.splitlines()[0]) == (0, f"./a/{path.name}{colon}{text}")


def test_columns_line_up_where_characters_are_wide_or_combine() -> None:
    """A terminal shows a Chinese character in two columns, and an accent in none."""
    names = ["中文名", "e\u0301a", "abcdefgh"]
    lines = terminal.table(("RUN", "STATE"), [(name, "x") for name in names]).splitlines()
    assert lines == ["RUN       STATE", "中文名    x", "e\u0301a        x", "abcdefgh  x"]
    narrow = terminal.table(("RUN", "STATE"), [("中" * 30, "x")], width=30).splitlines()[1]
    assert narrow == f"…{'中' * 11}  x"
