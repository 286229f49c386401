"""A training in MindSpore's Model with this package's callbacks and metrics.

python mindspore_train.py
mindinsight start --summary-base-dir runs
"""

import argparse

import mindspore
import numpy as np
from mindspore import nn
from mindspore.train import Model

from mindinsight.writer import (
    Accuracy,
    CheckpointConfig,
    HistogramSummary,
    LossMonitor,
    ModelCheckpoint,
    SummaryCollector,
    TimeMonitor,
)


class StripeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.features = nn.SequentialCell(nn.Conv2d(1, 8, 3, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2))
        self.flatten = nn.Flatten()
        self.head = nn.Dense(8 * 7 * 7, 4)
        self.histogram = HistogramSummary()

    def construct(self, images):
        features = self.features(images)
        self.histogram("features", features)  # taken when the collector records
        return self.head(self.flatten(features))


def stripes(count, rng):
    """Images (count, 1, 16, 16) in 0..1 with stripes in one of four directions, and the direction."""
    direction = rng.integers(0, 4, count).astype(np.int32)
    y, x = np.mgrid[:16, :16]
    along = np.stack([x, y, (x + y) / 1.5, (x - y) / 1.5])[direction]
    images = 0.5 + 0.5 * np.sin(along + rng.uniform(0, 6, (count, 1, 1)))
    noisy = images + rng.normal(0, 0.3, images.shape)
    return noisy.clip(0, 1).astype(np.float32)[:, None], direction


def dataset(count, rng):
    columns = ["image", "label"]
    return mindspore.dataset.NumpySlicesDataset(stripes(count, rng), columns, shuffle=False).batch(32)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs/mindspore", help="directory of the run")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--pynative", action="store_true", help="no compiled graph")
    chosen = options.parse_args()
    mindspore.set_context(mode=mindspore.PYNATIVE_MODE if chosen.pynative else mindspore.GRAPH_MODE)
    mindspore.set_seed(0)
    rng = np.random.default_rng(0)
    network = StripeNet()
    model = Model(
        network,
        nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        nn.Momentum(network.trainable_params(), 0.05, 0.9),
        metrics={"accuracy": Accuracy()},
    )
    collector = SummaryCollector(chosen.out, collect_freq=5, custom_lineage_data={"data": "stripes"})
    checkpoint = ModelCheckpoint("stripes", f"{chosen.out}/checkpoints", CheckpointConfig(20))
    callbacks = [collector, LossMonitor(20), TimeMonitor(), checkpoint]
    model.train(chosen.epochs, dataset(640, rng), callbacks=callbacks)
    print(model.eval(dataset(256, rng), callbacks=[collector]))


if __name__ == "__main__":
    main()
