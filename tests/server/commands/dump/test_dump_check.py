"""Fault search and conditions."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.commands.dump.conftest import LENET


def test_check_leads_to_the_line_of_the_guilty_operator(run: Any, broken: Any) -> None:
    code, out, _ = run("dump", "check", broken)
    assert code == 1
    assert "step 1: Gradients/Default" in out
    assert "MatMul-op66 produced non-finite values from finite inputs." in out
    assert "net.py:14  return self.fc2(x)" in out
    assert "holds non-finite values at step 1." in out
    fault = json.loads(run("dump", "check", broken, "--json")[1])["first_fault"]
    assert (fault["kind"], fault["step"], fault["nans"], fault["line"] > 0) == ("made", 1, 1, True)


def test_check_gives_no_all_clear_of_what_it_could_not_judge(run: Any, tmp_path: Path) -> None:
    """Exit code 2 where something could not be judged."""
    rank = tmp_path / "dump" / "step0" / "rank0"
    rank.mkdir(parents=True)
    (rank / "dump.json").write_text('{"task": "structure", "level": "L1", "data": {}}')
    code, out, _ = run("dump", "check", tmp_path / "dump")
    assert code == 2
    assert out.splitlines()[0] == "Nothing could be searched: no tensors were found."
    (rank / "dump.json").write_text('{"data": {"Torch.log.0.forward": {"input_args": [{"type": "torch.Te')
    assert run("dump", "check", tmp_path / "dump")[0] == 2
    entry = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2]}
    data = {"Torch.log.0.forward": {"input_args": [entry | {"Max": 1, "Min": 0}], "output": [entry]}}
    (rank / "dump.json").write_text(json.dumps({"data": data}))
    code, out, _ = run("dump", "check", tmp_path / "dump")
    assert code == 2
    assert out.startswith("1 of 2 tensors is finite. The others could not be judged. 1 tensor has neither")
    code, out, _ = run("dump", "check", LENET, "--condition", "weight_too_large:max_gt=1000")
    assert (code, out.splitlines()[0]) == (0, "All 198 recorded tensors that were searched are finite.")


def test_check_takes_conditions(run: Any) -> None:
    code, out, _ = run("dump", "check", LENET, "--condition", "weight_too_large:max_gt=1000")
    assert (code, out.splitlines()[-2]) == (0, "None of the conditions that could be checked is met.")
    assert out.splitlines()[-1].startswith("Checked: Weight too large. Not checked: Saturated activation, ")
    code, out, _ = run("dump", "check", LENET, "--condition", "weight_too_large:max_gt=0.0216", "--json")
    hits = json.loads(out)["hits"]
    assert code == 1
    assert [(hit["operator"], hit["step"]) for hit in hits] == [("fc1.weight", 0), ("fc1.weight", 1)]


@pytest.mark.parametrize(
    "condition", ["weight_upside_down", "weight_too_large", "weight_too_large:max_gt=high"]
)
def test_check_refuses_what_no_condition_is(run: Any, condition: str) -> None:
    code, _, err = run("dump", "check", LENET, "--condition", condition)
    assert code == 2
    assert err.startswith("mindinsight: ")
