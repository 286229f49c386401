"""Hyperparameters of TensorBoard's plugin become lineage; metrics are the newest values of their scalars."""

import math
from pathlib import Path
from typing import Any

import pytest

import mindinsight
from mindinsight.proto.tensorboard_pb2 import HParamsPluginData
from mindinsight.server.formats.tensorboard import hparams
from tests.narrowing import require

RUNS = Path(__file__).parents[3] / "data" / "tfevents" / "runs"


def test_torch_and_tensorboardx_sessions_are_lineage() -> None:
    summary = mindinsight.open(RUNS)
    torch, x = (summary.run(run).lineage for run in ("./torch/trial", "./x/trial"))
    assert require(torch).user_defined == {"lr": 0.1, "layers": 3, "name": "adam", "flag": 1}
    assert require(x).user_defined == {"lr": 0.1, "layers": 3, "flag": True}
    assert {name: round(value, 6) for name, value in require(torch).metrics.items()} == {
        "hparam/accuracy": 0.9,
        "hparam/loss": 0.1,
    }
    assert all(summary.run(run).finished for run in ("./torch/trial", "./x/trial"))


def test_a_metric_follows_its_scalar(tf: Any, folder: Any) -> None:
    name = tf.field(1, tf.field(2, b"accuracy"))
    experiment = tf.plugin("hparams", tf.field(2, tf.field(5, name)))
    file = folder / "events.out.tfevents.1700000000.host"
    file.write_bytes(tf.record(0, experiment) + tf.record(1, tf.scalar("accuracy", 0.5)))
    summary = mindinsight.open(folder.parent)
    assert require(summary.run("./run").lineage).metrics == {"accuracy": 0.5}
    with file.open("ab") as stream:
        stream.write(tf.record(2, tf.scalar("accuracy", 0.75)))
    summary.refresh()
    assert require(summary.run("./run").lineage).metrics == {"accuracy": 0.75}


def test_one_number_that_json_does_not_have_keeps_all_others(tf: Any, folder: Any) -> None:
    def hparam(name: str, value: bytes) -> bytes:
        return tf.field(1, tf.field(1, name.encode()) + tf.field(2, value))

    values = {
        "lr": tf.field(2, 0.5),
        "decay": tf.field(2, math.nan),
        "clip": tf.field(2, math.inf),
        "layers": tf.field(2, 3.0),
        "net": tf.field(3, b"mlp"),
        "bias": tf.field(4, 1),
        "sizes": tf.field(6, tf.field(1, tf.field(2, math.nan)) + tf.field(1, tf.field(2, 8.0))),
        "none": tf.field(1, 0),
    }
    start = tf.field(3, b"".join(hparam(name, value) for name, value in values.items()))
    file = folder / "events.out.tfevents.1700000000.host"
    file.write_bytes(tf.record(0, tf.plugin("hparams", start)))
    settings = require(mindinsight.open(folder.parent).run("./run").lineage).user_defined
    assert list(settings) == list(values)
    assert math.isnan(settings["decay"])
    assert math.isnan(settings["sizes"][0])
    known = {name: settings[name] for name in ("lr", "clip", "layers", "net", "bias", "none")}
    assert known == {"lr": 0.5, "clip": math.inf, "layers": 3, "net": "mlp", "bias": True, "none": None}


def test_the_description_of_sessions_is_no_run(tf: Any, folder: Any) -> None:
    """``hp.hparams_config`` writes it into the folder above those of the sessions."""
    experiment = tf.plugin("hparams", tf.field(2, tf.field(5, tf.field(1, tf.field(2, b"accuracy")))))
    name = "events.out.tfevents.1700000000.host"
    (folder / name).write_bytes(tf.record(0, experiment))
    assert mindinsight.open(folder.parent).runs == ("./run",)  # the only one: it is shown
    (folder / "1").mkdir()
    (folder / "1" / name).write_bytes(tf.record(1, tf.scalar("accuracy", 0.5)))
    assert mindinsight.open(folder.parent).runs == ("./run/1",)
    with (folder / name).open("ab") as stream:
        stream.write(tf.record(2, tf.scalar("accuracy", 0.75)))
    assert set(mindinsight.open(folder.parent).runs) == {"./run", "./run/1"}


def test_a_session_of_many_contents_has_a_limited_number_of_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hparams, "_MAX_ITEMS", 3)
    contents = []
    for number in range(5):
        message = HParamsPluginData()
        for tag in (f"metric {number}", f"metric {number}"):
            message.experiment.metric_infos.add().name.tag = tag
        for name, value in ((f"setting {number}", number), ("setting 0", 10 * number)):
            entry = message.session_start_info.hparams.add()
            entry.key, entry.value.number_value = name, value
        contents.append(message.SerializeToString())
    session = hparams.read_session(contents)
    assert session.metrics == ["metric 0", "metric 1", "metric 2"]
    assert session.hparams == {"setting 0": 40, "setting 1": 1, "setting 2": 2}
