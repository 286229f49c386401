import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.integrations.training import Training, parent_run


@pytest.fixture
def lineage(reading: Any) -> Callable[..., Any]:
    def last() -> dict[Any, Any]:
        return {event.WhichOneof("what"): event for event in reading.lineage()}

    return last


def test_numbers_are_recorded_and_the_rest_is_passed_over(reading: Any) -> None:
    training = Training(reading.directory)
    training.numbers(
        {"loss": np.float32(0.5), "inner": {"a": 2}, "note": "begun", "list": [1, 2]}, 3, "train/"
    )
    training.close()
    assert reading.scalars() == [(3, "train/loss", 0.5), (3, "train/inner/a", 2.0)]


def test_a_fault_is_one_alert_however_many_tags_it_reaches(reading: Any) -> None:
    nan = float("nan")
    training = Training(reading.directory)
    for step, (loss, rate) in enumerate([(nan, 0.5), (nan, nan), (0.5, nan), (0.5, 0.5), (0.5, nan)]):
        training.numbers({"loss": loss, "rate": rate}, step)
    training.close()
    alerts = [(event.step, event.alert.title) for event in reading.events() if event.HasField("alert")]
    assert alerts == [(0, "loss is nan"), (4, "rate is nan")]
    assert len(reading.scalars()) == 10


def test_what_is_known_is_together_in_the_last_message(reading: Any, lineage: Callable[..., Any]) -> None:
    checkpoint = reading.directory / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "weights.bin").write_bytes(bytes(100))
    training = Training(reading.directory)
    training.configure({"lr": 0.5, "data": {"folds": 3}}, network="Net", optimizer=None)
    training.checkpoint(checkpoint)
    training.evaluation({"accuracy": 0.5, "report": "text"})
    training.evaluation({"recall": 0.25})
    training.close(loss=np.float64(0.125))
    train = lineage()["train_lineage"].train_lineage
    assert (train.algorithm.network, train.algorithm.loss) == ("Net", 0.125)
    assert train.hyper_parameters.learning_rate == 0.5
    assert json.loads(train.model.path) == {"ckpt": str(checkpoint)} and train.model.size == 100
    assert json.loads(lineage()["evaluation_lineage"].evaluation_lineage.metric) == {
        "accuracy": 0.5,
        "recall": 0.25,
    }
    (entry,) = [
        entry for entry in lineage()["user_defined_info"].user_defined_info.user_info if entry.map_int32
    ]
    assert dict(entry.map_int32) == {"data.folds": 3}


def test_distributions_of_what_has_elements(reading: Any) -> None:
    training = Training(reading.directory)
    training.distributions([("a", np.ones(3)), ("b", None), ("c", np.ones((0, 2)))], 4, "/gradient")
    training.close()
    assert [(step, value.tag) for step, value in reading.values()] == [(4, "a/gradient")]


def test_each_process_of_a_launcher_has_its_directory(
    reading: Any, reading_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "8")
    training = Training(reading.directory / "job")
    training.configure({})
    training.close()
    (event,) = reading_of(reading.directory / "job" / "rank_3").lineage()
    assert event.train_lineage.hyper_parameters.device_num == 8


def recorded(run: Path) -> Path:
    """A run with an event file, and a checkpoint in it."""
    (run / "checkpoints").mkdir(parents=True)
    (run / "events.out.events.summary.1700000000.0.host_MS").touch()
    checkpoint = run / "checkpoints" / "last.ckpt"
    checkpoint.touch()
    return checkpoint


def test_a_checkpoint_of_another_run_makes_that_the_parent(tmp_path: Path) -> None:
    checkpoint = recorded(tmp_path / "exp" / "version_0")
    assert parent_run(checkpoint, tmp_path / "exp" / "version_1") == "version_0"
    assert parent_run(checkpoint, tmp_path / "other" / "version_1") == "exp/version_0"
    ranks = recorded(tmp_path / "job" / "rank_0").parents[2] / "last.ckpt"
    assert parent_run(ranks, tmp_path / "job_2") == "job"


def test_what_is_no_parent(tmp_path: Path) -> None:
    checkpoint = recorded(tmp_path / "a")
    assert parent_run(checkpoint, tmp_path / "a") is None  # the run goes on in its own directory
    assert parent_run(checkpoint, tmp_path / "a" / "inner") is None
    assert parent_run(tmp_path / "downloads" / "model.ckpt", tmp_path / "b") is None
    deep = tmp_path / "a" / "1" / "2" / "3" / "model.ckpt"
    assert parent_run(deep, tmp_path / "b") is None  # so far down it may be anybody's


def test_a_checkpoint_in_a_bucket_is_in_no_run(reading: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(reading.directory.parent / "here")
    monkeypatch.chdir(reading.directory.parent / "here")  # the URL is no path below it
    training = Training(reading.directory, also=())
    training.resumed("s3://bucket/last.ckpt", 99)
    training.close()
    assert not [event for event in reading.lineage() if event.HasField("user_defined_info")]


def test_a_resumed_training_names_its_parent(reading: Any) -> None:
    checkpoint = recorded(reading.directory.parent / "before")
    training = Training(reading.directory, also=())
    training.resumed(checkpoint, 99)
    training.close()
    (event,) = [event for event in reading.lineage() if event.HasField("user_defined_info")]
    (info,) = event.user_defined_info.user_info
    assert dict(info.map_str) == {"parent_run": "before@99"}
