"""The dump commands as a person or a script runs them: output, files and exit codes."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DUMPS = Path(__file__).parents[2] / "data" / "dumps"
LENET = DUMPS / "ms_sync_v2_0_names"


@pytest.fixture(autouse=True)
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDINSIGHT_WORKSPACE", str(tmp_path / "workspace"))


@pytest.fixture
def broken(tmp_path):
    """The network with a NaN out of one operator of step 1."""
    path = Path(shutil.copytree(LENET, tmp_path / "broken"))
    (file,) = (path / "rank_0" / "Net" / "0" / "1").glob("MatMul.MatMul-op66.*.output.0.*")
    values = np.load(file)
    values[0, 0] = np.nan
    np.save(file, values)
    return path


def test_ls_tells_what_a_dump_holds(run):
    code, out, _ = run("dump", "ls", LENET)
    assert code == 0
    assert out.splitlines()[0] == "sync dump: mindspore 2.0.0 CPU tensor"
    assert out.splitlines()[2].split() == ["0", "0", "Net/0", "40", "99"]


def test_a_dump_or_a_file_of_weights_may_be_named_through_links(run, tmp_path):
    (tmp_path / "links").symlink_to(DUMPS)
    (tmp_path / "links.ckpt").symlink_to(DUMPS / "ckpt" / "tinynet-1.ckpt")
    assert run("dump", "ls", tmp_path / "links" / LENET.name)[:2] == run("dump", "ls", LENET)[:2]
    assert run("ckpt", "ls", tmp_path / "links.ckpt")[0] == 0


def test_a_directory_of_dumps_lists_them(run, tmp_path):
    for name in ("a", "b"):
        shutil.copytree(LENET, tmp_path / "jobs" / name / "dump")
    code, out, _ = run("dump", "ls", tmp_path / "jobs")
    paths = [str(tmp_path / "jobs" / name / "dump") for name in ("a", "b")]
    assert (code, [line.split() for line in out.splitlines()[1:]]) == (0, [[path, "sync"] for path in paths])
    found = json.loads(run("dump", "ls", tmp_path / "jobs", "--json")[1])
    assert [each["path"] for each in found["dumps"]] == paths
    code, _, err = run("dump", "stat", tmp_path / "jobs")
    assert code == 2
    assert all(path in err for path in paths)
    assert run("dump", "ls", tmp_path / "jobs" / "a" / "dump" / "rank_0" / "graphs")[0] == 2


def test_a_reader_that_has_enough_is_no_trouble(tmp_path):
    """As in ``mindinsight dump stat DUMP | head``."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "dump", "stat", LENET]
    done = subprocess.run(command, check=False, stdout=writing, stderr=subprocess.PIPE, timeout=120)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ls_lists_chosen_tensors(run):
    code, out, _ = run("dump", "ls", LENET, "--step", 1, "--type", "relu", "--json")
    listed = json.loads(out)
    assert code == 0
    assert listed["steps"] == [0, 1]
    assert [(each["direction"], each["type"]) for each in listed["tensors"]] == [
        ("input", "ReLU"),
        ("output", "ReLU"),
    ]
    _, out, _ = run("dump", "ls", LENET, "--operator", "*/ReLU-op52")
    assert len(out.splitlines()) == 1 + 2 * 2


def test_stat_measures_and_tells_by_its_exit_code(run, broken):
    code, out, _ = run("dump", "stat", LENET, "--step", 1, "--json")
    assert code == 0
    assert len(json.loads(out)) == 99
    code, out, _ = run("dump", "stat", broken, "--not-finite", "--json")
    assert code == 1
    (row,) = json.loads(out)
    assert (row["step"], row["type"], row["nans"], row["computed"]) == (1, "MatMul", 1, True)


def test_stat_sorts(run):
    _, out, _ = run("dump", "stat", LENET, "--step", 0, "--sort", "norm", "--json")
    norms = [row["norm"] for row in json.loads(out)]
    assert norms == sorted(norms, reverse=True)


def test_check_leads_to_the_line_of_the_guilty_operator(run, broken):
    code, out, _ = run("dump", "check", broken)
    assert code == 1
    assert "step 1: Gradients/Default" in out
    assert "MatMul-op66 makes values that are not finite from finite inputs." in out
    assert "net.py:14  return self.fc2(x)" in out
    assert "tensor_overflow" in out
    fault = json.loads(run("dump", "check", broken, "--json")[1])["first_fault"]
    assert (fault["kind"], fault["step"], fault["nans"], fault["line"] > 0) == ("made", 1, 1, True)


