"""Report of damaged event files."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.commands.conftest import VERSION, written
from tests.server.formats.tensorboard.conftest import Messages

DATA = Path(__file__).parents[2] / "data" / "events"


def test_a_run_that_ends_in_an_unfinished_record_is_named_and_no_other(run: Any, tmp_path: Path) -> None:
    whole, cut, growing = (
        written(tmp_path / name, age) for name, age in (("a", 9_000), ("b", 9_000), ("c", 0))
    )
    for path in (cut, growing):
        path.write_bytes(path.read_bytes()[:-5])
    code, out, err = run("ls", "--summary-dir", tmp_path)
    assert code == 1
    assert [line.split()[1:4] for line in out.splitlines()[2:3]] == [["stopped,", "1", "damaged"]]
    assert err.splitlines() == [f"unfinished: ./b/{cut.name} ends in 37 bytes of an incomplete record"]
    _, out, _ = run("ls", "--summary-dir", tmp_path, "--json")
    assert [(row["unfinished"], row["damage"]) for row in json.loads(out)] == [
        ([], 0),
        ([cut.name], 1),
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
    assert line.startswith(f"skipped 2 stretches ({len(content)} bytes) of ./a/{path.name}: ")


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
    code, _, err = run(*command, "--summary-dir", tmp_path)
    assert (code, err.splitlines()) == (0, [f"./a/{path.name}: {text}"])
