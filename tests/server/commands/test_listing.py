"""``mindinsight ls`` and ``mindinsight get``: what there is, on standard output."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mindinsight.server.client import reader
from mindinsight.writer import SummaryRecord

DATA = Path(__file__).parents[2] / "data" / "events"
LENET = DATA / "lenet"


@pytest.fixture
def base(tmp_path):
    """Two runs: one with a value that is no number, one that was begun again."""
    with SummaryRecord(str(tmp_path / "base" / "strange")) as record:
        for step, value in enumerate((0.5, float("nan"))):
            record.add_value("scalar", "=a,b", value)
            record.record(step)
    for suffix, steps in (("_0", (1, 2, 3)), ("_1", (2, 3))):
        with SummaryRecord(str(tmp_path / "base" / "again"), file_suffix=suffix) as record:
            for step in steps:
                record.add_value("scalar", "loss", 0.1 * step)
                record.record(step)
    return tmp_path / "base"


def age(base, name, seconds):
    for path in (base / name).iterdir():
        os.utime(path, (time.time() - seconds,) * 2)


def test_runs_are_listed_with_their_last_values(run, base):
    age(base, "again", 10_000)
    code, out, _ = run("ls", "--summary-dir", base)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["RUN", "STATE", "STEP", "LAST", "VALUES"],
        ["./again", "ended", "3", "loss=0.3"],
        ["./strange", "running", "1", "=a,b=nan"],
    ]


@pytest.mark.parametrize(("seconds", "state"), [(0, "running"), (600, "quiet"), (10_000, "ended")])
def test_a_state_is_the_time_since_the_last_write(run, base, seconds, state):
    age(base, "again", seconds)
    _, out, _ = run("ls", "--summary-dir", base, "--runs", "./again", "--json")
    assert [one["state"] for one in json.loads(out)] == [state]


def test_a_script_is_told_everything(run):
    code, out, _ = run("ls", "--summary-dir", DATA, "--runs", "./lenet", "--json")
    (one,) = json.loads(out)
    known = reader.open(LENET)
    assert code == 0
    assert (one["run"], one["step"], one["damage"]) == ("./lenet", 60, 0)
    for tag in known.tags():
        (columns,) = known.scalars(tag).values()
        last = {"count": len(columns.steps), "step": columns.steps[-1], "value": columns.values[-1]}
        assert one["scalars"][tag] == last
    assert one["others"]["image"] == list(known.tags("image"))


def test_damage_is_counted(run):
    _, out, _ = run("ls", "--summary-dir", DATA / "damaged", "--runs", "./flip_body_crc", "--json")
    assert json.loads(out)[0]["damage"] == 1


def test_nothing_to_list_is_not_a_success(run, tmp_path):
    assert run("ls", "--summary-dir", tmp_path)[0] == 1
    assert run("ls", "--summary-dir", LENET, "--runs", "nope")[0] == 1
    code, _, err = run("ls", "--summary-dir", tmp_path / "no")
    assert code == 1
    assert "not a directory" in err


def test_a_series_is_printed_point_by_point(run):
    code, out, _ = run("get", "./lenet", "loss/auto", "--summary-dir", DATA)
    rows = list(csv.DictReader(io.StringIO(out)))
    (columns,) = reader.open(LENET).scalars("loss/auto").values()
    assert code == 0
    assert {(row["run"], row["tag"], row["segment"]) for row in rows} == {("./lenet", "loss/auto", "0")}
    assert [int(row["step"]) for row in rows] == columns.steps.tolist()
    assert [float(row["wall_time"]) for row in rows] == columns.walls.tolist()
    assert np.array([row["value"] for row in rows], np.float32).tolist() == columns.values.tolist()


def test_both_lines_of_a_run_begun_again_are_printed(run, base):
    _, out, _ = run("get", "./again", "loss", "--summary-dir", base)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["segment"], row["step"]) for row in rows] == [
        ("0", "1"), ("0", "2"), ("0", "3"), ("1", "2"), ("1", "3"),
    ]  # fmt: skip
    _, out, _ = run("get", "./again", "loss", "--summary-dir", base, "--format", "json")
    (one,) = json.loads(out)
    assert (one["starts"], one["step"]) == ([0, 3], [1, 2, 3, 2, 3])


def test_what_is_strange_stays_strict_json_and_safe_csv(run, base):
    _, out, _ = run("get", "./strange", "*", "--summary-dir", base, "--format", "json")
    (one,) = json.loads(out, parse_constant=lambda name: 1 / 0)
    assert (one["tag"], one["value"]) == ("=a,b", [0.5, "nan"])
    _, out, _ = run("get", "./strange", "*", "--summary-dir", base)
    assert [row["tag"] for row in csv.DictReader(io.StringIO(out))] == ["'=a,b"] * 2


def test_patterns_choose_several(run):
    _, out, _ = run("get", "./rank_?", "*", "--summary-dir", DATA / "multi_rank")
    runs = {row["run"] for row in csv.DictReader(io.StringIO(out))}
    assert runs == {f"./rank_{number}" for number in range(4)}


@pytest.mark.parametrize(
    ("chosen", "tag", "told"), [("./no", "loss", "no run './no'"), ("./", "no", "no scalar 'no'")]
)
def test_what_is_not_there_is_named(run, chosen, tag, told):
    code, out, err = run("get", chosen, tag, "--summary-dir", LENET)
    assert (code, out) == (1, "")
    assert told in err
    assert "mindinsight ls" in err


def test_a_reader_who_has_enough_is_no_error(tmp_path):
    """``mindinsight get ... | head -1``"""
    with SummaryRecord(str(tmp_path / "long")) as record:
        for step in range(5000):
            record.add_value("scalar", "loss", 0.5)
            record.record(step)
    code = "import sys; from mindinsight.server.commands.main import main; sys.exit(main())"
    arguments = ["get", "./", "loss", "--summary-dir", str(tmp_path / "long")]
    asked = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    asked.stdout.readline()
    asked.stdout.close()
    assert (asked.stderr.read(), asked.wait()) == (b"", 0)
    asked.stderr.close()


def test_several_directories_are_listed_and_asked_by_name(run, base, tmp_path):
    shutil.move(base / "again", tmp_path / "other" / "again")
    where = ("--summary-dir", base, "--summary-dir", f"lab={tmp_path}/other")
    code, out, _ = run("ls", *where, "--json")
    assert code == 0
    assert [facts["run"] for facts in json.loads(out)] == ["./base/strange", "./lab/again"]
    code, out, _ = run("get", "./lab/again", "loss", *where)
    assert code == 0
    assert {row["run"] for row in csv.DictReader(io.StringIO(out))} == {"./lab/again"}
    code, _, said = run("export", *where, "--runs", "none", "--output", tmp_path / "out")
    assert code == 1
    assert f"No run below {base} or lab={tmp_path}/other is called 'none'." in said
    assert run("export", *where, "--output", tmp_path / "out")[0] == 0
    written = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.csv")}
    assert written == {"base/strange/scalars.csv", "lab/again/scalars.csv"}