def test_check_gives_no_all_clear_of_what_it_could_not_judge(run, tmp_path):
    """Exit code 2 where nothing could be judged, 1 where something could not."""
    rank = tmp_path / "dump" / "step0" / "rank0"
    rank.mkdir(parents=True)
    (rank / "dump.json").write_text('{"task": "structure", "level": "L1", "data": {}}')
    code, out, _ = run("dump", "check", tmp_path / "dump")
    assert code == 2
    assert out.splitlines()[0] == "Nothing could be judged: no tensors were found."
    (rank / "dump.json").write_text('{"data": {"Torch.log.0.forward": {"input_args": [{"type": "torch.Te')
    assert run("dump", "check", tmp_path / "dump")[0] == 2
    entry = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2]}
    data = {"Torch.log.0.forward": {"input_args": [entry | {"Max": 1, "Min": 0}], "output": [entry]}}
    (rank / "dump.json").write_text(json.dumps({"data": data}))
    code, out, _ = run("dump", "check", tmp_path / "dump")
    assert code == 1
    assert out.startswith("1 of 2 tensors are finite; nothing is known of the others. 1 tensor has neither")
    code, out, _ = run("dump", "check", LENET, "--condition", "weight_too_large:max_gt=1000")
    assert (code, out.splitlines()[0]) == (0, "All 198 tensors are finite, over all steps and ranks.")


def test_check_takes_conditions(run):
    code, out, _ = run("dump", "check", LENET, "--condition", "weight_too_large:max_gt=1000")
    assert (code, out.splitlines()[-1]) == (0, "No condition is met.")
    code, out, _ = run("dump", "check", LENET, "--condition", "weight_too_large:max_gt=0.0216", "--json")
    hits = json.loads(out)["hits"]
    assert code == 1
    assert [(hit["operator"], hit["step"]) for hit in hits] == [("fc1.weight", 0), ("fc1.weight", 1)]


@pytest.mark.parametrize(
    "condition", ["weight_upside_down", "weight_too_large", "weight_too_large:max_gt=high"]
)
def test_check_refuses_what_no_condition_is(run, condition):
    code, _, err = run("dump", "check", LENET, "--condition", condition)
    assert code == 2
    assert err.startswith("mindinsight: ")


def test_compare_finds_where_two_dumps_part(run, broken, tmp_path):
    report = tmp_path / "report.csv"
    code, out, _ = run("dump", "compare", broken, LENET, "--step", 1, "--csv", report)
    assert code == 1
    assert "They diverge at Gradients/Default" in out
    assert "MatMul-op66: its inputs agree, its outputs do not." in out
    rows = list(csv.DictReader(report.read_text().splitlines()))
    assert len(rows) == 99
    assert [row["target"].endswith("MatMul-op66.output.0") for row in rows if row["result"] != "pass"] == [
        True
    ]


def test_compare_puts_what_became_nan_first(run, tmp_path):
    """All elements of a late tensor are NaN: no distance of 0, and above an early one that moved."""
    path = Path(shutil.copytree(LENET, tmp_path / "lost"))
    step = path / "rank_0" / "Net" / "0" / "1"
    for pattern, change in (
        ("ReLU.ReLU-op52.*.output.0.*", 1.0),
        ("MatMul.MatMul-op66.*.output.0.*", np.nan),
    ):
        (file,) = step.glob(pattern)
        np.save(file, np.load(file) + np.float32(change))
    code, out, _ = run("dump", "compare", path, LENET, "--step", 1)
    assert code == 1
    rows = [line.split() for line in out.splitlines()[1:3]]
    assert [row[0].rpartition("/")[2] for row in rows] == ["MatMul-op66.output.0", "ReLU-op52.output.0"]
    assert [row[2] for row in rows] == ["108", "0"]
    assert rows[0][3:6] == ["-", "-", "-"]
    assert "Tensors with NaN or infinities (LOST) where the reference is finite: 1." in out


