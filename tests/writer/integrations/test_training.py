import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.integrations.training import Training


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
