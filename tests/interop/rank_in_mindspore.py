"""One rank of a training under msrun, with the lines of MindSpore's tutorial; see ranks_in_mindspore.py."""

import os
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model

from mindinsight.writer import ScalarSummary, SummaryCollector, SummaryRecord


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)
        self.scalar = ScalarSummary()

    def construct(self, x):
        y = self.fc(x)
        self.scalar("mean", y.mean())
        return y


def main(base):
    ms.set_device("CPU")
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    assert get_group_size() == 2
    os.chdir(base)
    data = {"x": np.ones((12, 4), np.float32), "y": np.arange(12, dtype=np.int32) % 3}
    network = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, nn.SGD(network.trainable_params(), 0.1))
    summary_dir = "summary_dir" + str(get_rank())
    collector = SummaryCollector(summary_dir=summary_dir, collect_freq=1)
    model.train(
        1, NumpySlicesDataset(data, shuffle=False).batch(4), callbacks=[collector], dataset_sink_mode=False
    )
    with SummaryRecord("shared") as record:
        record.add_value("scalar", "rank", float(get_rank()))
        record.record(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
