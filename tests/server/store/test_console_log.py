"""Lines of a console around a place or a time, of few bytes, whatever the files hold."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from mindinsight.server.store import console_log
from mindinsight.server.store.console_log import Line, Part

Write = Callable[..., list[Part]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """write(lines, ..., start=bytes left out before each part) -> the parts."""

    def made(*parts: list[str], numbers: list[int] | None = None) -> list[Part]:
        written = 0
        for number, lines in zip(numbers or itertools.count(), parts, strict=False):
            text = "".join(f"{line}\n" for line in lines)
            path = tmp_path / f"console.1000.77.{number:04}.log"
            path.write_text(
                f"# mindinsight console 1 {written if numbers is None else number * 1000}\n{text}"
            )
            written += len(text)
        return console_log.parts_in(str(tmp_path))

    return made


def numbered(first: int, last: int) -> list[str]:
    return [f"{1000 + i}.000 o line {i}" for i in range(first, last)]


def texts(lines: list[Line]) -> list[str]:
    return [line.text for line in lines]


def everything(parts: list[Part]) -> list[Line]:
    return console_log.lines_after(parts, 0, 0, 100_000)


def test_lines_have_time_mark_and_text(write: Write) -> None:
    parts = write(["1000.500 o one", "1001.000 e two", "1002.250 b three", "1003.000 x 12", "1004.000 o "])
    lines = everything(parts)
    assert [(line.time, line.mark, line.text) for line in lines] == [
        (1000.0, "start", "77"),
        (1000.5, "o", "one"),
        (1001.0, "e", "two"),
        (1002.25, "b", "three"),
        (1003.0, "x", "12"),
        (1004.0, "o", ""),
    ]


@pytest.mark.parametrize("count", [1, 7, 100, 1000])
def test_forward_and_backward_show_the_same_lines(
    write: Write, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_log, "_WINDOW", 1000)
    parts = write(numbered(0, 300), numbered(300, 301), [], numbered(301, 500))
    whole = [f"line {i}" for i in range(500)]
    assert texts(everything(parts)) == ["77", *whole]
    assert (
        texts(console_log.lines_before(parts, len(parts) - 1, parts[-1].size, count))[-count:]
        == (["77", *whole][-count:])
    )
    gathered: list[str] = []
    position = (0, 0)
    while lines := console_log.lines_after(parts, *position, count):
        gathered += texts(lines)
        position = lines[-1].part, lines[-1].end
    assert gathered == ["77", *whole]


def test_a_state_that_was_printed_over_is_left_out(write: Write) -> None:
    rows = ["1000.000 O 10 %", "1003.000 O 20 %", "1004.000 e warning", "1006.000 o 30 %", "1009.000 O 5 %"]
    lines = everything(write(rows))
    assert [(line.text, line.open) for line in lines[1:]] == [
        ("warning", False),
        ("30 %", False),
        ("5 %", True),
    ]


def test_what_was_left_out_between_parts_is_counted(write: Write) -> None:
    parts = write(numbered(0, 3), numbered(3, 6), numbered(90, 93), numbers=[0, 1, 9])
    missing = [9000 - 1000 - (parts[1].size - parts[1].head), 1000 - (parts[0].size - parts[0].head)]
    assert [(line.mark, line.text) for line in everything(parts) if line.mark != "o"] == [
        ("start", "77"),
        ("gap", str(missing[1])),
        ("gap", str(missing[0])),
    ]


def test_parts_of_several_processes_come_in_the_order_of_their_starts(tmp_path: Path) -> None:
    for start, process in ((2000, 5), (1000, 9)):
        head = "# mindinsight console 1 0\n"
        (tmp_path / f"console.{start}.{process}.0000.log").write_text(f"{head}{start}.000 o by {process}\n")
    (tmp_path / "console.txt").write_text("another file")
    (tmp_path / "console.1.2.3.log").mkdir()
    lines = everything(console_log.parts_in(str(tmp_path)))
    assert [(line.mark, line.text) for line in lines] == [
        ("start", "9"),
        ("o", "by 9"),
        ("start", "5"),
        ("o", "by 5"),
    ]


@pytest.mark.parametrize(
    ("time", "text"),
    [(0.0, "line 0"), (1000.0, "line 0"), (1000.5, "line 1"), (1250.0, "line 250"), (1499.0, "line 499")],
)
def test_a_time_leads_to_its_line(
    write: Write, time: float, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_log, "_NEAR", 200)
    parts = write(numbered(0, 200), numbered(200, 500))
    position = console_log.place_of_time(parts, time)
    lines = [line for line in console_log.lines_after(parts, *position, 2) if line.mark == "o"]
    assert lines[0].text == text


def test_a_time_after_the_last_line_leads_to_the_end(write: Write) -> None:
    parts = write(numbered(0, 10))
    assert console_log.lines_after(parts, *console_log.place_of_time(parts, 5000.0), 10) == []


def test_a_search_goes_on_where_it_stopped(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_log, "_WINDOW", 100)
    rows = [f"{1000 + i}.000 o {'ERROR' if i % 10 == 3 else 'fine'} {i}" for i in range(100)]
    parts = write(rows[:50], rows[50:])
    position: tuple[int, int] | None = (0, 0)
    gathered: list[str] = []
    rounds = 0
    while position is not None:
        lines, position = console_log.found_lines(parts, "error", *position, count=2)
        gathered += texts(lines)
        rounds += 1
    assert gathered == [f"ERROR {i}" for i in range(3, 100, 10)]
    assert rounds > 2


@pytest.mark.parametrize("count", [1, 3, 10, 11])
def test_a_search_returns_no_more_lines_than_asked_for(write: Write, count: int) -> None:
    parts = write([f"{1000 + i}.000 o same {i}" for i in range(10)])
    position: tuple[int, int] | None = (0, 0)
    gathered: list[str] = []
    while position is not None:
        lines, position = console_log.found_lines(parts, "same", *position, count)
        assert len(lines) <= count
        gathered += texts(lines)
    assert gathered == [f"same {i}" for i in range(10)]


def test_a_search_passes_over_times_and_marks_and_patterns(write: Write) -> None:
    parts = write(["1000.000 o a.c", "1001.000 o abc", "1002.000 O 1000.000"])
    assert texts(console_log.found_lines(parts, "a.c", 0, 0, 10)[0]) == ["a.c"]
    assert console_log.found_lines(parts, "1000.000", 0, 0, 10) == ([], None)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"# mindinsight console 1 0\n",
        b"no head, and no line either",
        b"\x00" * 100_000,
        b"# mindinsight console 1 0\n1000.000 o torn",
        b"# mindinsight console 1 99999999999999999999\n1000.000 o \xff\xfe\n",
        b"x" * 600_000 + b"\n1000.000 o after a long line\n",
    ],
)
def test_any_content_is_read_without_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "console.1000.77.0000.log").write_bytes(content)
    parts = console_log.parts_in(str(tmp_path))
    lines = everything(parts)
    assert lines[:1] == [] or lines[0].mark in ("start", "torn", "o")
    before = console_log.lines_before(parts, 0, parts[0].size, 100)
    assert len(before) <= 100
    console_log.place_of_time(parts, 1000.0)
    console_log.found_lines(parts, "after", 0, 0, 10)
