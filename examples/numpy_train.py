"""A training in plain NumPy: two layers learn to tell two half moons apart.

Run it, then look at what it wrote:

    python numpy_train.py
    mindinsight start --summary-base-dir runs
"""

import argparse

import numpy as np

from mindinsight.writer import Accuracy, CallbackList, GraphBuilder, LossMonitor, RunContext, SummaryRecord


def half_moons(rng, count):
    """Points (count, 2) and the moon, 0 or 1, each belongs to."""
    angle, moon = rng.uniform(0, np.pi, count), rng.integers(0, 2, count)
    x = np.where(moon, 1 - np.cos(angle), np.cos(angle))
    y = np.where(moon, 0.5 - np.sin(angle), np.sin(angle))
    return np.stack([x, y], axis=1) + rng.normal(0, 0.1, (count, 2)), moon


def forward(weights, points):
    hidden = np.tanh(points @ weights["fc1.weight"] + weights["fc1.bias"])
    scores = hidden @ weights["fc2.weight"] + weights["fc2.bias"]
    scores -= scores.max(axis=1, keepdims=True)
    return hidden, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)


def gradients(weights, points, moons):
    """The loss and its gradient for each weight."""
    hidden, chances = forward(weights, points)
    loss = -np.log(chances[np.arange(len(moons)), moons] + 1e-12).mean()
    scores = (chances - np.eye(2)[moons]) / len(moons)
    inner = scores @ weights["fc2.weight"].T * (1 - hidden**2)
    return loss, {
        "fc1.weight": points.T @ inner,
        "fc1.bias": inner.sum(axis=0),
        "fc2.weight": hidden.T @ scores,
        "fc2.bias": scores.sum(axis=0),
    }


def network_graph(width):
    """The network as the graph page shows it."""
    graph = GraphBuilder("MoonNet")
    value = graph.parameter("points", (None, 2))
    for name, sizes in ("fc1", (2, width)), ("fc2", (width, 2)):
        with graph.scope(f"{name}-Dense"):
            weight = graph.parameter(f"{name}.weight", sizes)
            bias = graph.parameter(f"{name}.bias", sizes[1:])
            value = graph.node("MatMul", [value, weight], (None, sizes[1]))
            value = graph.node("BiasAdd", [value, bias], (None, sizes[1]))
        if name == "fc1":
            value = graph.node("Tanh", [value], (None, width))
    graph.output(graph.node("Softmax", [value], (None, 2)))
    return graph


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs/numpy", help="directory of the run")
    options.add_argument("--steps", type=int, default=500)
    options.add_argument("--learning-rate", type=float, default=0.5)
    chosen = options.parse_args()
    rng = np.random.default_rng(0)
    weights = {
        "fc1.weight": rng.normal(0, 1, (2, 16)),
        "fc1.bias": np.zeros(16),
        "fc2.weight": rng.normal(0, 0.5, (16, 2)),
        "fc2.bias": np.zeros(2),
    }
    accuracy = Accuracy()
    run = RunContext({"mode": "train", "batch_num": chosen.steps, "epoch_num": 1, "cur_epoch_num": 1})
    state = run.original_args()
    with SummaryRecord(chosen.out, network=network_graph(16)) as record:
        with CallbackList([LossMonitor(100)]) as callbacks:
            callbacks.on_train_begin(run)
            for step in range(1, chosen.steps + 1):
                loss, gradient = gradients(weights, *half_moons(rng, 64))
                for name in weights:
                    weights[name] -= chosen.learning_rate * gradient[name]
                record.add_value("scalar", "train/loss", loss)
                if step % 50 == 0:
                    points, moons = half_moons(rng, 500)
                    record.add_value("scalar", "eval/accuracy", accuracy(forward(weights, points)[1], moons))
                    for name, weight in weights.items():
                        record.add_value("histogram", name, weight)
                        record.add_value("histogram", f"{name}/gradient", gradient[name])
                record.record(step)
                state.update(cur_step_num=step, net_outputs=loss)
                callbacks.on_train_step_end(run)
                if run.get_stop_requested():
                    break
            callbacks.on_train_end(run)
        known = {"learning_rate": chosen.learning_rate, "optimizer": "SGD", "loss": loss, "batch_size": 64}
        record.add_value("train_lineage", "lineage", known)
        record.record(0)


if __name__ == "__main__":
    main()
