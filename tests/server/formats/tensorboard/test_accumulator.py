"""Files by torch, tensorboardX and tensorboard's own summaries, beside what EventAccumulator read in them.

``tests/data/tfevents`` was made by ``tests/interop/in_tensorboard.py``, which ``make interop`` runs anew.
"""

import json
import runpy
import shutil
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[3]
DATA = TESTS / "data" / "tfevents"
differences = runpy.run_path(str(TESTS / "interop" / "tensorboard_difference.py"))["differences"]


def test_everything_is_read_as_tensorboard_reads_it() -> None:
    assert differences(DATA) == []


@pytest.mark.parametrize(
    ("run", "kind", "tag"),
    [
        ("torch", "scalars", "odd"),
        ("torch", "histograms", "weights"),
        ("torch", "images", "picture"),
        ("torch", "tensors", "tensor/bfloat16"),
        ("tensors/train", "tensors", "loss"),
        ("tensors/train", "tensors", "two"),
        ("tensors/train", "tensors", "weights"),
    ],
)
def test_the_comparison_sees_a_value_that_differs(tmp_path: Path, run, kind, tag) -> None:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    expected = json.loads((DATA / "expected.json").read_text())
    rows = expected[run][kind][tag]
    row = (rows["values"] if kind == "tensors" else rows)[-1]
    if isinstance(row[-1], list):
        row[-1][-1] = "12345.5" if isinstance(row[-1][-1], str) else 12345
    else:
        row[-1] = "12345.5"
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    assert differences(tmp_path) != []
