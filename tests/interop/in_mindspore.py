"""Our writer inside MindSpore: callbacks and metrics in Model, graphs, operators in both modes, gradients.

Run with a Python that has mindspore.
"""

import contextlib
import copy
import io
import json
import logging
import os
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
    HistogramSummary,
    ImageSummary,
    KeepBest,
    Loss,
    LossMonitor,
    ModelCheckpoint,
    Print,
    RecorderSettings,
    ScalarSummary,
    StopAfterTime,
    SummaryCollector,
    SummaryRecord,
    TensorSummary,
    TimeMonitor,
    graph_of,
    record_gradients,
)
from mindinsight.writer.operators import take_operator_values

RECORDED = Path(__file__).parents[1] / "data" / "writer"
MODES = {"graph mode": mindspore.GRAPH_MODE, "PyNative mode": mindspore.PYNATIVE_MODE}


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


class OurOperators(nn.Cell):
    """Made in __init__, outside of the cell and in construct."""

    def __init__(self):
        super().__init__()
        self.scalar, self.image, self.tensor = ScalarSummary(), ImageSummary(), TensorSummary()
        self.print = Print()

    def construct(self, x):
        mean = x.mean()
        self.scalar("mean", mean)
        self.image("picture", x)
        self.tensor("x", x)
        HISTOGRAM("spread", x)
        ScalarSummary()("sum", x.sum())
        self.print("x", x[0, 0, 0])
        return mean


HISTOGRAM = HistogramSummary()
VALUES = {
    ("scalar", "mean"),
    ("image", "picture"),
    ("tensor", "x"),
    ("histogram", "spread"),
    ("scalar", "sum"),
}


def check_our_operators_in_construct(mode):
    mindspore.set_context(mode=mode)
    take_operator_values()
    network = copy.deepcopy(OurOperators())
    network(mindspore.Tensor(np.ones((1, 3, 2, 2), np.float32))).asnumpy()
    assert {(plugin, tag) for plugin, tag, _ in take_operator_values()} == VALUES


class Printing(nn.Cell):
    def __init__(self, operator):
        super().__init__()
        self.print = operator

    def construct(self, *arrays):
        for array in arrays:
            self.print(array)
        return arrays[0]


def check_print():
    """What theirs prints in graph mode is what was recorded, and what ours prints in both modes."""
    with np.load(RECORDED / "mindspore_print.npz") as arrays:
        tensors = [mindspore.Tensor(arrays[name]) for name in arrays.files]
    recorded = (RECORDED / "mindspore_print.txt").read_text()
    for operator, mode in (ops.Print, "graph mode"), (Print, "graph mode"), (Print, "PyNative mode"):
        mindspore.set_context(mode=MODES[mode])
        with printed() as text:
            Printing(operator())(*tensors).asnumpy()
        assert text() == recorded, f"{operator.__module__}, {mode}:\n{text()}"


@contextlib.contextmanager
def printed():
    """What is written to the descriptor of the standard output, which graph mode does in C++."""
    sys.stdout.flush()
    before = os.dup(1)
    with tempfile.TemporaryFile("w+") as file:
        os.dup2(file.fileno(), 1)
        content = io.StringIO()
        try:
            yield content.getvalue
            sys.stdout.flush()
        finally:
            os.dup2(before, 1)
            os.close(before)
            file.seek(0)
            content.write(file.read())


def check_gradients(mode):
    mindspore.set_context(mode=mode)
    network = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    end = record_gradients(network)
    take_operator_values()
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    Model(network, loss, optimizer).train(1, dataset(), dataset_sink_mode=False)
    gradients = {tag: value for plugin, tag, value in take_operator_values() if plugin == "histogram"}
    assert {tag: value.shape for tag, value in gradients.items()} == {
        "fc.weight/gradient": (3, 4),
        "fc.bias/gradient": (3,),
    }
    end()
    if mode == mindspore.PYNATIVE_MODE:
        record_gradients(network, every=4)
        Model(network, loss, optimizer).train(1, dataset(), dataset_sink_mode=False)
        assert any(plugin == "histogram" for plugin, _, _ in take_operator_values())
    else:
        try:
            record_gradients(network, every=2)
        except ValueError as error:
            assert "every must be 1" in str(error)
        else:
            raise AssertionError("there is no Python function to count passes in graph mode")


def check_reason(directory):
    """A network without a graph: the recorder and the collector say why."""
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logging.getLogger("mindinsight").addHandler(handler)
    with SummaryRecord(f"{directory}/record", network=Net()) as record:
        for step in range(4):
            record.record(step)
    model().train(
        1, dataset(), callbacks=[SummaryCollector(f"{directory}/collector")], dataset_sink_mode=False
    )
    logging.getLogger("mindinsight").removeHandler(handler)
    assert len([text for text in messages if "compiles no graph in PyNative mode" in text]) == 2, messages


def check_recorder_by_file(directory):
    """set_context(env_config_path=...) turns the Running Data Recorder on."""
    path = Path(directory) / "config.json"
    path.write_text(json.dumps({"rdr": {"enable": True, "mode": 2, "path": f"{directory}/left"}}))
    mindspore.set_context(env_config_path=str(path))
    assert RecorderSettings.of({}) == RecorderSettings(True, 2, Path(directory) / "left")
    with SummaryRecord(f"{directory}/run") as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
    left = [file.name for file in (Path(directory) / "left" / "rank_0" / "rdr").iterdir()]
    assert any(name.startswith("SUMMARY.last_values") for name in left), left


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
    check_print()
    for mode in MODES.values():
        check_our_operators_in_construct(mode)
        check_gradients(mode)
    with tempfile.TemporaryDirectory() as folder:
        check_reason(folder)
    with tempfile.TemporaryDirectory() as folder:
        check_recorder_by_file(folder)
    check_messages()
    print(
        f"MindSpore {mindspore.__version__}: callbacks, metrics, graphs, operators, gradients, messages: ok"
    )
