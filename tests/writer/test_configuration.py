from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer.configuration import flatten, train_facts


@dataclass
class Schedule:
    warmup: int = 10
    shape: tuple[Any, ...] = (1, 2)


def test_nested_settings_are_named_by_their_path() -> None:
    settings = {
        "optimizer": {"name": "adam", "lr": np.float32(0.5)},
        "schedule": Schedule(),
        "arguments": Namespace(seed=3, note=None),
        "amp": True,
        "path": Path("/data"),
        "activation": np.tanh,
        "weights": np.arange(3),
    }
    assert flatten(settings) == {
        "optimizer.name": "adam",
        "optimizer.lr": 0.5,
        "schedule.warmup": 10,
        "schedule.shape": "[1, 2]",
        "arguments.seed": 3,
        "amp": True,
        "path": "/data",
        "activation": "tanh",
        "weights": "[0, 1, 2]",
    }


def test_a_setting_that_holds_itself_ends() -> None:
    settings: dict[str, Any] = {"name": "loop"}
    settings["inner"] = settings
    facts = flatten(settings)
    assert facts["inner.name"] == "loop" and len(facts) < 20


def test_what_is_long_is_cut() -> None:
    assert len(str(flatten({"a": object(), "b": list(range(10_000))})["b"])) == 1000


def test_known_settings_are_facts_of_the_training() -> None:
    facts: dict[str, Any] = {
        "model.lr": 0.1,
        "batch_size": 32,
        "max_epochs": -1,
        "optim": "adamw",
        "epochs": 2.0,
        "lr": True,
    }
    expected = {"learning_rate": 0.1, "batch_size": 32, "optimizer": "adamw", "epoch": 2}
    assert train_facts(facts) == expected
