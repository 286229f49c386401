"""PyTorch Lightning: a logger for the Trainer, and a callback for learning rate, weights and gradients.

python lightning_train.py
mindinsight start --summary-base-dir runs
"""

import sys

import lightning as pl
import torch

from mindinsight.writer.integrations.lightning import MindInsightCallback, MindInsightLogger


class Line(pl.LightningModule):
    def __init__(self, lr=0.05):
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(4, 1)
        self.loss = torch.nn.MSELoss()

    def training_step(self, batch):
        loss = self.loss(self.layer(batch), batch.sum(1, keepdim=True))
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch):
        self.log("val/loss", self.loss(self.layer(batch), batch.sum(1, keepdim=True)))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(torch.randn(256, 4), batch_size=16)
    logger = MindInsightLogger(sys.argv[2] if sys.argv[1:2] == ["--out"] else "runs")
    recording = MindInsightCallback(weights_every=16, gradients_every=16)
    trainer = pl.Trainer(logger=logger, callbacks=[recording], max_epochs=4, log_every_n_steps=4)
    trainer.fit(Line(), loader, loader)
