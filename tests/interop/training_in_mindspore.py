"""SummaryCollector in MindSpore's Model.train, eval and fit, in graph and PyNative mode, and a landscape.

    PYTHONPATH=proto:writer /envs/ms/bin/python tests/interop/training_in_mindspore.py

Needs mindspore 2.10, "numpy<2", google-crc32c and protobuf. Ends with a traceback at the first thing amiss.
"""

import json
import os
import tempfile
from pathlib import Path

import mindspore as ms
import numpy as np
import reading
from mindspore import nn, ops
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import CheckpointConfig, Loss, Model, ModelCheckpoint

from mindinsight.writer.collector import SummaryCollector
from mindinsight.writer.landscape import SummaryLandscape
from mindinsight.writer.record import SummaryRecord

STEPS = [1, 3, 6, 9, 12, 15, 18]
WEIGHTS = {"conv.weight", "fc.weight", "fc.bias"}
AUTO = {f"{name}/auto" for name in {"loss", "learning_rate", "input_data"} | WEIGHTS}


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 4, 3), nn.Dense(256, 3)
        self.relu, self.flatten = nn.ReLU(), nn.Flatten()
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()

    def construct(self, pictures):
        features = self.relu(self.conv(pictures))
        self.scalar("mean", features.mean())
        self.tensor("features", features)
        return self.fc(self.flatten(features))


def data():
    random = np.random.default_rng(0)
    columns = {"image": random.random((40, 1, 8, 8), np.float32), "label": np.arange(40, dtype=np.int32) % 3}
    return NumpySlicesDataset(columns, shuffle=False).batch(4)


def model_of(network):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), nn.exponential_decay_lr(0.1, 0.9, 30, 10, 1), 0.9)
    return Model(network, loss, optimizer, metrics={"Loss": Loss()})


def setup():
    network = Network()
    return model_of(network), network, data(), {"Loss": Loss()}


def train(directory, graph_mode):
    run = directory / "train"
    collector = SummaryCollector(
        str(run), collect_freq=3, custom_lineage_data={"version": 3},
        collect_specified_data={"collect_landscape": {"intervals": [[1, 5, 10, 15]], "landscape_size": 3}},
    )  # fmt: skip
    model = model_of(Network())
    saver = ModelCheckpoint("net", str(directory / "saved"), CheckpointConfig(10))
    model.train(2, data(), callbacks=[collector, saver], dataset_sink_mode=False)
    steps = reading.steps(run)
    assert set(steps) == AUTO | {"mean", "features", "code"}, sorted(steps)
    assert all(steps[tag] == STEPS for tag in AUTO | {"mean"}), steps
    assert len(reading.graphs(run)) == graph_mode
    rates = [value.scalar_value for _, value in reading.values(run) if value.tag == "learning_rate/auto"]
    assert rates[0] > rates[-1] > 0, rates
    lineage = dict(reading.lineage(run))
    assert set(lineage) == {"dataset_graph", "user_defined_info", "train_lineage"}, lineage
    train_lineage = lineage["train_lineage"]
    assert train_lineage.algorithm.network == "Network"
    assert train_lineage.train_dataset.train_dataset_size == 40
    assert train_lineage.model.size == Path(json.loads(train_lineage.model.path)["ckpt"]).stat().st_size
    model.eval(data(), callbacks=[collector], dataset_sink_mode=False)
    assert "evaluation_lineage" in dict(reading.lineage(run))


def fit(directory):
    run = directory / "fit"
    collector = SummaryCollector(str(run), collect_freq=3)
    model_of(Network()).fit(2, data(), data(), callbacks=[collector], dataset_sink_mode=True)
    assert reading.steps(run)["loss/auto"] == STEPS
    kinds = [kind for kind, _ in reading.lineage(run)]
    assert kinds.count("evaluation_lineage") == 2, kinds


def landscape(directory):
    SummaryLandscape(directory / "train").gen_landscapes_with_multi_process(setup)
    (message,) = [value.loss_landscape for _, value in reading.values(directory / "train")
                  if value.HasField("loss_landscape")]  # fmt: skip
    assert len(message.landscape.z.float_data) == 9
    assert np.isfinite(message.loss_path.points.z.float_data).all()
    saved = next((directory / "train" / "ckpt_dir").glob("*_5_step.ckpt"))
    assert set(ms.load_checkpoint(str(saved))) == WEIGHTS


def arrays(directory):
    with SummaryRecord(directory / "arrays") as record:
        for dtype in (ms.bfloat16, ms.float16, ms.float32, ms.int64, ms.bool_):
            value = ms.Tensor(np.arange(6).reshape(1, 1, 2, 3), ms.float32).astype(dtype)
            for plugin in ("tensor", "histogram", "image"):
                record.add_value(plugin, str(dtype), value)
            record.add_value("scalar", str(dtype), value.reshape(-1)[1])
        record.add_value("tensor", "parameter", ms.Parameter(np.ones(3, np.float32)))
        record.record(1)
    assert len(reading.values(directory / "arrays")) == 21


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)  # MindSpore leaves files where it runs
        for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
            ms.set_context(mode=mode)
            directory = Path(temporary) / str(mode)
            train(directory, graph_mode=mode == ms.GRAPH_MODE)
            fit(directory)
            landscape(directory)
            arrays(directory)
            print(f"ok   MindSpore {ms.__version__}, mode {mode}: train, eval, fit, landscape, arrays")
