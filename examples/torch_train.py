"""A training in PyTorch: a small convolutional network learns the direction of stripes.

python torch_train.py
mindinsight start --summary-base-dir runs
"""

import argparse

import torch
from torch import nn

from mindinsight.writer import (
    Accuracy,
    CallbackList,
    CheckpointConfig,
    HistogramSummary,
    KeepBest,
    LossMonitor,
    ModelCheckpoint,
    RunContext,
    SummaryRecord,
    TimeMonitor,
    record_gradients,
)


class StripeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(8 * 7 * 7, 4)
        self.histogram = HistogramSummary()

    def forward(self, images):
        features = self.features(images)
        self.histogram("features", features)  # taken by the next record()
        return self.head(features.flatten(1))


def stripes(count, generator):
    """Images (count, 1, 16, 16) in 0..1 with stripes in one of four directions, and the direction."""
    direction = torch.randint(0, 4, (count,), generator=generator)
    phase = torch.rand(count, generator=generator) * 6
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    along = torch.stack([x, y, (x + y) / 1.5, (x - y) / 1.5])[direction]
    images = 0.5 + 0.5 * torch.sin(along + phase[:, None, None])
    noisy = images + 0.3 * torch.randn(images.shape, generator=generator)
    return noisy.clamp(0, 1)[:, None], direction


def evaluate(network, callbacks, generator, epoch):
    """Accuracy on new images, told to the callbacks as the metrics of an evaluation."""
    network.eval()
    accuracy = Accuracy()
    with torch.no_grad():
        for _ in range(4):
            images, direction = stripes(64, generator)
            accuracy.update(network(images), direction)
    network.train()
    metrics = {"accuracy": accuracy.eval()}
    run = RunContext({"mode": "eval", "network": network, "cur_epoch_num": epoch, "metrics": metrics})
    callbacks.on_eval_end(run)
    return metrics


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--out", default="runs/torch", help="directory of the run")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument("--learning-rate", type=float, default=0.05)
    chosen = options.parse_args()
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    network = StripeNet()
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(network.parameters(), lr=chosen.learning_rate, momentum=0.9)
    record_gradients(network, every=10)
    checkpoints = ModelCheckpoint("stripes", f"{chosen.out}/checkpoints", CheckpointConfig(20))
    best = KeepBest("accuracy", directory=f"{chosen.out}/checkpoints")
    callbacks = CallbackList([LossMonitor(20), TimeMonitor(), checkpoints, best])
    run = RunContext({"mode": "train", "network": network, "epoch_num": chosen.epochs, "batch_num": 20})
    state = run.original_args()
    state.cur_step_num = 0
    with SummaryRecord(chosen.out, network=network) as record, callbacks:
        callbacks.on_train_begin(run)
        for state.cur_epoch_num in range(1, chosen.epochs + 1):
            callbacks.on_train_epoch_begin(run)
            for _ in range(state.batch_num):
                state.cur_step_num += 1
                callbacks.on_train_step_begin(run)
                images, direction = stripes(32, generator)
                loss = loss_function(network(images), direction)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                record.add_value("scalar", "train/loss", loss)
                if state.cur_step_num % 20 == 1:
                    record.add_value("image", "input", images[:8])
                    for name, parameter in network.named_parameters():
                        record.add_value("histogram", name, parameter)
                record.record(state.cur_step_num)
                state.net_outputs = loss
                callbacks.on_train_step_end(run)
                if run.get_stop_requested():
                    break
            callbacks.on_train_epoch_end(run)
            record.set_mode("eval")  # what operators deliver now is not of the training
            metrics = evaluate(network, callbacks, generator, state.cur_epoch_num)
            record.add_value("scalar", "eval/accuracy", metrics["accuracy"])
            record.record(state.cur_step_num)
            record.set_mode("train")
        callbacks.on_train_end(run)
        known = {
            "network": "StripeNet",
            "optimizer": "SGD",
            "learning_rate": chosen.learning_rate,
            "epoch": chosen.epochs,
            "loss": loss.item(),
            "model_path": checkpoints.latest_ckpt_file_name,
        }
        record.add_value("train_lineage", "lineage", known)
        record.add_value("eval_lineage", "lineage", {"metrics": metrics})
        record.record(0)


if __name__ == "__main__":
    main()
