"""Faults planted in trainings of PyTorch, recorded by the flight recorder: operator, line and sentence.

``tests/interop/planted_in_torch.py`` made the runs.
"""

from pathlib import Path

import pytest

import mindinsight
from mindinsight.server.debug.watchpoints import check, common_faults
from mindinsight.server.formats.dumps import open_dump
from tests.flight import unpack
from tests.narrowing import require

LOGARITHM = (
    "log received -691.012 at [0, 1]. The logarithm is defined only above 0, so the result is NaN."
    " That value came from Default/fc2-Linear/addmm-op1. The weight fc2.weight has norm 8835.4 there,"
    " against 0.88343 at step 20, 5 steps earlier."
)
ROOT = "The square root of a negative number is NaN."
UNKNOWN = "Cause unknown: mul produced -Inf"
FAULTS = [  # run, operator, verdict, explanation, code
    ("nan_in_data", "fc1-Linear/addmm-op0", "came in with inputs0", "", "self.fc1(x)"),
    ("nan_in_weight", "fc2-Linear/t-op1", "came in with the weight fc2.weight", "", "self.fc2(hidden)"),
    ("logarithm", "log-op0", "from finite inputs", LOGARITHM, "torch.log(scores)"),
    ("square_root", "sqrt-op0", "from finite inputs", ROOT, "torch.sqrt(scores)"),
    ("half_overflow", "mul-op0", "from finite tensors", UNKNOWN, "(scores.half() * 10).float()"),
]


@pytest.mark.parametrize(("name", "operator", "verdict", "sentence", "code"), FAULTS)
def test_the_first_fault_is_the_planted_one(
    name: str, operator: str, verdict: str, sentence: str, code: str, tmp_path: Path
) -> None:
    dump = mindinsight.dump(unpack(name, tmp_path) / "flight_dump")
    fault = require(dump.first_fault().fault)
    assert (fault.rank, fault.step, require(fault.operator).name) == (0, 25, f"Default/{operator}")
    assert verdict in fault.verdict
    assert sentence in fault.explanation
    assert code in require(fault.source).code
    assert require(fault.source).file == "/home/user/train/planted.py"


def test_of_a_fault_that_is_reduced_over_ranks_the_rank_that_made_it_is_named(tmp_path: Path) -> None:
    dump = mindinsight.dump(unpack("nan_on_one_rank", tmp_path) / "flight_dump")
    fault = require(dump.first_fault().fault)
    assert (fault.rank, fault.step) == (1, 25)
    assert "came in with inputs0" in fault.verdict
    received = require(dump.first_fault(rank=0).fault)
    assert "allreduce_-op0 received non-finite values from another rank" in received.verdict


def test_a_jump_is_not_called_a_fault(tmp_path: Path) -> None:
    report = mindinsight.dump(unpack("exploding_gradient", tmp_path) / "flight_dump").first_fault()
    assert report.fault is None
    assert report.judged == report.tensors


def test_a_dead_relu_is_found_by_the_common_checks(tmp_path: Path) -> None:
    dump = open_dump(unpack("dead_relu", tmp_path) / "flight_dump")
    first = next(hit for hit in check(dump, common_faults()) if hit.verdict.hit)
    assert first.entry.operator == "Default/act-ReLU/relu-op0"
