"""Our dump recorder inside MindSpore: PyNative mode operator by operator, graph mode by delegation.

Run with a Python that has mindspore. Graph mode needs processes of its own, since MindSpore reads its dump
configuration once.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, mint, nn, ops

from mindinsight.proto import graph_pb2
from mindinsight.writer import DumpRecorder


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(4, 4) for _ in range(2)])
        self.drop = nn.Dropout(p=0.0)

    def construct(self, x):
        for layer in self.layers:
            x = x + mint.nn.functional.relu(self.drop(layer(x)))
        return x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.norm = nn.BatchNorm1d(4)
        self.head = mint.nn.Linear(4, 3)

    def construct(self, x):
        return ops.log(self.head(self.norm(self.block(x))).square() + 1)


class Plain(nn.Cell):
    """The network of the recorded dump of MindSpore's own."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(4, 3)
        self.act = nn.ReLU()
        self.fc2 = nn.Dense(3, 2)

    def construct(self, x):
        return self.fc2(self.act(self.fc1(x)))


class Planted(nn.Cell):
    """A network whose square root gets a negative number."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        hidden = self.fc(x)
        return ops.sqrt(hidden - 100)  # the planted fault


def made(kind=Net):
    mindspore.set_seed(1)
    network = kind()
    network.set_train()
    return network


def train(network, steps, recorder=None):
    """Losses of some steps and the weights after them, to the last bit."""
    mindspore.set_seed(3)
    rng = np.random.default_rng(0)
    optimizer = nn.Adam(network.trainable_params(), 0.01)

    def loss_of(x, y):
        return nn.MSELoss()(network(x), y)

    gradient = mindspore.value_and_grad(loss_of, None, optimizer.parameters)
    values = []
    for _ in range(steps):
        x = Tensor(rng.normal(size=(8, 4)).astype(np.float32))
        y = Tensor(rng.normal(size=(8, 3)).astype(np.float32))
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        values.append(float(loss.asnumpy()).hex())
        if recorder is not None:
            recorder.step()
    return values, [parameter.asnumpy().tobytes() for parameter in network.get_parameters()]


def files(path, step=0):
    """Names of the tensor files of a step, in the order of writing."""
    (folder,) = Path(path).glob(f"rank_0/*/0/{step}")
    names = [file.name for file in folder.glob("*.npy")]
    return sorted(names, key=lambda name: int(name.split(".")[4]))


def nodes(path):
    (file,) = Path(path).glob("rank_0/graphs/*.pb")
    return list(graph_pb2.ModelProto.FromString(file.read_bytes()).graph.node)


def short(name):
    parts = name.split(".")
    return ".".join([*parts[:2], *parts[5:7], parts[8]])


def check_training_is_bit_identical(folder):
    """Without dropout, of which MindSpore draws other numbers each time, whatever the seed, also alone."""
    plain = train(made(), 50)
    options = ({}, {"op_debug_mode": 3}, {"iteration": "0|10-12", "saved_data": "full"}, {"input_output": 1})
    for number, chosen in enumerate(options):
        network = made()
        with DumpRecorder(network, {**chosen, "net_name": "Net"}, path=folder / str(number)) as recorder:
            assert train(network, 50, recorder) == plain, chosen


def own_process(*arguments, **environment):
    """Output of this script in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check_scopes_and_lines(folder):
    network = made()
    with DumpRecorder(network, {"saved_data": "full"}, path=folder) as recorder:
        train(network, 1, recorder)
    names = [node.full_name for node in nodes(folder)]
    for name in (
        "Default/block-Block/0-Dense/MatMul-op0",
        "Default/block-Block/1-Dense/BiasAdd-op0",
        "Default/norm-BatchNorm1d/BatchNorm-op0",
        "Default/head-Linear/Dense-op0",
        "Default/Log-op0",
        "Gradients/Default/Grad_Log/Div-op0",
        "Gradients/Default/block-Block/1-Dense/Grad_MatMul/MatMul-op0",
        "Gradients/Default/block-Block/0-Dense/Grad_MatMul/MatMul-op0",
    ):
        assert name in names, (name, names)
    code = {node.full_name: node.source_address[0] for node in nodes(folder) if node.source_address}
    for name in ("Default/Log-op0", "Gradients/Default/Grad_Log/Div-op0"):
        assert "return ops.log(self.head(self.norm(self.block(x))).square() + 1)" in code[name], code[name]
    assert "x = x + mint" in code["Default/block-Block/0-Dense/MatMul-op0"]


