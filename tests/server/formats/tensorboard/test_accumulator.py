"""Files by many writers, beside what EventAccumulator read in them.

``tests/data/tfevents`` holds those of torch, tensorboardX and tensorboard's own summaries and was made by
``tests/interop/in_tensorboard.py``; ``tests/data/tfevents_trained`` those of Lightning's TensorBoardLogger,
Keras 3 and TensorFlow, by ``trained_in_tensorboard.py``. ``make interop`` runs both anew.
"""

import json
import runpy
import shutil
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[3]
DATA = TESTS / "data" / "tfevents"
TRAINED = TESTS / "data" / "tfevents_trained"
differences = runpy.run_path(str(TESTS / "interop" / "tensorboard_difference.py"))["differences"]


@pytest.mark.parametrize("data", [DATA, TRAINED], ids=lambda data: data.name)
def test_everything_is_read_as_tensorboard_reads_it(data: Path) -> None:
    assert differences(data) == []


def test_trainings_recorded_what_is_compared() -> None:
    expected = json.loads((TRAINED / "expected.json").read_text())
    lightning, train = expected["lightning/version_0"], expected["keras/train"]
    assert {"train/loss_step", "train/loss_epoch", "val/loss", "hp_metric"} <= set(lightning["scalars"])
    assert set(lightning["histograms"]) == {"weights"}
    assert lightning["graph"]
    assert {"epoch_loss", "batch_loss", "epoch_mae"} <= set(train["tensors"])
    assert {facts["plugin"] for facts in train["tensors"].values()} >= {"scalars", "histograms", "images"}
    assert len(expected["tensorflow"]["tensors"]["exact"]["values"]) == 200


@pytest.mark.parametrize(
    ("data", "run", "kind", "tag"),
    [
        (DATA, "torch", "scalars", "odd"),
        (DATA, "torch", "histograms", "weights"),
        (DATA, "torch", "images", "picture"),
        (DATA, "torch", "tensors", "tensor/bfloat16"),
        (DATA, "tensors/train", "tensors", "loss"),
        (DATA, "tensors/train", "tensors", "two"),
        (DATA, "tensors/train", "tensors", "weights"),
        (TRAINED, "lightning/version_0", "scalars", "train/loss_step"),
        (TRAINED, "keras/train", "tensors", "epoch_loss"),
        (TRAINED, "keras/train", "tensors", "sequential/dense/kernel/image"),
        (TRAINED, "tensorflow", "tensors", "exact"),
    ],
)
def test_the_comparison_sees_a_value_that_differs(
    tmp_path: Path, data: Path, run: str, kind: str, tag: str
) -> None:
    shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    expected = json.loads((data / "expected.json").read_text())
    rows = expected[run][kind][tag]
    row = (rows["values"] if kind == "tensors" else rows)[-1]
    if isinstance(row[-1], list):
        row[-1][-1] = "12345.5" if isinstance(row[-1][-1], str) else 12345
    else:
        row[-1] = "12345.5"
    (tmp_path / "expected.json").write_text(json.dumps(expected))
    assert differences(tmp_path) != []
