"""Selection of dumps and tensors, and what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.commands.dump.conftest import DUMPS, LENET


def test_a_dump_or_a_file_of_weights_may_be_named_through_links(run: Any, tmp_path: Path) -> None:
    (tmp_path / "links").symlink_to(DUMPS)
    (tmp_path / "links.ckpt").symlink_to(DUMPS / "ckpt" / "tinynet-1.ckpt")
    assert run("dump", "ls", tmp_path / "links" / LENET.name)[:2] == run("dump", "ls", LENET)[:2]
    assert run("ckpt", "ls", tmp_path / "links.ckpt")[0] == 0


def test_what_cannot_be_read_is_said_and_the_rest_is_done(run: Any, broken: Any) -> None:
    file = next((broken / "rank_0" / "Net" / "0" / "0").glob("Conv2D.*output*"))
    file.write_bytes(b"\x93NUMPY")
    code, out, err = run("dump", "stat", broken, "--step", 0, "--json")
    assert code == 2
    assert len(json.loads(out)) == 99
    assert "Conv2D" in err


@pytest.mark.parametrize("action", ["ls", "stat", "check"])
def test_a_folder_that_is_no_dump_is_an_error(run: Any, tmp_path: Path, action: str) -> None:
    code, out, err = run("dump", action, tmp_path)
    assert (code, out) == (2, "")
    assert str(tmp_path) in err


@pytest.mark.parametrize(
    "arguments", [("check",), ("stat", "--json"), ("check", "--json"), ("convert", "--output", "npy")]
)
def test_one_cut_file_is_named_and_the_rest_is_used(
    run: Any, cut: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    action, *rest = arguments
    code, out, err = run("dump", action, cut, "--step", 0, *rest)
    assert code == 2
    (line,) = [line for line in err.splitlines() if "MatMul-op66" in line]
    assert ": the file is truncated (" in line
    if arguments == ("stat", "--json"):
        rows = json.loads(out)
        assert (len(rows), sum("minimum" in row and row["minimum"] is None for row in rows)) == (99, 1)
        assert sum(row["damage"] is not None for row in rows) == 1
    if arguments == ("check", "--json"):
        assert len(json.loads(out)["damage"]) == 1
    if action == "convert":
        assert len(list((tmp_path / "npy").rglob("*.npy"))) == 98


def test_a_directory_that_is_no_dump_is_told_in_words(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    code, out, err = run("dump", "ls", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"mindinsight: There is no dump in {tmp_path}: the directory is empty.\n"
    assert (
        run("dump", "check", tmp_path / "no")[2] == f"mindinsight: There is no directory {tmp_path / 'no'}.\n"
    )
    (tmp_path / "notes.txt").write_text("a")
    assert run("dump", "check", tmp_path)[2] == f"mindinsight: not a known dump format ({tmp_path})\n"


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (("--step", "99"), "The dump has no step 99"),
        (("--rank", "99"), "The dump has no step 0 of rank 99"),
        (("--operator", "fc9*"), "No operator matches fc9*."),
        (("--step", "1", "--rank", "0"), ""),
    ],
)
@pytest.mark.parametrize("action", ["ls", "stat", "check", "convert"])
def test_what_the_dump_does_not_have_is_an_error(
    run: Any, tmp_path: Path, action: str, selection: tuple[str, ...], message: str
) -> None:
    output = ("--output", str(tmp_path / "npy")) if action == "convert" else ()
    code, out, err = run("dump", action, LENET, *selection, *output)
    if message:
        assert (code, out) == (2, "")
        assert message in err
        assert not (tmp_path / "npy").exists()
    else:
        assert code != 2
