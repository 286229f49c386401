"""The callback, called as a Trainer calls it. A real Trainer: tests/interop/loggers_in_frameworks.py."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest


@dataclass
class Arguments:
    output_dir: str
    learning_rate: float = 5e-5
    train_batch_size: int = 8
    optim: str = "adamw"
    seed: int = 42

    def to_dict(self) -> Any:
        return asdict(self)


class Model:
    config = None

    def named_parameters(self) -> Iterator[Any]:
        yield "weight", np.ones(3)


@pytest.fixture
def trainer(frameworks: Any, tmp_path: Path) -> tuple[Any, Any, Any]:
    arguments = Arguments(str(tmp_path), learning_rate=0.5, seed=3)
    state = SimpleNamespace(
        is_world_process_zero=True, global_step=0, num_train_epochs=2, is_hyper_param_search=False
    )
    return arguments, state, None


def callback(**options: Any) -> Any:
    from mindinsight.writer.integrations.transformers import MindInsightCallback

    return MindInsightCallback(**options)


def test_a_training_is_recorded_below_the_output_directory(
    trainer: tuple[Any, Any, Any], tmp_path: Path, reading_of: Any
) -> None:
    arguments, state, control = trainer
    recording = callback(weights_every=2)
    recording.on_train_begin(arguments, state, control, model=Model())
    for state.global_step in (1, 2):
        recording.on_step_end(arguments, state, control, model=Model())
        recording.on_log(arguments, state, control, logs={"loss": 1 / state.global_step, "epoch": 0.5})
    recording.on_log(arguments, state, control, logs={"eval_loss": 0.25})
    recording.on_evaluate(
        arguments, state, control, metrics={"eval_loss": 0.25, "eval_runtime": 3.0, "epoch": 1.0}
    )
    (tmp_path / "checkpoint-2").mkdir()
    recording.on_save(arguments, state, control)
    recording.on_train_end(arguments, state, control)
    reading = reading_of(tmp_path / "mindinsight")
    scalars = [(step, value.tag) for step, value in reading.values() if value.HasField("scalar_value")]
    assert scalars == [
        (1, "train/loss"),
        (1, "train/epoch"),
        (2, "train/loss"),
        (2, "train/epoch"),
        (2, "eval/loss"),
    ]
    assert [(step, value.tag) for step, value in reading.values() if value.HasField("histogram")] == [
        (2, "weight")
    ]
    last = {event.WhichOneof("what"): event for event in reading.lineage()}
    train = last["train_lineage"].train_lineage
    assert (train.algorithm.network, train.algorithm.loss, train.hyper_parameters.batch_size) == (
        "Model",
        0.5,
        8,
    )
    (seed,) = [
        entry.map_int32 for entry in last["user_defined_info"].user_defined_info.user_info if entry.map_int32
    ]
    assert dict(seed) == {"arguments.seed": 3}, "and not what has its default"
    assert json.loads(train.model.path)["ckpt"].endswith("checkpoint-2")
    assert json.loads(last["evaluation_lineage"].evaluation_lineage.metric) == {"loss": 0.25}


def test_other_ranks_record_only_when_asked(
    trainer: tuple[Any, Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reading_of: Any
) -> None:
    arguments, state, control = trainer
    state.is_world_process_zero = False
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    for every_rank in (False, True):
        recording = callback(log_dir=tmp_path / "job", every_rank=every_rank)
        recording.on_log(arguments, state, control, logs={"loss": 1.0})
        recording.on_train_end(arguments, state, control)
        assert (tmp_path / "job" / "rank_1").exists() == every_rank
    assert reading_of(tmp_path / "job" / "rank_1").scalars() == [(0, "train/loss", 1.0)]
