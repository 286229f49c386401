"""Our PrecisionDebugger inside MindSpore beside a dump of real msprobe, and a training it does not change.

Run with a Python that has mindspore. ``tests/data/writer/msprobe_mindspore.json`` is what msprobe 26.2
recorded in the second step of the same training, its norm computed by other operators, as the CPU lacks the
kernel.
"""

import contextlib
import json
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import mindspore
import numpy as np
from mindspore import Tensor, mint, nn, ops

from mindinsight.writer import PrecisionDebugger

RECORDED = Path(__file__).parents[1] / "data" / "writer" / "msprobe_mindspore.json"


class Recorded(nn.Cell):
    """The network of the recorded dump."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(6, 5)
        self.act = nn.ReLU()
        self.fc2 = nn.Dense(5, 3)

    def construct(self, x):
        h = self.act(self.fc1(x))
        h = ops.add(h, 1.0)
        h = h * 2
        return self.fc2(h)


class Net(nn.Cell):
    """Cells called twice, functions of all kinds, several outputs and types of two bytes."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.head = mint.nn.Linear(6, 3)

    def construct(self, x, scale=2.0):
        h = self.fc(self.fc(x))
        h = self.norm(h) * scale - 1
        h = mint.nn.functional.relu(h) + mint.exp(-h.square())
        values, _ = ops.topk(h, 3)
        narrow = values.astype(mindspore.bfloat16)
        h = h + mint.add(narrow, narrow).astype(mindspore.float32).sum()
        return self.head(h)


def train(network, steps, debugger=None):
    """Losses and weights to the last bit, with a recorder or with none."""
    loss_of = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    gradient = mindspore.value_and_grad(lambda x, y: loss_of(network(x), y), None, optimizer.parameters)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(steps):
        x = Tensor(rng.normal(size=(4, 6)).astype(np.float32))
        y = Tensor(np.arange(4).astype(np.int32) % 3)
        if debugger is not None:
            debugger.start(network)
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        if debugger is not None:
            debugger.stop()
            debugger.step()
        losses.append(float(loss.asnumpy()).hex())
    return losses, [parameter.asnumpy().tobytes() for parameter in network.get_parameters()]


def made(kind=Net):
    mindspore.set_seed(1)
    network = kind()
    network.set_train()
    return network


def loaded(folder, step, name="dump"):
    (path,) = Path(folder).glob(f"step{step}/*/{name}.json")
    return json.loads(path.read_text())


def near(left, right):
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(near(left[k], right[k]) for k in left)
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(near, left, right))
    if isinstance(left, float):
        return math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-7)
    return left == right


def check_beside_msprobe(folder):
    """Names, order, shapes, statistics; ours has a cell before its parameters, and what ``jit`` compiles."""
    recorded = json.loads(RECORDED.read_text())
    for level in ("L0", "L1", "mix"):
        debugger = PrecisionDebugger(level=level, dump_path=str(folder / level))
        train(made(Recorded), 2, debugger)
        ours, theirs = loaded(folder / level, 1)["data"], recorded[level]
        assert set(ours) - set(theirs) <= {"Jit.construct.0.forward"}, set(ours) ^ set(theirs)
        assert set(theirs) <= set(ours), set(theirs) - set(ours)
        orders = [
            [key for key in side if key in theirs and "parameters_grad" not in key] for side in (ours, theirs)
        ]
        assert orders[0] == orders[1], orders
        for key, value in theirs.items():
            assert near(value, ours[key]), f"{key}\n{json.dumps(value)}\n{json.dumps(ours[key])}"
    parents = loaded(folder / "mix", 1, "construct")
    assert {key: parents[key] for key in recorded["construct"]} == recorded["construct"]


def check_training_is_bit_identical(folder):
    plain = train(made(), 50)
    for level in ("L0", "mix"):
        debugger = PrecisionDebugger(level=level, dump_path=str(folder / level))
        assert train(made(), 50, debugger) == plain, level
    data = loaded(folder / "mix", 49)["data"]
    for name in (
        "Cell.fc.Dense.forward.1",
        "Cell.fc.Dense.backward.1",
        "Cell.head.Linear.parameters_grad.0",
        "MintFunctional.relu.0.forward",
        "Mint.exp.0.backward",
        "Tensor.__sub__.0.forward",
        "Functional.topk.0.forward",
        "Jit.construct.0.forward",
    ):
        assert name in data, (name, list(data))
    return plain


