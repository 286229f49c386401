"""Our writer inside PyTorch: graphs, gradients, operators, checkpoints.

Run with a Python that has torch.
"""

import math
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

from mindinsight.proto import graph_pb2
from mindinsight.writer import (
    CallbackList,
    HistogramSummary,
    KeepBest,
    LossMonitor,
    ModelCheckpoint,
    Print,
    RunArguments,
    RunContext,
    ScalarSummary,
    graph_of,
    record_gradients,
)
from mindinsight.writer.network import observed_graph
from mindinsight.writer.operators import take_operator_values


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return x * self.scale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.block = Block()
        self.tail = nn.Sequential(nn.Dropout(0.1), nn.Linear(4, 3))

    def forward(self, x):
        x = self.block(self.conv(x).mean((2, 3)))
        ScalarSummary()("mean", x.mean())
        HistogramSummary()("block", x)
        return self.tail(x)


class Branching(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum().item() > 0 else x


IMAGES = torch.randn(2, 1, 8, 8)


def parsed(content):
    return graph_pb2.ModelProto.FromString(content).graph


def sizes(proto):
    return [dim.size for dim in proto.tensor_type.shape.dim]


def check_graph_with_inputs():
    graph = parsed(graph_of(Net(), (IMAGES,)))
    names = [node.full_name for node in graph.node]
    assert names[0] == "Default/conv-Conv2d/conv2d-op0", names
    assert "Default/block-Block/layers-ModuleList/1-Linear/linear-op1" in names, names
    assert sizes(graph.node[0].output_type) == [2, 4, 6, 6]
    parameters = {parameter.name: sizes(parameter.type) for parameter in graph.parameters}
    assert parameters["block.layers.0.weight"] == [4, 4]
    assert parameters["x"] == [2, 1, 8, 8]
    roles = {parameter.name: parameter.role for parameter in graph.parameters}
    assert roles.pop("x") == graph_pb2.ParameterProto.INPUT
    assert set(roles.values()) == {graph_pb2.ParameterProto.WEIGHT}, roles
    assert take_operator_values() == [], "tracing delivers nothing"


def check_graph_without_inputs():
    graph = parsed(graph_of(Net()))
    assert graph.node[0].op_type == "Conv2d"
    assert "conv.weight" in [source.name for source in graph.node[0].input]


def check_observed_graph():
    network = Net()
    graph = observed_graph(network)
    network(IMAGES)
    assert sizes(parsed(graph()).node[0].output_type) == [2, 4, 6, 6]
    take_operator_values()


def check_a_network_nobody_can_trace():
    assert graph_of(Branching()) is None
    assert graph_of(Branching(), (torch.ones(2),)) is None
    assert graph_of(torch.ones(2)) is None


def check_operators_and_gradients():
    network = Net()
    end = record_gradients(network, "block")
    network(IMAGES).sum().backward()
    values = {(plugin, tag): value for plugin, tag, value in take_operator_values()}
    assert values["scalar", "mean"].ndim == 0
    gradient = values["histogram", "block.scale/gradient"]
    assert torch.equal(gradient, network.block.scale.grad)
    network.block.scale.grad.zero_()
    assert gradient.abs().sum() > 0, "what was delivered is not changed later"
    assert not any(tag.startswith("conv") for _, tag in values)
    end()
    network(IMAGES).sum().backward()
    assert all(plugin != "histogram" or tag == "block" for plugin, tag, _ in take_operator_values())


def check_operators_in_a_compiled_network():
    compiled = torch.compile(Net(), backend="eager")
    compiled(IMAGES)
    assert {tag for _, tag, _ in take_operator_values()} == {"mean", "block"}


def check_checkpoints(directory):
    network = Net()
    best = KeepBest("accuracy", directory=directory)
    run = RunContext(RunArguments(network=network, batch_num=2, cur_step_num=0, metrics={"accuracy": 0.5}))
    checkpoint = ModelCheckpoint("net", directory)
    with CallbackList([checkpoint, best]) as callbacks:
        callbacks.on_train_begin(run)
        run.original_args().cur_step_num = 2
        callbacks.on_train_step_end(run)
        callbacks.on_eval_end(run)
        callbacks.on_train_end(run)
    state = torch.load(Path(directory) / "net-1_2.pt")
    assert torch.equal(state["conv.weight"], network.conv.weight)
    assert torch.load(Path(directory) / "CKP-best.pt")["accuracy"] == 0.5
    take_operator_values()


def check_monitors():
    monitor = LossMonitor()
    run = RunContext(RunArguments(cur_step_num=1, net_outputs=torch.tensor(0.5, requires_grad=True)))
    monitor.on_train_step_end(run)
    run.original_args().net_outputs = torch.tensor(math.nan)
    try:
        monitor.on_train_step_end(run)
    except ValueError as error:
        assert "nan" in str(error)
    else:
        raise AssertionError("a NaN went through")
    Print()("bfloat16", torch.ones(2, dtype=torch.bfloat16), np.ones(1))


if __name__ == "__main__":
    check_graph_with_inputs()
    check_graph_without_inputs()
    check_observed_graph()
    check_a_network_nobody_can_trace()
    check_operators_and_gradients()
    check_operators_in_a_compiled_network()
    with tempfile.TemporaryDirectory() as folder:
        check_checkpoints(folder)
    check_monitors()
    print(f"PyTorch {torch.__version__}: graphs, gradients, operators, checkpoints, monitors: ok")
