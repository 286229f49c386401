"""Hyperparameters of TensorBoard's plugin become lineage; metrics are the newest values of their scalars."""

from pathlib import Path
from typing import Any

import mindinsight
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
