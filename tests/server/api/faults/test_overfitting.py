"""Names of training and validation losses that belong together. Sentences are in tests/claims/situations."""

from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.server.api.curve_faults import curve_claims
from mindinsight.writer import SummaryRecord


@pytest.mark.parametrize(
    ("train", "validation", "pair"),
    [
        ("train/loss", "val/loss", True),
        ("train/loss", "eval/perplexity", True),
        ("loss", "heldout/ce", True),
        ("train_nll", "dev_ppl", True),
        ("train/box_loss", "val/cls_loss", False),
        ("train/loss", "other/loss", False),
    ],
)
def test_losses_of_one_name_but_for_the_data_are_compared(
    train: str, validation: str, pair: bool, tmp_path: Path
) -> None:
    with SummaryRecord(str(tmp_path / "run")) as record:
        for step in range(100):
            record.add_value("scalar", train, 2 * np.exp(-step / 30) + 0.05)
            record.add_value("scalar", validation, 1 + np.exp(-step / 10) + 0.01 * max(step - 40, 0))
            record.record(step)
    keys = {claim.key for claim in curve_claims([mindinsight.open(tmp_path).run("./run")])}
    assert any(key.startswith("claim.explain.overfit") for key in keys) == pair
