"""Which losses of a run need to fall. What is said of them is in tests/claims/situations/explain.py."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import mindinsight
from mindinsight.server.api.faults.judged_curves import falling_losses
from mindinsight.server.store.run import Run
from mindinsight.writer import SummaryRecord


def run_with(folder: Path, tags: Sequence[str]) -> Run:
    with SummaryRecord(str(folder / "run")) as record:
        for tag in tags:
            record.add_value("scalar", tag, 1.0)
        record.record(1)
    return mindinsight.open(folder).run("./run")


@pytest.mark.parametrize(
    ("tags", "falling"),
    [
        (["loss", "val/loss"], ["loss", "val/loss"]),
        (["loss", "loss/l2"], ["loss"]),
        (["l2_loss"], ["l2_loss"]),  # alone, it is the loss
        (["task_loss", "domain_loss", "g/loss"], ["task_loss"]),
        (["loss", "loss/std"], ["loss"]),
        (["loss", "reward"], []),
        (["loss", "episode_score"], []),
        (["loss", "charts/episode_length"], []),
        (["loss", "rollout/ep_len_mean"], []),
        (["loss", "sequence_length"], ["loss"]),
    ],
)
def test_losses_that_need_not_fall_are_left_out(tags: list[str], falling: list[str], tmp_path: Path) -> None:
    assert falling_losses(run_with(tmp_path, tags)) == falling
