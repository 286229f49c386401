"""A training with Lightning under the flight recorder: a batch with a NaN at step 30, and its dump.

python examples/lightning_flight.py --out runs
mindinsight start --summary-base-dir runs
"""

import argparse

import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from mindinsight.writer.integrations.lightning import FlightRecorderCallback, MindInsightLogger


class Regression(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))

    def training_step(self, batch, index):
        return torch.nn.functional.mse_loss(self.layers(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="runs")
    x = torch.randn(320, 8)
    x[30 * 8] = float("nan")
    batches = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
    logger = MindInsightLogger(parser.parse_args().out, name="flight")
    recorder = FlightRecorderCallback(dumps=1, check_every=10)
    quiet = {"enable_progress_bar": False, "enable_checkpointing": False, "log_every_n_steps": 1}
    trainer = Trainer(max_epochs=1, logger=logger, callbacks=[recorder], accelerator="cpu", **quiet)
    trainer.fit(Regression(), batches)