def test_compare_of_a_dump_with_itself_agrees(run):
    code, out, _ = run("dump", "compare", LENET, LENET)
    assert code == 0
    assert out.splitlines()[-1] == "They agree within the tolerance."
    code, out, _ = run("dump", "compare", LENET, LENET, "--reference-step", 1, "--json")
    assert code == 1
    assert json.loads(out)["first_divergence"]["kind"] == "arrived"


@pytest.mark.parametrize(
    "text", ['{"Default/a": "Default/b"}', "Default/a,Default/b\n", "Default/a , Default/b\n\n"]
)
def test_compare_takes_a_map_of_names(run, tmp_path, text):
    (tmp_path / "names").write_text(text)
    assert run("dump", "compare", LENET, LENET, "--map", tmp_path / "names")[0] == 0


@pytest.mark.parametrize("text", ['{"a": 1}', "a,b,c\n", "{"])
def test_compare_refuses_a_map_it_does_not_understand(run, tmp_path, text):
    (tmp_path / "names").write_text(text)
    code, _, err = run("dump", "compare", LENET, LENET, "--map", tmp_path / "names")
    assert (code, bool(err)) == (2, True)


def test_convert_writes_every_tensor(run, tmp_path):
    code, out, _ = run("dump", "convert", LENET, "--output", tmp_path / "out", "--step", 0, "--json")
    assert code == 0
    written = json.loads(out)["written"]
    assert len(written) == 99
    source = LENET / "rank_0" / "Net" / "0" / "0"
    for path in source.glob("MatMul.*"):
        copy = tmp_path / "out" / "rank_0" / "Net" / "0" / "0" / path.name
        assert np.array_equal(np.load(copy), np.load(path))


def test_what_cannot_be_read_is_said_and_the_rest_is_done(run, broken):
    file = next((broken / "rank_0" / "Net" / "0" / "0").glob("Conv2D.*output*"))
    file.write_bytes(b"\x93NUMPY")
    code, out, err = run("dump", "stat", broken, "--step", 0, "--json")
    assert code == 1
    assert len(json.loads(out)) == 99
    assert "Conv2D" in err


@pytest.mark.parametrize("action", ["ls", "stat", "check"])
def test_a_folder_that_is_no_dump_is_an_error(run, tmp_path, action):
    code, out, err = run("dump", action, tmp_path)
    assert (code, out) == (2, "")
    assert str(tmp_path) in err


@pytest.fixture
def cut(tmp_path):
    """The network with the file of one tensor cut off."""
    path = Path(shutil.copytree(LENET, tmp_path / "cut"))
    (file,) = (path / "rank_0" / "Net" / "0" / "0").glob("MatMul.MatMul-op66.*.output.0.*")
    file.write_bytes(file.read_bytes()[:-10])
    return path


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"LANG": "en_GB.UTF-8"}, ": the file is truncated ("),
        ({"LANG": "zh_CN.UTF-8"}, ": 文件不完整 ("),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, ": the file is truncated ("),
        ({"LC_MESSAGES": "zh_TW"}, ": 文件不完整 ("),
        ({}, ": the file is truncated ("),
    ],
)
def test_damage_is_told_in_the_language_of_the_terminal(run, cut, monkeypatch, variables, text):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    code, _, err = run("dump", "stat", cut, "--operator", "*op66")
    (line,) = err.splitlines()
    assert code == 1
    assert text in line


@pytest.mark.parametrize(
    "arguments", [("check",), ("stat", "--json"), ("check", "--json"), ("convert", "--output", "npy")]
)
def test_one_cut_file_is_named_and_the_rest_is_used(run, cut, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    action, *rest = arguments
    code, out, err = run("dump", action, cut, "--step", 0, *rest)
    assert code == 1
    (line,) = [line for line in err.splitlines() if "MatMul-op66" in line]
    assert ": the file is truncated (" in line
    if arguments == ("stat", "--json"):
        rows = json.loads(out)
        assert (len(rows), sum("minimum" in row and row["minimum"] is None for row in rows)) == (99, 1)
    if action == "convert":
        assert len(list((tmp_path / "npy").rglob("*.npy"))) == 98


def test_a_directory_that_is_no_dump_is_told_in_words(run, tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    code, out, err = run("dump", "ls", tmp_path)
    assert (code, out) == (2, "")
    assert err == f"mindinsight: not a known dump format ({tmp_path})\n"
