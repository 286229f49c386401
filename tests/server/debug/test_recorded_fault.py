"""A fault in a dump that our recorder made of a real PyTorch training.

``samples/README.md`` has the script: a square root of negative numbers, two steps.
"""

import zipfile
from pathlib import Path
from typing import Any

import pytest

import mindinsight

SAMPLES = Path(__file__).parents[2] / "data" / "dumps" / "samples"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("recorded")
    with zipfile.ZipFile(SAMPLES / "recorded_torch.zip") as archive:
        archive.extractall(root)
    return mindinsight.dump(root / "recorded_torch")


def test_the_operator_and_its_line_are_found(dump: Any) -> None:
    fault = dump.first_fault().fault
    assert (fault.kind, fault.rank, fault.step) == ("made", 0, 0)
    assert fault.operator.name == "Default/sqrt-op0"
    assert fault.source.file == "/home/user/train/planted.py"
    assert fault.source.code == "return torch.sqrt(hidden - 100)"


def test_forward_backward_and_optimizer_have_their_scopes(dump: Any) -> None:
    names = [operator.name for operator in dump.operators(0)]
    assert names[:6] == [
        "Default/ones-op0",
        "Default/fc-Linear/t-op0",
        "Default/fc-Linear/addmm-op0",
        "Default/sub-op0",
        "Default/sqrt-op0",
        "Default/sum-op0",
    ]
    assert any(name.startswith("Gradients/Default/fc-Linear/mm-op") for name in names)
    assert any(name.startswith("Default/optimizer-SGD/") for name in names)


def test_a_backward_operator_has_the_line_of_its_forward(dump: Any) -> None:
    backward = next(o for o in dump.operators(0) if o.name.startswith("Gradients/Default/fc-Linear/mm-op"))
    assert "hidden = self.fc(x)" in [frame.code for frame in backward.stack]


def test_operators_are_joined_by_what_they_compute(dump: Any) -> None:
    operators = {operator.name: operator for operator in dump.operators(0)}
    assert operators["Default/sqrt-op0"].sources == ("Default/sub-op0",)
    assert "fc.bias" in operators["Default/fc-Linear/addmm-op0"].sources


def test_parameters_are_those_after_the_update(dump: Any) -> None:
    first = dump.tensor("fc.weight", step=0, direction="parameter")
    second = dump.tensor("Default/fc-Linear/t-op0", step=1, direction="input")
    assert first.tobytes() == second.tobytes()