def check_values_are_those_of_the_call(folder):
    """Operators in place, several outputs, types of two bytes, and values beside tensors."""

    class Strange(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor([[2.5]]), name="weight")

        def construct(self, x):
            x = x + 0
            ops.assign_add(self.weight, Tensor([[1.0]]))
            x = x + self.weight
            values, positions = ops.topk(x, 2)
            half = values.astype(mindspore.bfloat16) + values.astype(mindspore.bfloat16)
            small = values.half() * 3
            return half, small, positions

    network = Strange()
    with DumpRecorder(network, {"saved_data": "full"}, path=folder) as recorder:
        half, small, _ = network(Tensor([[1.0, 2.25, 3.0]], mindspore.float32))
        recorder.step()
    (step,) = Path(folder).glob("rank_0/*/0/0")
    read = {short(name): np.load(step / name) for name in files(folder)}
    before = [values for name, values in read.items() if "AssignAdd" in name and "input.0" in name]
    after = [values for name, values in read.items() if "AssignAdd" in name and "output.0" in name]
    assert (before[0].tolist(), after[0].tolist()) == ([[2.5]], [[3.5]]), list(read)
    assert next(v for name, v in read.items() if name.startswith("TopK") and "output.1" in name).tolist() == [
        [2, 1]
    ]
    wide = [v for name, v in read.items() if name.endswith("output.0.BFloat16") and name.startswith("Add")]
    assert wide[-1].tolist() == half.float().asnumpy().tolist()
    narrow = [v for name, v in read.items() if name.endswith("output.0.Float16") and name.startswith("Muls")]
    assert narrow[-1].tobytes() == small.asnumpy().tobytes()
    rows = (step / "statistic.csv").read_text()
    assert ",bfloat16," in rows and ",float16," in rows


class Pictures(nn.Cell):
    """Convolutions, normalisation and pooling, whose backward MindSpore's autograd runs unseen."""

    def __init__(self):
        super().__init__()
        self.conv1, self.norm, self.act = nn.Conv2d(1, 3, 3, has_bias=True), nn.BatchNorm2d(3), nn.ReLU()
        self.pool, self.conv2, self.mean = nn.MaxPool2d(2, 2), nn.Conv2d(3, 4, 3), nn.AvgPool2d(2, 2)
        self.up, self.head, self.layer = nn.Conv2dTranspose(4, 4, 3), nn.Dense(16, 3), nn.LayerNorm((3,))

    def construct(self, x):
        x = self.pool(self.act(self.norm(self.conv1(x.reshape(-1, 1, 8, 8)))))
        return self.layer(self.head(self.mean(self.up(self.conv2(x))).reshape(x.shape[0], -1)))


def check_backward_of_convolution_and_pooling(folder):
    """Each is recorded with what went in and the very gradients that the training got."""
    x = Tensor(np.random.default_rng(0).normal(size=(2, 1, 8, 8)).astype(np.float32))

    def gradients_of(network, recorder=None):
        weights = network.trainable_params()
        gradient = mindspore.grad(lambda x: network(x).square().sum(), None, weights)
        for _ in range(3):
            gradients = gradient(x)
            if recorder is not None:
                recorder.step()
        return {weight.name: value.asnumpy() for weight, value in zip(weights, gradients, strict=True)}

    plain, network = gradients_of(made(Pictures)), made(Pictures)
    with DumpRecorder(network, {"saved_data": "full"}, path=folder) as recorder:
        watched = gradients_of(network, recorder)
    assert all(watched[name].tobytes() == value.tobytes() for name, value in plain.items())
    read = values_of(folder, 2)
    kinds = {name.partition(".")[0] for name in read}
    expected = {"Conv2DBackpropInput", "Conv2DBackpropFilter", "BatchNormGrad", "MaxPoolGrad", "AvgPoolGrad"}
    assert expected | {"BiasAddGrad", "LayerNormGrad"} <= kinds, kinds
    for cell in ("conv1", "conv2", "up"):
        (name,) = (n for n in read if n.startswith("Conv2DBackpropFilter") and cell in n and "output" in n)
        assert read[name].tobytes() == watched[f"{cell}.weight"].tobytes(), name
    (given,) = (n for n in read if n.startswith("MaxPoolGrad") and "input.2" in n)
    (pooled,) = (n for n in read if n.startswith("Conv2DBackpropInput") and "conv2" in n and "output" in n)
    assert read[given].tobytes() == read[pooled].tobytes()
    assert not list(Path(folder).rglob("not_recorded.json"))


def check_what_is_compiled_is_noted(folder, caught):
    @mindspore.jit
    def squashed(x):
        return ops.tanh(x)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(4, 3)

        def construct(self, x):
            return squashed(self.fc(x)).sum()

    network = made(Net)
    with DumpRecorder(network, {}, path=folder) as recorder:
        mindspore.grad(network, None, network.trainable_params())(Tensor(np.ones((2, 4), np.float32)))
        recorder.step()
    (noted,) = Path(folder).rglob("not_recorded.json")
    assert [(gap["kind"], gap["names"]) for gap in json.loads(noted.read_text())] == [("backward", ["jit"])]
    assert any("backward operators of jit" in text for text in caught), caught


