"""Comparison of two dumps."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.server.commands.dump.conftest import LENET


def test_compare_finds_where_two_dumps_part(run: Any, broken: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    code, out, _ = run("dump", "compare", broken, LENET, "--step", 1, "--csv", report)
    assert code == 1
    assert "98 agree, 1 differs." in out
    assert "MatMul-op66 introduces the difference: its inputs agree, its output 0 differs" in out
    rows = list(csv.DictReader(report.read_text().splitlines()))
    assert len(rows) == 99
    assert [row["target"].endswith("MatMul-op66.output.0") for row in rows if row["result"] != "agree"] == [
        True
    ]


@pytest.mark.parametrize("count", [20, 21])
def test_compare_lists_twenty_tensors_that_differ_and_all_when_asked(
    run: Any, tmp_path: Path, count: int
) -> None:
    path = Path(shutil.copytree(LENET, tmp_path / "moved"))
    files = sorted((path / "rank_0" / "Net" / "0" / "1").glob("*.output.0.*"))
    for file in files[:count]:
        values = np.load(file)
        np.save(file, values + np.ones_like(values))

    def listed(*options: str) -> tuple[int, bool]:
        out = run("dump", "compare", path, LENET, "--step", 1, *options)[1]
        return len(
            re.findall(r"^\S+\.(?:input|output|parameter)\.\d+ ", out, re.MULTILINE)
        ), "--all lists all" in out

    assert listed() == (20, count > 20)
    rows, limited = listed("--all")
    assert rows > count and not limited


def test_compare_puts_what_became_nan_first(run: Any, tmp_path: Path) -> None:
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
    assert "1 tensor has NaN or Inf where the reference is finite." in out


def test_compare_of_a_dump_with_itself_agrees(run: Any) -> None:
    code, out, _ = run("dump", "compare", LENET, LENET)
    assert code == 0
    assert out.splitlines()[-2:] == [
        "All 99 compared tensors hold equal values on both sides.",
        "1 more step that both have was not compared: 1.",
    ]
    code, out, _ = run("dump", "compare", LENET, LENET, "--reference-step", 1, "--json")
    assert code == 1
    keys = [claim["key"] for claim in json.loads(out)["claims"]]
    assert keys[:2] == ["claim.dump.largest_weight", "claim.dump.input_differs"]


@pytest.mark.parametrize(
    "text", ['{"Default/a": "Default/b"}', "Default/a,Default/b\n", "Default/a , Default/b\n\n"]
)
def test_compare_takes_a_map_of_names(run: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "names").write_text(text)
    assert run("dump", "compare", LENET, LENET, "--map", tmp_path / "names")[0] == 0


@pytest.mark.parametrize("text", ['{"a": 1}', "a,b,c\n", "{"])
def test_compare_refuses_a_map_it_does_not_understand(run: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "names").write_text(text)
    code, _, err = run("dump", "compare", LENET, LENET, "--map", tmp_path / "names")
    assert (code, bool(err)) == (2, True)


def test_the_step_that_differs_is_named_with_its_operator(run: Any, broken: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    code, out, _ = run("dump", "compare", broken, LENET, "--every-step", "--csv", report)
    assert code == 1
    head, line, count, tolerance, last, lost = out.splitlines()
    assert head.split()[:4] == ["RANK", "STEP", "TENSORS", "DIFFER"]
    assert line.split()[:4] == ["0", "1", "99", "1"]
    assert count == "2 steps of 1 rank, 198 tensors."
    assert tolerance.startswith("Tolerance, relative L2 distance: ")
    assert last.startswith("Rank 0, step 1: ") and lost.startswith("Rank 0, step 1: 1 tensor has NaN")
    assert "MatMul-op66" in last
    rows = list(csv.DictReader(report.read_text().splitlines()))
    assert {(row["rank"], row["step"]) for row in rows} == {("0", "0"), ("0", "1")}
    assert [row["step"] for row in rows if row["result"] != "agree"] == ["1"]


def test_dumps_that_agree_have_a_line_for_each_step_on_request(run: Any) -> None:
    code, out, _ = run("dump", "compare", LENET, LENET, "--every-step")
    assert (code, out.splitlines()[-1]) == (0, "All 2 steps that both have are equal on both sides.")
    code, out, _ = run("dump", "compare", LENET, LENET, "--every-step", "--all", "--json")
    answer = json.loads(out)
    assert [(step["step"], step["differing"]) for step in answer["differing"]] == [(0, 0), (1, 0)]
    assert answer["tensors"] == sum(step["tensors"] for step in answer["differing"])


def test_one_step_is_chosen_and_one_that_is_not_there_is_named(run: Any, broken: Any) -> None:
    assert run("dump", "compare", broken, LENET, "--every-step", "--step", 0)[0] == 0
    code, _, err = run("dump", "compare", broken, LENET, "--every-step", "--step", 7)
    assert code == 2
    assert "no rank and step in common (step 7)" in err


@pytest.mark.parametrize("option", [("--msprobe", "x.csv"), ("--reference-rank", 0), ("--reference-step", 1)])
def test_options_of_a_single_step_are_refused(run: Any, option: tuple[str, Any]) -> None:
    code, _, err = run("dump", "compare", LENET, LENET, "--every-step", *option)
    assert code == 2
    assert "--every-step" in err


def test_damage_is_reported_beside_the_steps(run: Any, cut: Any) -> None:
    code, _, err = run("dump", "compare", cut, LENET, "--every-step")
    assert code == 2  # what could be read agrees
    assert "MatMul-op66" in err
