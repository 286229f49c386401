"""Our writer inside MindSpore: callbacks and metrics in Model, graphs, operators.

Run with a Python that has mindspore.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import mindspore
import numpy as np
from mindspore import nn, ops
from mindspore.train import Model

from mindinsight.proto import graph_pb2
from mindinsight.writer import (
    Accuracy,
    Callback,
    CheckpointConfig,
    KeepBest,
    Loss,
    LossMonitor,
    ModelCheckpoint,
    Print,
    ScalarSummary,
    StopAfterTime,
    TimeMonitor,
    graph_of,
)
from mindinsight.writer.operators import take_operator_values


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)
        self.relu = nn.ReLU()
        self.scalar = ops.ScalarSummary()

    def construct(self, x):
        y = self.relu(self.fc(x))
        self.scalar("mean", y.mean())
        return y


class Steps(Callback):
    """Written with the old forms, which fit() refuses in callbacks of MindSpore's."""

    def __init__(self, stop_at):
        self.seen, self.stop_at = [], stop_at

    def step_end(self, run_context):
        self.seen.append(run_context.original_args().cur_step_num)
        if len(self.seen) == self.stop_at:
            run_context.request_stop()


def dataset():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(24, 4)).astype(np.float32), rng.integers(0, 3, 24).astype(np.int32)
    return mindspore.dataset.NumpySlicesDataset((x, y), shuffle=False).batch(4)


def model():
    network = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    return Model(network, loss, optimizer, metrics={"accuracy": Accuracy(), "loss": Loss()})


def check_callbacks(directory):
    trained = model()
    steps = Steps(stop_at=9)
    checkpoint = ModelCheckpoint("net", directory, CheckpointConfig(4, append_info=["step_num"]))
    callbacks = [steps, LossMonitor(4), TimeMonitor(), checkpoint, StopAfterTime(5)]
    trained.train(5, dataset(), callbacks=callbacks)
    assert steps.seen == list(range(1, 10))
    assert sorted(path.name for path in Path(directory).iterdir())[:1] == ["net-1_4.ckpt"]
    loaded = mindspore.load_checkpoint(checkpoint.latest_ckpt_file_name)
    assert int(loaded["step_num"]) == 9


def check_evaluation_and_fit(directory):
    trained = model()
    best = KeepBest("accuracy", directory=directory)
    metrics = trained.eval(dataset(), callbacks=best)
    assert set(metrics) == {"accuracy", "loss"}
    assert best.best == metrics["accuracy"]
    trained.fit(2, dataset(), dataset(), callbacks=[best, Steps(stop_at=0), LossMonitor(0)])
    assert (Path(directory) / "CKP-best.ckpt").exists()


def check_graph(mode):
    mindspore.set_context(mode=mode)
    take_operator_values()
    network = Net()
    x = mindspore.Tensor(np.ones((2, 4), np.float32))
    assert graph_of(network) is None
    network(x)
    assert (graph_of(network) is None) == (mode == mindspore.PYNATIVE_MODE)
    graph = graph_pb2.ModelProto.FromString(graph_of(network, (x,))).graph
    assert any(node.scope == "Default/fc-Dense" for node in graph.node)
    ((plugin, tag, value),) = take_operator_values()
    assert (plugin, tag, value.shape) == ("scalar", "mean", ()), (plugin, tag)


def check_our_operators():
    take_operator_values()
    ScalarSummary()("ours", mindspore.Tensor([2.5], mindspore.float32))
    Print()("x", mindspore.Tensor([1, 2], mindspore.bfloat16))
    ((_, tag, value),) = take_operator_values()
    assert (tag, float(value.asnumpy()[0])) == ("ours", 2.5)


def check_messages():
    """Both packages' protobuf messages live in one process, whichever came first."""
    ours, theirs = "mindinsight.proto.summary_pb2", "mindspore.train.summary_pb2"
    for first, second in (ours, theirs), (theirs, ours):
        program = f"""
import sys, {first}, {second}
event = sys.modules["{ours}"].Event(step=7)
event.summary.value.add(tag="loss", scalar_value=0.5)
parsed = sys.modules["{theirs}"].Event.FromString(event.SerializeToString())
assert (parsed.step, parsed.summary.value[0].tag) == (7, "loss")
"""
        subprocess.run([sys.executable, "-c", program], check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        check_callbacks(folder)
    with tempfile.TemporaryDirectory() as folder:
        check_evaluation_and_fit(folder)
    check_graph(mindspore.GRAPH_MODE)
    check_graph(mindspore.PYNATIVE_MODE)
    check_our_operators()
    check_messages()
    print(f"MindSpore {mindspore.__version__}: callbacks, metrics, graphs, operators, messages: ok")