def check_two_networks(folder):
    generator, discriminator = made(Block), made(Net)
    with DumpRecorder({"G": generator, "D": discriminator}, {}, path=folder) as recorder:
        gradient = mindspore.grad(
            lambda x: discriminator(generator(x)).mean(), None, generator.trainable_params()
        )
        gradient(Tensor(np.ones((8, 4), np.float32)))
        recorder.step()
    names = {node.full_name for node in nodes(folder)}
    assert "Default/G-Block/0-Dense/MatMul-op0" in names, names
    assert "Gradients/Default/D-Net/head-Linear/Grad_Dense/MatMul-op0" in names, names


def check_bad_use(folder, caught):
    """Exceptions in the step, two recorders, forks: the training and its cells stay as they were."""
    network = made()
    x = Tensor(np.ones((8, 4), np.float32))
    for error in (KeyboardInterrupt, ValueError):
        try:
            with DumpRecorder(network, {}, path=folder / error.__name__) as recorder:
                network(x)
                raise error
        except error:
            pass
        assert not recorder._capture.running
        assert files(folder / error.__name__)
    with DumpRecorder(network, {}, path=folder / "first") as recorder:
        for action, expected in (
            (recorder.start, "started already"),
            (DumpRecorder(network, {}, path=folder / "second").start, "another recorder"),
        ):
            try:
                action()
            except RuntimeError as refused:
                assert expected in str(refused), refused
            else:
                raise AssertionError(expected)
        network(x)
        if (child := os.fork()) == 0:
            recorder.step()
            os._exit(0)
        os.waitpid(child, 0)
        recorder.step()
    assert files(folder / "first") and not list(folder.glob("second/rank_0/*/0/0"))
    try:
        DumpRecorder(network, {}, path=folder / "third").step()
    except RuntimeError as refused:
        assert "before start()" in str(refused)
    network(x)  # hooks are gone
    assert not any(cell._forward_hook or cell._forward_pre_hook for cell in network.cells())
    blocked = DumpRecorder(made(), {}, path=folder / "blocked")
    for path in sorted((folder / "blocked").rglob("*"), reverse=True):
        path.chmod(0o700)
        path.unlink() if path.is_file() else path.rmdir()
    (folder / "blocked" / "rank_0").write_text("a file where the directory should be")
    before = len(caught)
    with blocked:
        losses = train(blocked._models[""], 3, blocked)
    assert losses == train(made(), 3)
    assert sum("the training continues" in text for text in caught[before:]) == 1, caught[before:]
    del caught[before:]


def check_compiled_cells_are_named(folder, caught):
    class Compiled(nn.Cell):
        @mindspore.jit
        def construct(self, x):
            return x + 1

    network = nn.SequentialCell(Compiled(), nn.ReLU())
    with DumpRecorder(network, {}, path=folder):
        network(Tensor([1.0]))
    assert any("what is compiled: 0" in text for text in caught), caught


def check_a_planted_fault_is_found(folder):
    network = made(Planted)
    with DumpRecorder(network, {"saved_data": "full"}, path=folder) as recorder:
        mindspore.grad(lambda x: network(x).sum(), None, network.trainable_params())(
            Tensor(np.ones((2, 4), np.float32))
        )
        recorder.step()
    (name,) = (name for name in files(folder) if name.startswith("Sqrt.Default_Sqrt") and "output" in name)
    assert np.isnan(np.load(next(Path(folder).rglob(name)))).all()


def check_graph_mode(folder):
    """MindSpore writes the dump by the configuration that the recorder left before the first compilation."""
    own_process("delegating", str(folder))
    assert sorted(path.name for path in (folder / "rank_0" / "Plain" / "0").iterdir()) == ["0", "1"]
    assert any(name.startswith("MatMul.Default_network-WithLossCell") for name in files(folder))
    check_beside_mindspore(folder)
    refused = own_process("too_late", str(folder / "late"))
    assert "has compiled a graph already" in refused, refused


