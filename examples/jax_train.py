"""A training in JAX: a compiled step fits a noisy wave.

python jax_train.py
mindinsight start --summary-base-dir runs
"""

import argparse

import jax
import jax.numpy as jnp

from mindinsight.writer import HistogramSummary, ScalarSummary, SummaryRecord, graph_of


def network(params, x):
    with jax.named_scope("fc1"):
        hidden = jnp.tanh(x @ params["fc1"]["weight"] + params["fc1"]["bias"])
    HistogramSummary()("hidden", hidden)  # inside the compiled step, taken by the next record()
    with jax.named_scope("fc2"):
        return hidden @ params["fc2"]["weight"] + params["fc2"]["bias"]


def loss_of(params, x, y):
    return jnp.mean((network(params, x) - y) ** 2)


@jax.jit
def train_step(params, x, y, learning_rate):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(gradients)))
    ScalarSummary()("train/gradient_norm", norm)
    return jax.tree.map(lambda value, slope: value - learning_rate * slope, params, gradients), loss


def wave(key, count):
    """Points x (count, 1) and a noisy wave over them."""
    places, noise = jax.random.split(key)
    x = jax.random.uniform(places, (count, 1), minval=-3.0, maxval=3.0)
    return x, jnp.sin(2 * x) + 0.1 * jax.random.normal(noise, x.shape)


def layer(key, inputs, outputs):
    return {"weight": jax.random.normal(key, (inputs, outputs)), "bias": jnp.zeros(outputs)}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs/jax", help="directory of the run")
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--learning-rate", type=float, default=0.01)
    chosen = options.parse_args()
    first, second, key = jax.random.split(jax.random.key(0), 3)
    params = {"fc1": layer(first, 1, 32), "fc2": layer(second, 32, 1)}
    with SummaryRecord(chosen.out) as record:
        record.add_value("graph", "network", graph_of(network, (params, jnp.zeros((64, 1)))))
        for step in range(1, chosen.steps + 1):
            key, batch = jax.random.split(key)
            x, y = wave(batch, 64)
            params, loss = train_step(params, x, y, chosen.learning_rate)
            record.add_value("scalar", "train/loss", loss)
            if step % 50 == 0:
                for path, value in jax.tree_util.tree_leaves_with_path(params):
                    name = jax.tree_util.keystr(path, simple=True, separator=".")
                    record.add_value("histogram", name, value)
                print(f"step {step}: loss {float(loss):.4f}")
            record.record(step)
        known = {"learning_rate": chosen.learning_rate, "optimizer": "SGD", "network": "wave", "loss": loss}
        record.add_value("train_lineage", "lineage", known)
        record.record(0)


if __name__ == "__main__":
    main()
