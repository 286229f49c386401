"""Tuning of a training in plain NumPy: learning rate, width and optimizer of a small network, in a minute.

    python tune.py --out runs
    mindinsight start --summary-base-dir runs

The page Lineage shows the study, while it runs and after. This file is the training, too: the tuner
calls it once for each trial.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

TUNING_FILE = """\
summary_base_dir: {out}
command: ["{python}", "{script}", "--train"]
study: half_moons
tuner:
    name: tpe
    args: {{n_startup_trials: 6}}
    seed: 1
target:
    group: scalar
    name: unseen/loss
    goal: minimize
    smooth: 3
parameters:
    learning_rate:
        bounds: [0.003, 30]
        type: float
        log: true
    width:
        bounds: [2, 33]
        type: int
    optimizer:
        choice: [sgd, momentum]
    momentum:
        bounds: [0.5, 0.99]
        type: float
        when: {{optimizer: momentum}}
pruner:
    name: median
    args: {{n_startup_trials: 4}}
"""


def train(config, steps=1000):
    """One trial: two layers learn to tell two half moons apart."""
    import numpy as np
    from numpy_train import forward, gradients, half_moons

    from mindinsight.writer import SummaryRecord

    params = config.params
    rng = np.random.default_rng(0)
    points, moons = half_moons(rng, 256)
    unseen = half_moons(rng, 512)
    weights = {
        "fc1.weight": rng.normal(0, 1, (2, params.width)),
        "fc1.bias": np.zeros(params.width),
        "fc2.weight": rng.normal(0, 1, (params.width, 2)) / np.sqrt(params.width),
        "fc2.bias": np.zeros(2),
    }
    velocity = {name: np.zeros_like(weight) for name, weight in weights.items()}
    keep = params.get("momentum", 0.0)
    with SummaryRecord(config.summary_dir) as record:
        record.add_value("train_lineage", "train", {"learning_rate": params.learning_rate})
        record.add_value("custom_lineage_data", "user", config.custom_lineage_data)
        for step in range(1, steps + 1):
            loss, slopes = gradients(weights, points, moons)
            for name, slope in slopes.items():
                velocity[name] = keep * velocity[name] - params.learning_rate * slope
                weights[name] += velocity[name]
            if step % 5 == 0:
                chances = forward(weights, unseen[0])[1]
                right = chances[np.arange(len(unseen[1])), unseen[1]]
                record.add_value("scalar", "loss", loss)
                record.add_value("scalar", "unseen/loss", -np.log(right + 1e-12).mean())
                record.add_value("scalar", "unseen/accuracy", (right > 0.5).mean())
                record.record(step)
                time.sleep(0.006)  # a training that is worth pruning
        record.add_value("eval_lineage", "eval", {"metrics": {"accuracy": float((right > 0.5).mean())}})
        record.record(steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs"))
    parser.add_argument("--trials", default="24")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--train", action="store_true", help="one training, with what the tuner gives it")
    options, further = parser.parse_known_args()
    if options.train:
        from mindinsight.writer import HyperConfig

        train(HyperConfig())
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "tune.yaml"
    file.write_text(
        TUNING_FILE.format(
            out=options.out.absolute(), python=sys.executable, script=Path(__file__).absolute()
        )
    )
    command = ["-m", "mindinsight.server.commands.main", "tune", "--config", str(file)]
    return subprocess.call(
        [sys.executable, *command, "--trials", options.trials, "--jobs", options.jobs, *further]
    )


if __name__ == "__main__":
    sys.exit(main())
