"""Listing dumps."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.server.commands.dump.conftest import LENET


def test_ls_tells_what_a_dump_holds(run: Any) -> None:
    code, out, _ = run("dump", "ls", LENET)
    assert code == 0
    assert out.splitlines()[0] == "sync dump: mindspore 2.0.0 CPU tensor"
    assert out.splitlines()[2].split() == ["0", "0", "Net/0", "40", "99"]


def test_a_directory_of_dumps_lists_them(run: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copytree(LENET, tmp_path / "jobs" / name / "dump")
    code, out, _ = run("dump", "ls", tmp_path / "jobs")
    paths = [str(tmp_path / "jobs" / name / "dump") for name in ("a", "b")]
    assert (code, [line.split() for line in out.splitlines()[1:]]) == (0, [[path, "sync"] for path in paths])
    listing = json.loads(run("dump", "ls", tmp_path / "jobs", "--json")[1])
    assert [dump["path"] for dump in listing["dumps"]] == paths
    code, _, err = run("dump", "stat", tmp_path / "jobs")
    assert code == 2
    assert all(path in err for path in paths)
    assert run("dump", "ls", tmp_path / "jobs" / "a" / "dump" / "rank_0" / "graphs")[0] == 2


def test_a_reader_that_has_enough_is_no_trouble(tmp_path: Path) -> None:
    """As in ``mindinsight dump stat DUMP | head``."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "dump", "stat", str(LENET)]
    done = subprocess.run(command, check=False, stdout=writing, stderr=subprocess.PIPE, timeout=120)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ls_lists_chosen_tensors(run: Any) -> None:
    code, out, _ = run("dump", "ls", LENET, "--step", 1, "--type", "relu", "--json")
    listed = json.loads(out)
    assert code == 0
    assert listed["steps"] == [0, 1]
    assert [(tensor["direction"], tensor["type"]) for tensor in listed["tensors"]] == [
        ("input", "ReLU"),
        ("output", "ReLU"),
    ]
    _, out, _ = run("dump", "ls", LENET, "--operator", "*/ReLU-op52")
    assert len(out.splitlines()) == 1 + 2 * 2
