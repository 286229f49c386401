"""Listing runs."""

import csv
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.client import reader
from mindinsight.writer import SummaryRecord
from tests.flight import unpack
from tests.server.commands.conftest import written

DATA = Path(__file__).parents[2] / "data" / "events"


LENET = DATA / "lenet"


def states(run: Any, base: Any) -> dict[Any, Any]:
    _, out, _ = run("ls", "--summary-dir", base, "--json")
    return {row["run"]: row["state"] for row in json.loads(out)}


def test_runs_are_listed_with_their_last_values(run: Any, base: Any) -> None:
    code, out, _ = run("ls", "--summary-dir", base)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["RUN", "STATE", "STEP", "LAST", "VALUES"],
        ["./again", "finished", "3", "loss=0.3"],
        ["./strange", "finished", "1", "=a,b=nan"],
    ]


def test_a_state_is_the_time_since_the_last_event(run: Any, tmp_path: Path) -> None:
    for age in (0, 730, 10_000):
        written(tmp_path / str(age), age)
    assert states(run, tmp_path) == {"./0": "running", "./730": "quiet", "./10000": "stopped"}
    assert "no data for 12 min" in run("ls", "--summary-dir", tmp_path)[1]


def test_a_copy_of_runs_does_not_run(run: Any, tmp_path: Path) -> None:
    for name in ("lenet", "multi_rank", "rollover"):
        shutil.copytree(DATA / name, tmp_path / "base" / name, copy_function=shutil.copyfile)
    by_run = states(run, tmp_path / "base")
    assert len(by_run) > 3
    assert set(by_run.values()) == {"stopped"}


def test_a_run_that_was_closed_is_finished_at_once(run: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "a", 0, closed=True)
    assert states(run, tmp_path) == {"./a": "finished"}
    path.chmod(0o600)
    assert states(run, tmp_path) == {"./a": "running"}


def test_a_closing_record_says_how_a_training_ended(run: Any, tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path / "well")) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
    with pytest.raises(ValueError, match="odd"), SummaryRecord(str(tmp_path / "ill")) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
        raise ValueError("odd batch")
    for path in tmp_path.glob("*/*summary*"):
        path.chmod(0o600)  # as a copy of it has
    assert states(run, tmp_path) == {"./ill": "failed", "./well": "finished"}
    assert "failed: ValueError: odd batch" in run("ls", "--summary-dir", tmp_path)[1]


def test_a_directory_that_cannot_be_listed_is_named(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs in it are missing from the list, from an export and from a pattern: that is said."""
    written(tmp_path / "base" / "a", 0, closed=True)
    written(tmp_path / "base" / "b", 0, closed=True)
    scandir = os.scandir

    def refuse(path: Any = ".") -> Any:
        name = Path(f"/proc/self/fd/{path}").readlink() if isinstance(path, int) else os.fspath(path)
        if Path(name).name == "b":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    for command in (("ls",), ("export", "--output", tmp_path / "out")):
        code, _, err = run(*command, "--summary-dir", tmp_path / "base")
        assert (code, "not read: ./b: permission denied" in err) == (1, True)


def test_a_script_is_told_everything(run: Any) -> None:
    code, out, _ = run("ls", "--summary-dir", DATA, "--runs", "./lenet", "--json")
    (row,) = json.loads(out)
    known = reader.open(LENET)
    assert code == 0
    assert (row["run"], row["step"], row["damage"]) == ("./lenet", 60, 0)
    for tag in known.tags():
        (columns,) = known.scalars(tag).values()
        last = {"count": len(columns.steps), "step": columns.steps[-1], "value": columns.values[-1]}
        assert row["scalars"][tag] == last
    assert row["others"]["image"] == list(known.tags("image"))


def test_nothing_to_list_is_not_a_success(run: Any, tmp_path: Path) -> None:
    assert run("ls", "--summary-dir", tmp_path) == (1, "", f"There are no runs: {tmp_path} is empty.\n")
    (tmp_path / "notes.txt").write_text("a")
    assert "no file there is an event file" in run("ls", "--summary-dir", tmp_path)[2]
    code, _, err = run("ls", "--summary-dir", LENET, "--runs", "nope")
    assert (code, "is called 'nope'. There is 1 other." in err) == (1, True)
    code, _, err = run("ls", "--summary-dir", tmp_path / "no")
    assert code == 1
    assert err == f"There is no directory {tmp_path / 'no'}.\n"
    assert "is a file, not a directory" in run("ls", "--summary-dir", tmp_path / "notes.txt")[2]


def test_several_directories_are_listed_and_asked_by_name(run: Any, base: Any, tmp_path: Path) -> None:
    shutil.move(base / "again", tmp_path / "other" / "again")
    where = ("--summary-dir", base, "--summary-dir", f"lab={tmp_path}/other")
    code, out, _ = run("ls", *where, "--json")
    assert code == 0
    assert [facts["run"] for facts in json.loads(out)] == ["./base/strange", "./lab/again"]
    code, out, _ = run("get", "./lab/again", "loss", *where)
    assert code == 0
    assert {row["run"] for row in csv.DictReader(io.StringIO(out))} == {"./lab/again"}
    code, _, message = run("export", *where, "--runs", "none", "--output", tmp_path / "out")
    assert code == 1
    assert f"No run below {base} or lab={tmp_path}/other is called 'none'." in message
    assert run("export", *where, "--output", tmp_path / "out")[0] == 0
    written = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.csv")}
    assert written == {"base/strange/scalars.csv", "lab/again/scalars.csv"}


def test_an_alert_of_the_flight_recorder_is_listed_with_its_dump(run: Any, tmp_path: Path) -> None:
    unpack("nan_in_data", tmp_path)
    _, out, _ = run("ls", "--summary-dir", tmp_path)
    line = "./nan_in_data: step 25: Training fault: the loss is nan (dump ./nan_in_data/flight_dump, step 25)"
    assert out.splitlines()[-1] == line
    _, out, _ = run("ls", "--summary-dir", tmp_path, "--json")
    first = json.loads(out)[0]["alerts"][0]
    assert (first["step"], first["level"], first["dump"]) == (25, "error", "./nan_in_data/flight_dump")
