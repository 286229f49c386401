"""The network of demo.py: it learns to tell four shapes in small pictures apart. NumPy only."""

from collections import Counter
from typing import NamedTuple

import numpy as np

from mindinsight.writer import GraphBuilder

SIDE = 12
SHAPES = ("ring", "cross", "stripes", "blob")
LAYERS = (("fc1", SIDE * SIDE, 32), ("fc2", 32, 16), ("head", 16, len(SHAPES)))
BACKBONE = "Default/network-WithLossCell/_backbone-ShapeNet"
LOSS = "Default/network-WithLossCell/_loss_fn-CrossEntropy"
OPTIMIZER = "Default/optimizer-SGD"


def pictures(rng, count, noise=0.4):
    """Pictures (count, 1, SIDE, SIDE) in 0..1 and the number of the shape in each."""
    label = rng.integers(0, len(SHAPES), count)
    centre = rng.uniform(4, 7, (2, count, 1, 1))
    y, x = np.mgrid[:SIDE, :SIDE][:, None] - centre
    radius = np.hypot(x, y)
    drawn = np.stack(
        [
            np.abs(radius - 3.5) < 0.8,
            (np.minimum(np.abs(x), np.abs(y)) < 0.8) & (radius < 5),
            np.sin(1.6 * (x + y)) > 0.3,
            radius < 3,
        ]
    )[label, np.arange(count)]
    noisy = drawn + rng.normal(0, noise, drawn.shape)
    return noisy.clip(0, 1).astype(np.float32)[:, None], label.astype(np.int32)


class Operation(NamedTuple):
    """One operator that ran."""

    type: str
    scope: str
    name: str  # scope/type-opN, as in graphs and dumps
    inputs: tuple[np.ndarray, ...]
    output: np.ndarray


class Tape(list[Operation]):
    """Runs operators and remembers each with its inputs and its output."""

    def __init__(self):
        super().__init__()
        self._counts: Counter[str] = Counter()

    def run(self, kind, scope, function, *inputs):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            output = np.asarray(function(*inputs))
        name = f"{scope}/{kind}-op{self._counts[kind]}"
        self._counts[kind] += 1
        self.append(Operation(kind, scope, name, inputs, output))
        return output

    def graph(self, parameters):
        """What ran as a graph; ``parameters`` are the arrays that came from outside, by name."""
        graph = GraphBuilder("ShapeNet_TrainOneStepCell_construct")
        names = {
            id(value): graph.parameter(name, value.shape, str(value.dtype))
            for name, value in parameters.items()
        }
        for operation in self:
            with graph.scope(f"/{operation.scope}"):
                inputs = [
                    names.get(id(value)) or graph.constant_tensor(value.shape) for value in operation.inputs
                ]
                output = operation.output
                names[id(output)] = graph.node(operation.type, inputs, output.shape, str(output.dtype))
        graph.output(names[id(self[-1].output)])
        return graph


class ShapeNet:
    """Three layers and the weights they learn."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.weights = {}
        for name, inputs, outputs in LAYERS:
            scale = np.sqrt(2 / inputs)
            self.weights[f"{name}.weight"] = rng.normal(0, scale, (inputs, outputs)).astype(np.float32)
            self.weights[f"{name}.bias"] = np.zeros(outputs, np.float32)

    def forward(self, images, tape):
        """The chance of each shape (count, 4), and what went into and out of each layer."""
        value = tape.run("Reshape", BACKBONE, lambda given: given.reshape(len(given), -1), images)
        layers = []
        for name, _, _ in LAYERS:
            scope = f"{BACKBONE}/{name}-Dense"
            weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
            given = value
            value = tape.run("MatMul", scope, np.matmul, value, weight)
            value = tape.run("BiasAdd", scope, np.add, value, bias)
            if name != "head":
                relu = f"{BACKBONE}/{name.replace('fc', 'relu')}-ReLU"
                value = tape.run("ReLU", relu, lambda before: np.maximum(before, 0), value)
            layers.append((given, value))
        # Without first taking off the largest score: that is how a rate too high shows in a dump.
        scope = f"{LOSS}/softmax-Softmax"
        powers = tape.run("Exp", scope, np.exp, value)
        total = tape.run("ReduceSum", scope, lambda given: given.sum(axis=1, keepdims=True), powers)
        return tape.run("Div", scope, np.divide, powers, total), layers

    def gradients(self, images, labels, tape):
        """Loss, chances and the gradient for each weight."""
        chances, layers = self.forward(images, tape)
        rows = np.arange(len(labels))
        picked = tape.run("GatherD", LOSS, lambda given, index: given[rows, index], chances, labels)
        logs = tape.run("Log", LOSS, lambda given: np.log(given + np.float32(1e-9)), picked)
        loss = tape.run("ReduceMean", LOSS, lambda given: -given.mean(), logs)
        wanted = np.eye(len(SHAPES), dtype=np.float32)[labels]
        slope = tape.run("Sub", f"Gradients/{LOSS}", lambda a, b: (a - b) / len(a), chances, wanted)
        slopes = {}
        for (name, _, _), (given, value) in zip(reversed(LAYERS), reversed(layers), strict=True):
            scope = f"Gradients/{BACKBONE}/{name}-Dense"
            if name != "head":
                slope = tape.run("ReluGrad", scope, lambda grad, out: grad * (out > 0), slope, value)
            slopes[f"{name}.bias"] = tape.run("BiasAddGrad", scope, lambda grad: grad.sum(axis=0), slope)
            slopes[f"{name}.weight"] = tape.run("MatMul", scope, lambda a, b: a.T @ b, given, slope)
            slope = tape.run("MatMul", scope, lambda a, b: a @ b.T, slope, self.weights[f"{name}.weight"])
        return float(loss), chances, slopes

    def update(self, gradients, learning_rate, tape):
        """Take one step down the gradients."""
        rate = np.float32(learning_rate)
        for name, gradient in gradients.items():
            self.weights[name] = tape.run(
                "ApplyGradientDescent",
                OPTIMIZER,
                lambda weight, grad: weight - rate * grad,
                self.weights[name],
                gradient,
            )

    def loss_at(self, weights, images, labels):
        """The loss with other weights."""
        other = ShapeNet.__new__(ShapeNet)
        other.weights = weights
        chances, _ = other.forward(images, Tape())
        return float(-np.log(chances[np.arange(len(labels)), labels] + 1e-9).mean())
