"""Report of damaged event files."""

import json
from pathlib import Path
from typing import Any

from tests.server.commands.conftest import VERSION, written

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