def check_files_are_the_tensors(folder):
    network = made()
    debugger = PrecisionDebugger(task="tensor", level="mix", dump_path=str(folder))
    train(network, 1, debugger)
    (tensors,) = folder.glob("step0/*/dump_tensor_data")
    data = loaded(folder, 0)["data"]
    leaf = data["Cell.head.Linear.forward.0"]["output"][0]
    values = np.load(tensors / leaf["data_name"])
    assert (list(values.shape), float(values.max())) == (leaf["shape"], leaf["Max"])
    types = {
        leaf["dtype"]
        for entry in data.values()
        for leaf in entry.get("output", [])
        if leaf and "dtype" in leaf
    }
    assert {"Float32", "BFloat16", "Int32"} <= types, types


def check_nothing_stays_wrapped(folder):
    """After stop, an exception and Ctrl-C everything is as it was."""
    network = made()
    before = attributes(network)
    debugger = PrecisionDebugger(level="mix", dump_path=str(folder))
    for error in (ValueError, KeyboardInterrupt):
        debugger.start(network)
        assert attributes(network) != before
        try:
            network(Tensor(np.ones((4, 6), np.float32)))
            raise error
        except error:
            debugger.stop()
        assert attributes(network) == before
    if (child := os.fork()) == 0:
        debugger.close()
        os._exit(0)
    os.waitpid(child, 0)
    debugger.start(network)
    debugger.start(network)  # warned about
    with contextlib.suppress(ValueError, RuntimeError):
        network(Tensor(np.ones((4, 7), np.float32)))  # an operator that raises
    debugger.close()
    assert attributes(network) == before
    debugger.stop()  # nothing to stop
    assert "Primitive.matmul.MatMul.0.forward" in loaded(folder, 0)["data"]


def attributes(network):
    owners = (ops, mint, mint.nn.functional, Tensor)
    functions = [(owner, name) for owner in owners for name in dir(owner) if name not in ("__dict__",)]
    primitives = [type(p) for _, cell in network.cells_and_names() for p in cell._primitives.values()]
    hooks = [len(cell._forward_hook) + len(cell._forward_pre_hook) for _, cell in network.cells_and_names()]
    return [id(vars(owner).get(name)) for owner, name in functions], primitives, hooks


def check_overflow(folder):
    debugger = PrecisionDebugger(task="overflow_check", dump_path=str(folder))
    debugger.start(made())
    ops.sqrt(ops.relu(Tensor([1.0, 2.0])) - 3)
    debugger.save(Tensor([1.0]), "scale")
    debugger.forward_backward_dump_end()
    ops.log(Tensor([-1.0]))  # after the end
    debugger.step()
    assert list(loaded(folder, 0)["data"]) == ["Functional.sqrt.0.forward"], list(loaded(folder, 0)["data"])
    assert next(iter(loaded(folder, 0, "debug")["data"])) == "scale.0.debug"


def check_a_killed_training(folder):
    """Whatever step has ended is on the disk when the process is killed."""
    done = subprocess.run([sys.executable, __file__, "killed", str(folder)], check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    for step in range(2):
        assert "Cell.head.Linear.forward.0" in loaded(folder, step)["data"]


def killed(folder):
    network = made()
    debugger = PrecisionDebugger(level="mix", dump_path=folder)
    train(network, 2, debugger)
    debugger.start(network)
    network(Tensor(np.ones((4, 6), np.float32)))
    os.kill(os.getpid(), signal.SIGKILL)


def check_a_full_disk_is_logged_once(folder, plain):
    messages = []
    handler = logging.Handler()
    handler.emit = lambda message: messages.append(message.getMessage())
    logging.getLogger("mindinsight").addHandler(handler)
    debugger = PrecisionDebugger(task="tensor", level="mix", dump_path=str(folder))
    folder.write_text("a file where the directory should be")
    assert train(made(), 3, debugger)[0] == plain[0][:3]
    assert len(messages) == 1, messages


def main():
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        check_beside_msprobe(folder / "msprobe")
        plain = check_training_is_bit_identical(folder / "identical")
        check_files_are_the_tensors(folder / "files")
        check_nothing_stays_wrapped(folder / "wrapped")
        check_overflow(folder / "overflow")
        check_a_killed_training(folder / "killed")
        check_a_full_disk_is_logged_once(folder / "full", plain)
    print(json.dumps({"probing in mindspore": mindspore.__version__, "ok": True}))


if __name__ == "__main__":
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    killed(sys.argv[2]) if len(sys.argv) > 2 else main()
