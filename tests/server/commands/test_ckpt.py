"""``mindinsight ckpt``: files of weights at the terminal."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "data" / "dumps" / "ckpt"


@pytest.fixture
def run(run):
    return partial(run, "ckpt")


def test_ls_lists_and_tells_of_nan(run):
    code, out, _ = run("ls", FOLDER / "tinynet-1.ckpt")
    assert (code, len(out.splitlines())) == (0, 21)
    code, out, _ = run("ls", FOLDER / "tinynet-nan.ckpt", "--json")
    lost = [each["name"] for each in json.loads(out) if each["statistics"]["nans"]]
    assert (code, lost) == (1, ["head.weight"])


def test_diff_tells_what_changed(run):
    code, out, _ = run("diff", FOLDER / "tinynet-1.ckpt", FOLDER / "tinynet-2.ckpt")
    assert code == 1
    assert out.splitlines()[-1] == "3 unchanged, 17 changed"
    code, out, _ = run("diff", FOLDER / "tinynet-1.ckpt", FOLDER / "tinynet-1.ckpt")
    assert (code, out.splitlines()) == (0, ["Nothing changed.", "20 unchanged"])
    _, out, _ = run("diff", FOLDER / "tinynet-1.ckpt", FOLDER / "tinynet-2.ckpt", "--json", "--all")
    assert [each["name"] for each in json.loads(out) if each["state"] == "unchanged"] == [
        "frozen",
        "learning_rate",
        "momentum",
    ]


def test_diff_puts_what_became_nan_first(run, tmp_path):
    values = np.arange(4.0)
    np.savez(tmp_path / "a.npz", early=values, late=values)
    np.savez(tmp_path / "b.npz", early=values + 1, late=values * np.nan)
    code, out, _ = run("diff", tmp_path / "a.npz", tmp_path / "b.npz")
    rows = [line.split() for line in out.splitlines()[1:3]]
    assert code == 1
    assert [row[:4] for row in rows] == [["late", "changed", "4", "-"], ["early", "changed", "0", "1"]]
    assert out.splitlines()[-1] == "1 tensors have NaN or infinities (LOST) that were finite in the first."


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\xff" * 99])
def test_other_files_are_an_error(run, tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    code, out, err = run("ls", tmp_path / "file")
    assert (code, out) == (2, "")
    assert err.startswith("mindinsight: ")
    assert run("diff", tmp_path / "file", tmp_path / "nowhere")[0] == 2


def test_the_files_of_a_directory_are_named(run, tmp_path):
    for name in ("b.safetensors", "a.ckpt", "notes.txt"):
        (tmp_path / name).touch()
    code, out, err = run("ls", tmp_path)
    assert (code, out) == (2, "")
    assert err.endswith("is a directory: name one of its 2 files, a.ckpt, b.safetensors.\n")
    (tmp_path / "empty").mkdir()
    for action in (("ls",), ("diff", FOLDER / "tinynet-1.ckpt")):
        code, _, err = run(*action, tmp_path / "empty")
        assert code == 2
        assert "is a directory without checkpoints (.ckpt, " in err
