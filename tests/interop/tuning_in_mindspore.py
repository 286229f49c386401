"""The documented example of MindOptimizer, its tuning file unchanged, on small trainings with MindSpore.

    python tests/interop/tuning_in_mindspore.py --mindspore /envs/ms/bin/python

Run with the project's own Python, which tunes; the trainings run with MindSpore's. Of the file only the two
paths below /home are others. The training is that of the tutorial: HyperConfig from mindinsight.optimizer,
and MindSpore's own SummaryCollector where the installed version has it, else ours.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFIG = Path(__file__).parents[1] / "data" / "tuning" / "mindspore_tutorial.yaml"
TRAINING = """\
import time

import numpy as np
from mindspore import Tensor, nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Accuracy, LossMonitor, Model
try:
    from mindspore import SummaryCollector
except ImportError:
    from mindinsight.writer import SummaryCollector

from mindinsight.optimizer import HyperConfig
config = HyperConfig()
params = config.params

def dataset(count, batch_size):
    random = np.random.default_rng(count)
    label = random.integers(0, 3, count).astype(np.int32)
    value = np.eye(3)[label] @ np.arange(12).reshape(3, 4) + random.normal(0, 1, (count, 4))
    columns = {"value": value.astype(np.float32), "label": label}
    return NumpySlicesDataset(columns, shuffle=False).batch(batch_size)

network = nn.Dense(4, 3)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
lr = Tensor(params.learning_rate)
opt = nn.Momentum(network.trainable_params(), lr, params.momentum)
model = Model(network, loss, opt, metrics={"Accuracy": Accuracy()})
summary_cb = SummaryCollector(config.summary_dir)
callbacks = [LossMonitor(), summary_cb]
model.train(2, dataset(512, params.batch_size), callbacks=callbacks, dataset_sink_mode=False)
time.sleep(1.1)  # MindSpore names files by the second, and would write over what it said of the training
print(model.eval(dataset(256, params.batch_size), callbacks=[summary_cb], dataset_sink_mode=False))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mindspore", required=True, help="Python of an environment with MindSpore")
    python = Path(parser.parse_args().mindspore).absolute()
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        (home / "example").mkdir()
        (home / "example" / "train.py").write_text(TRAINING)
        script = f'cd "$(dirname "$0")" && exec "{python}" train.py\n'
        (home / "example" / "run_alexnet_ascend.sh").write_text(script)
        (home / "config.yaml").write_text(CONFIG.read_text().replace("/home/", f"{home}/"))
        first = tuned(home, "2")
        assert first["progress"]["complete"] == 2, first
        second = tuned(home, "1")  # --iter is further trials, which learn from those before
        assert second["progress"]["complete"] == 3, second
        check(second, home)
    print("MindOptimizer's documented example: 3 trainings with MindSpore")


def tuned(home, iterations):
    command = [sys.executable, "-c", "import sys; from mindinsight.server.commands.tune import mindoptimizer; sys.exit(mindoptimizer())"]  # fmt: skip  # noqa: E501
    options = ["--config", "config.yaml", "--iter", iterations, "--workspace", "workspace", "--json"]
    ran = subprocess.run(
        [*command, *options],
        cwd=home,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("proto", "writer"))},
        capture_output=True,
        text=True,
        check=False,
    )
    logs = "\n".join(log.read_text()[-3000:] for log in home.rglob("trial.log"))
    assert ran.returncode == 0, f"{ran.stderr}\n{logs}"
    return json.loads(ran.stdout)


def check(study, home):
    import mindinsight

    summary = mindinsight.open(home / "summaries")
    for trial in study["trials"]:
        params = trial["params"]
        assert set(params) == {"learning_rate", "batch_size", "momentum"}, params
        lineage = summary.lineage("./" + str(Path(trial["run"]).relative_to(home / "summaries")))
        assert abs(lineage.train.learning_rate - params["learning_rate"]) < 1e-7, lineage.train
        assert lineage.train.batch_size == params["batch_size"], lineage.train
        assert lineage.user_defined == {"momentum": params["momentum"]}, lineage.user_defined
        assert lineage.metrics["Accuracy"] == trial["values"][0], (lineage.metrics, trial)


if __name__ == "__main__":
    main()
