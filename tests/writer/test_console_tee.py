"""Files of lines: what becomes of carriage returns, long lines and a disk that is full."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import console_tee


def lines_in(directory: Path) -> list[str]:
    texts = [path.read_text() for path in sorted(directory.glob("p.*.log"))]
    return [line.partition(" ")[2] for text in texts for line in text.splitlines()[1:] if line]


@pytest.fixture
def files(tmp_path: Path) -> Any:
    made = console_tee.Files(str(tmp_path / "p"), 1 << 20, [], 32)
    yield made
    made.close()


@pytest.fixture
def stream() -> Any:
    """A stream whose input the test writes, and whose output goes nowhere."""
    source, entry = os.pipe()
    target = os.open(os.devnull, os.O_WRONLY)
    stream = console_tee.Stream(source, target, "o")
    stream.entry = entry  # type: ignore[attr-defined]
    yield stream
    for descriptor in (source, entry, target):
        os.close(descriptor)


def fed(stream: Any, files: Any, *pieces: bytes) -> None:
    for piece in pieces:
        os.write(stream.entry, piece)
        assert stream.pass_on(files)


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ((b"one\ntwo\n",), ["o one", "o two"]),
        ((b"o", b"ne\nt", b"wo\n"), ["o one", "o two"]),
        ((b"windows\r\n",), ["o windows"]),
        ((b"10 %\r", b"20 %\r", b"30 %\r\n"), ["o 30 %"]),
        ((b"\r10 %", b"\r20 %", b"\n"), ["o 20 %"]),
        ((b"\n\n",), ["o ", "o "]),
        ((b"\xff\n",), ["o \udcff"]),
        ((b"x" * 20000 + b"\n",), ["o " + "x" * 16384, "o " + "x" * 3616]),
    ],
)
def test_lines_are_what_a_terminal_shows(
    tmp_path: Path, files: Any, stream: Any, pieces: tuple[bytes, ...], lines: list[str]
) -> None:
    fed(stream, files, *pieces)
    stream.finish(files)
    text = (tmp_path / "p.0000.log").read_bytes().decode("utf-8", "surrogateescape")
    assert [line.partition(" ")[2] for line in text.splitlines()[1:]] == lines


def test_the_state_of_a_progress_bar_is_written_now_and_then(
    tmp_path: Path, files: Any, stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    for second in range(10):
        fed(stream, files, b"\r%d %%" % (10 * second))
        stream.show(files)
        now += 1.0
    fed(stream, files, b"\rdone\n")
    assert lines_in(tmp_path) == ["O 30 %", "O 60 %", "O 90 %", "o done"]


def test_nothing_is_written_twice_of_a_line_that_stands(
    tmp_path: Path, files: Any, stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "time", lambda: now)
    fed(stream, files, b"waiting")
    for _ in range(20):
        now += 1.0
        stream.show(files)
    assert lines_in(tmp_path) == ["O waiting"]
    assert not stream.waits()


def test_lines_are_counted_while_the_disk_is_full(
    tmp_path: Path, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, is_full = os.write, False

    def limited(descriptor: int, data: bytes) -> int:
        if is_full:
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", limited)
    files.write(1000.0, b"o", [b"before"])
    is_full = True
    for second in range(5):
        files.write(1001.0 + second, b"o", [b"lost"])
    is_full = False
    files.write(1006.0, b"o", [b"lost, too: the next attempt is later"])
    files.write(1012.0, b"o", [b"after"])
    files.write(1013.0, b"o", [b"and so on"])
    assert lines_in(tmp_path) == ["o before", "x 6", "o after", "o and so on"]


def test_what_was_torn_by_a_full_disk_does_not_spoil_the_next_line(
    tmp_path: Path, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, left = os.write, 8

    def limited(descriptor: int, data: bytes) -> int:
        nonlocal left
        if left <= 0:
            raise OSError(28, "No space left on device")
        count = write(descriptor, data[:left])
        left -= count
        return count

    monkeypatch.setattr(os, "write", limited)
    files.write(1000.0, b"o", [b"torn"])
    left = 1000
    files.write(1020.0, b"o", [b"whole"])
    lines = (tmp_path / "p.0000.log").read_text().splitlines()[1:]
    assert lines == ["1000.000", "1020.000 x 1", "1020.000 o whole"]