def check_beside_mindspore(theirs):
    """Names and values of ours in PyNative mode and of MindSpore's own in graph mode, side by side."""
    step, run = plain_step()
    ours = theirs.parent / "ours"
    with DumpRecorder(
        step, {"net_name": "Plain", "iteration": "1", "saved_data": "full"}, path=ours
    ) as recorder:
        for _ in range(3):
            run()
            recorder.step()
    left, right = (values_of(path, 1) for path in (theirs, ours))
    both = left.keys() & right.keys()
    for name in both - {name for name in both if "Grad_MatMul_MatMul" in name}:  # numbered otherwise
        assert left[name].dtype == right[name].dtype and left[name].tobytes() == right[name].tobytes(), name
    kinds = [{name.partition(".")[0] for name in side} - {"Parameter"} for side in (left, right)]
    assert kinds[0] - kinds[1] == MINDSPORE_ONLY, kinds[0] - kinds[1]
    assert kinds[1] - kinds[0] == OURS_ONLY, kinds[1] - kinds[0]
    for cell, operator in (("fc1-Dense", "MatMul"), ("fc2-Dense", "BiasAdd"), ("act-ReLU", "ReLU")):
        scope = f"Default_network-WithLossCell__backbone-Plain_{cell}"
        names = [{name for name in side if name.startswith(f"{operator}.{scope}")} for side in (left, right)]
        assert names[0] and names[0] == names[1], names
    assert {name for name in left if name.startswith("Parameter") and name not in both} == {
        "Parameter.inputs0.output.0.Float32",
        "Parameter.inputs1.output.0.Float32",
    }


# Types of operators that only one of the two has: what a compiler replaces, and the optimizer's graph.
MINDSPORE_ONLY = {"AssignAdd", "Pow", "RealDiv", "SGD", "Sub"}
OURS_ONLY = {"Muls", "Ones", "PowTensorScalar", "Reshape", "SubExt", "Tile"}


def values_of(path, step):
    """Tensors of a step by the names of their files without times."""
    return {short(file.name): np.load(file) for file in Path(path).glob(f"rank_0/*/0/{step}/*.npy")}


def plain_step():
    """One step of the network in MindSpore's own form."""
    mindspore.set_seed(1)
    network = Plain()
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.MSELoss()), optimizer)
    step.set_train()
    x = Tensor(np.arange(20).reshape(5, 4).astype(np.float32) / 10)
    return step, lambda: step(x, Tensor(np.ones((5, 2), np.float32)))


def delegating(folder):
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    network, step = plain_step()
    with DumpRecorder(network, {"net_name": "Plain", "iteration": "0|1"}, path=folder) as recorder:
        for _ in range(3):
            step()
            recorder.step()


def too_late(folder):
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    network, step = plain_step()
    step()
    try:
        DumpRecorder(network, {}, path=folder).start()
    except RuntimeError as error:
        print(error)


def check_collector(folder):
    """With the variable set, a SummaryCollector in Model.train records in PyNative mode without more code."""
    folder.mkdir()
    config = folder / "data_dump.json"
    common = {"path": str(folder / "dump"), "net_name": "Plain", "iteration": "1", "dump_mode": 0}
    common |= {"input_output": 0, "kernels": [], "support_device": [0], "op_debug_mode": 0}
    config.write_text(json.dumps({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}))
    own_process("collecting", str(folder), MINDSPORE_DUMP_CONFIG=str(config))
    (step,) = (folder / "dump").glob("rank_0/Plain/1000/*")  # beside the optimizer's graph, by MindSpore
    names = [path.name for path in step.iterdir()]
    assert step.name == "1", step
    expected = "MatMul.Default_network-WithLossCell__backbone-Plain_fc1-Dense_MatMul-op0."
    assert any(name.startswith(expected) for name in names), names


def collecting(folder):
    from mindspore.train import Model

    from mindinsight.writer import SummaryCollector

    network = Plain()
    data = mindspore.dataset.NumpySlicesDataset(
        (np.ones((8, 4), np.float32), np.ones((8, 2), np.float32)), shuffle=False
    ).batch(4)
    model = Model(network, nn.MSELoss(), nn.SGD(network.trainable_params(), 0.1))
    with SummaryCollector(f"{folder}/run") as collector:
        model.train(1, data, callbacks=[collector], dataset_sink_mode=False)


def main():
    caught = []
    handler = logging.Handler()
    handler.emit = lambda record: caught.append(record.getMessage())
    logging.getLogger("mindinsight").addHandler(handler)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        check_scopes_and_lines(folder / "scopes")
        check_values_are_those_of_the_call(folder / "values")
        check_training_is_bit_identical(folder / "identical")
        check_backward_of_convolution_and_pooling(folder / "pictures")
        check_what_is_compiled_is_noted(folder / "noted", caught)
        check_two_networks(folder / "gan")
        check_compiled_cells_are_named(folder / "compiled", caught)
        check_a_planted_fault_is_found(Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "planted")
        check_bad_use(folder / "bad", caught)
        check_graph_mode(folder / "graph")
        check_collector(folder / "collector")
        assert not [text for text in caught if "the training continues" in text], caught
    print(json.dumps({"recording in mindspore": mindspore.__version__, "ok": True}))


if __name__ == "__main__":
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    roles = {"delegating": delegating, "too_late": too_late, "collecting": collecting}
    if len(sys.argv) > 2:
        roles[sys.argv[1]](*sys.argv[2:])
    else:
        main()
