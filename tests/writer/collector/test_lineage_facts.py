"""Lineage from the arguments of callbacks, where no framework says more."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.collector.lineage_facts import evaluation, newest_checkpoint, training


class Momentum:
    """Stands for an optimizer of a loop of one's own."""

    def __init__(self, **group: float) -> None:
        self.param_groups = [group]


def test_facts_of_a_loop_without_a_framework(tmp_path: Path) -> None:
    checkpoint = tmp_path / "net-1_2.ckpt"
    checkpoint.write_bytes(b"12345")
    facts = training(
        {
            "optimizer": Momentum(lr=0.1, initial_lr=0.5),
            "train_dataset_element": (np.zeros((32, 3)), np.zeros(32)),
            "batch_num": 10,
            "epoch_num": 3,
            "net_outputs": np.float32(0.25),
            "list_callback": [SimpleNamespace(latest_ckpt_file_name=str(checkpoint)), SimpleNamespace()],
        }
    )
    assert (facts["optimizer"], facts["learning_rate"], facts["epoch"]) == ("Momentum", 0.5, 3)
    assert (facts["batch_size"], facts["train_dataset_size"], facts["loss"]) == (32, 320, 0.25)
    assert (facts["model_path"], facts["model_size"]) == (str(checkpoint), 5)
    assert (facts["parallel_mode"], facts["device_num"]) == ("stand_alone", 1)


def test_of_nothing_nothing_is_known() -> None:
    facts = training({"net_outputs": "no numbers"})
    for name in ("optimizer", "learning_rate", "loss", "batch_size", "train_dataset_size", "model_path"):
        assert facts[name] is None, name
    assert facts["model_size"] == 0
    assert evaluation({}) == {"metrics": {}, "valid_dataset_path": None, "valid_dataset_size": None}


def test_a_count_beyond_what_lineage_holds_is_left_out() -> None:
    element = np.zeros((32, 1))
    assert training({"train_dataset_element": element, "batch_num": 1 << 30})["train_dataset_size"] is None


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_newest_file_is_that_of_the_last_callback_that_has_one(wrapped: bool) -> None:
    callbacks: Any = [SimpleNamespace(latest_ckpt_file_name=name) for name in ("a.ckpt", "b.ckpt", "")]
    arguments = {"list_callback": SimpleNamespace(_callbacks=callbacks) if wrapped else callbacks}
    assert newest_checkpoint(arguments) == Path("b.ckpt")
    assert newest_checkpoint({}) is None
