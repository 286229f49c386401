"""SummaryCollector in a plain PyTorch loop, and tensors of every type.

    PYTHONPATH=proto:writer /envs/torch/bin/python tests/interop/training_in_torch.py

Needs torch, numpy, google-crc32c and protobuf. Ends with a traceback at the first thing amiss.
"""

import tempfile
from pathlib import Path

import reading
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from mindinsight.writer.callbacks import CallbackList, RunContext
from mindinsight.writer.collector import SummaryCollector
from mindinsight.writer.record import SummaryRecord

TYPES = [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool,
         torch.float8_e4m3fn]  # fmt: skip


def train(run):
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
    optimizer, loss_fn = torch.optim.SGD(network.parameters(), 0.05), nn.CrossEntropyLoss()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    loader = DataLoader(TensorDataset(torch.rand(40, 3, 8, 8), torch.randint(0, 3, (40,))), batch_size=4)
    context = RunContext({
        "mode": "train", "network": network, "loss_fn": loss_fn, "optimizer": optimizer, "epoch_num": 2,
        "batch_num": len(loader), "train_dataset": loader, "cur_step_num": 0,
    })  # fmt: skip
    loop = context.original_args()
    collector = SummaryCollector(run, 4, collect_specified_data={"histogram_regular": "3"})
    with CallbackList([collector]) as callbacks:
        callbacks.on_train_begin(context)
        for epoch in range(loop.epoch_num):
            loop.cur_epoch_num = epoch + 1
            for batch in loader:
                loop.cur_step_num += 1
                loop.train_dataset_element = batch
                loop.net_outputs = loss_fn(network(batch[0]), batch[1])
                optimizer.zero_grad()
                loop.net_outputs.backward()
                optimizer.step()
                callbacks.on_train_step_end(context)
            schedule.step()
            callbacks.on_train_epoch_end(context)
        callbacks.on_train_end(context)
    collected = [1, 4, 8, 12, 16, 20]
    tags = ["loss/auto", "learning_rate/auto", "input_data/auto", "3.weight/auto", "3.bias/auto"]
    assert reading.steps(run) == dict.fromkeys(tags, collected), reading.steps(run)
    (graph,) = reading.graphs(run)
    assert len(graph.node) >= 4
    assert any(parameter.type.tensor_type.shape.dim for parameter in graph.parameters)
    lineage = dict(reading.lineage(run))
    assert lineage["train_lineage"].hyper_parameters.optimizer == "SGD"
    assert abs(lineage["train_lineage"].hyper_parameters.learning_rate - 0.05) < 1e-6
    assert lineage["train_lineage"].train_dataset.train_dataset_size == 40
    assert lineage["dataset_graph"].children[0].parameter.mapStr["op_type"] == "TensorDataset"


def arrays(run):
    with SummaryRecord(run) as record:
        for dtype in TYPES:
            value = torch.arange(6, dtype=torch.float32).reshape(1, 1, 2, 3).to(dtype)
            for plugin in ("tensor", "histogram", "image"):
                record.add_value(plugin, str(dtype), value)
            record.add_value("scalar", str(dtype), value.reshape(-1)[1])
        record.add_value("tensor", "parameter", nn.Parameter(torch.ones(3)))
        record.add_value("tensor", "sparse", torch.eye(3).to_sparse())
        record.add_value("tensor", "negated view", torch.ones(2, dtype=torch.cfloat).conj().imag)
        record.record(1)
    assert len(reading.values(run)) == 4 * len(TYPES) + 3


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        train(Path(temporary) / "train")
        arrays(Path(temporary) / "arrays")
        print(f"ok   PyTorch {torch.__version__}: a loop with callbacks, tensors of every type")
