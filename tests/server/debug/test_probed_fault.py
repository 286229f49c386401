"""A fault in a dump that our PrecisionDebugger made of a real PyTorch training.

``samples/probed_torch.py`` is the script: a square root of negative numbers, two steps.
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindinsight

SAMPLES = Path(__file__).parents[2] / "data" / "dumps" / "samples"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("probed")
    with zipfile.ZipFile(SAMPLES / "probed_torch.zip") as archive:
        archive.extractall(root)
    return mindinsight.dump(root / "probed_torch")


def test_the_call_and_its_line_are_found(dump: Any) -> None:
    fault = dump.first_fault().fault
    assert fault.kind == "made"
    assert fault.operator.name == "Torch.sqrt.0.forward"
    assert fault.source.file == "/home/user/train/planted.py"
    assert "torch.sqrt(hidden - 100)" in fault.source.code


def test_statistics_are_those_of_the_values(dump: Any) -> None:
    """Check the recorded statistics of each tensor against its file."""
    name = "Functional.linear.0.forward"
    values = dump.tensor(name, step=0, direction="output").astype(np.float64)
    rows = dump.statistics().frame()
    row = rows[(rows.operator == name) & (rows.step == 0) & (rows.direction == "output")].iloc[0]
    assert tuple(row["shape"]) == values.shape == (2, 3)
    measured = [values.max(), values.min(), values.mean(), np.linalg.norm(values)]
    assert [row.maximum, row.minimum, row["mean"], row.norm] == pytest.approx(measured, rel=1e-4)
    with zipfile.ZipFile(SAMPLES / "probed_torch.zip") as archive:
        entry = json.loads(archive.read("probed_torch/step0/proc4242/dump.json"))["data"][name]["output"][0]
    assert [entry[key] for key in ("Max", "Min", "Mean", "Norm")] == pytest.approx(measured, rel=1e-4)
