"""``mindinsight ls`` and ``mindinsight get``: what there is, on standard output."""

import csv
import io
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.client import reader
from mindinsight.writer import SummaryRecord

DATA = Path(__file__).parents[2] / "data" / "events"
LENET = DATA / "lenet"
VERSION = encode_record(Event(wall_time=0.0, version="MindSpore.Event:1").SerializeToString())


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


def written(directory, age, closed=False):
    """An event file whose last event is ``age`` seconds old; the file itself is written now."""
    now = time.time()
    event = Event(wall_time=now - age, step=1)
    event.summary.value.add(tag="loss", scalar_value=0.5)
    directory.mkdir(parents=True)
    path = directory / f"events.out.events.summary.{int(now - age)}.0.host_MS"
    path.write_bytes(VERSION + encode_record(event.SerializeToString()))
    path.chmod(0o400 if closed else 0o600)
    return path


def states(run, base):
    _, out, _ = run("ls", "--summary-dir", base, "--json")
    return {row["run"]: row["state"] for row in json.loads(out)}


def test_runs_are_listed_with_their_last_values(run, base):
    code, out, _ = run("ls", "--summary-dir", base)
    assert code == 0
    assert [line.split() for line in out.splitlines()] == [
        ["RUN", "STATE", "STEP", "LAST", "VALUES"],
        ["./again", "finished", "3", "loss=0.3"],
        ["./strange", "finished", "1", "=a,b=nan"],
    ]


def test_a_state_is_the_time_since_the_last_event(run, tmp_path):
    for age in (0, 730, 10_000):
        written(tmp_path / str(age), age)
    assert states(run, tmp_path) == {"./0": "running", "./730": "quiet", "./10000": "stopped"}
    assert "no data for 12 min" in run("ls", "--summary-dir", tmp_path)[1]


def test_a_copy_of_runs_does_not_run(run, tmp_path):
    for name in ("lenet", "multi_rank", "rollover"):
        shutil.copytree(DATA / name, tmp_path / "base" / name, copy_function=shutil.copyfile)
    found = states(run, tmp_path / "base")
    assert len(found) > 3
    assert set(found.values()) == {"stopped"}


def test_a_run_that_was_closed_is_finished_at_once(run, tmp_path):
    path = written(tmp_path / "a", 0, closed=True)
    assert states(run, tmp_path) == {"./a": "finished"}
    path.chmod(0o600)
    assert states(run, tmp_path) == {"./a": "running"}


def test_a_closing_record_says_how_a_training_ended(run, tmp_path):
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


def test_a_run_that_ends_in_an_unfinished_record_is_named_and_no_other(run, tmp_path):
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


def test_wrong_checksums_everywhere_are_said(run, tmp_path):
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
    assert {(row["run"], row["tag"]) for row in rows} == {("./lenet", "loss/auto")}
    assert [int(row["step"]) for row in rows] == columns.steps.tolist()
    assert [float(row["wall_time"]) for row in rows] == columns.walls.tolist()
    assert np.array([row["value"] for row in rows], np.float32).tolist() == columns.values.tolist()


def test_what_a_restart_overwrote_is_printed_and_marked_when_asked_for(run, base):
    _, out, _ = run("get", "./again", "loss", "--summary-dir", base, "--overwritten")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["overwritten"], row["step"]) for row in rows] == [
        ("0", "1"), ("1", "2"), ("1", "3"), ("0", "2"), ("0", "3"),
    ]  # fmt: skip
    _, out, _ = run("get", "./again", "loss", "--summary-dir", base, "--format", "json", "--overwritten")
    (one,) = json.loads(out)
    assert (one["overwritten"], one["step"]) == ([False, True, True, False, False], [1, 2, 3, 2, 3])


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
