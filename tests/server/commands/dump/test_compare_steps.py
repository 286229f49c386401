"""Comparison of every step of two dumps from the command line."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.commands.dump.conftest import LENET


def test_the_step_that_differs_is_named_with_its_operator(run: Any, broken: Any, tmp_path: Path) -> None:
    report = tmp_path / "report.csv"
    code, out, _ = run("dump", "compare", broken, LENET, "--every-step", "--csv", report)
    assert code == 1
    head, line, count, last, lost = out.splitlines()
    assert head.split()[:4] == ["RANK", "STEP", "TENSORS", "DIFFER"]
    assert line.split()[:4] == ["0", "1", "99", "1"]
    assert count == "2 steps of 1 rank, 198 tensors."
    assert last.startswith("Rank 0, step 1: ") and lost.startswith("Rank 0, step 1: 1 tensor has NaN")
    assert "MatMul-op66" in last
    rows = list(csv.DictReader(report.read_text().splitlines()))
    assert {(row["rank"], row["step"]) for row in rows} == {("0", "0"), ("0", "1")}
    assert [row["step"] for row in rows if row["result"] != "agree"] == ["1"]


def test_dumps_that_agree_have_a_line_for_each_step_on_request(run: Any) -> None:
    code, out, _ = run("dump", "compare", LENET, LENET, "--every-step")
    assert (code, out.splitlines()[-1]) == (0, "All 2 steps that both have agree.")
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
