"""Event files as trainings in Lightning and Keras write them for TensorBoard, and what TensorBoard reads.

    python trained_in_tensorboard.py DIR

needs torch, lightning, keras, tensorflow (Keras' callback writes through it, on any backend) and tensorboard.
Writes runs below ``DIR/runs``, and into ``DIR/expected.json`` what ``EventAccumulator`` reads in them without
a limit. ``tests/data/tfevents_trained`` was made so.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["KERAS_BACKEND"] = "torch"


def by_lightning(folder: Path) -> None:
    import lightning
    import torch
    from lightning.pytorch.loggers import TensorBoardLogger

    class Line(lightning.LightningModule):
        def __init__(self, rate: float = 0.1, name: str = "sgd") -> None:
            super().__init__()
            self.save_hyperparameters()
            self.example_input_array = torch.zeros(1, 2)
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x):
            return self.layer(x)

        def training_step(self, batch, _):
            loss = self.layer(batch[0]).sub(batch[1]).pow(2).mean()
            self.log("train/loss", loss, on_step=True, on_epoch=True)
            self.log_dict({"train/scale": batch[0].abs().mean(), "train/steps": float(self.global_step)})
            return loss

        def validation_step(self, batch, _):
            self.log("val/loss", self.layer(batch[0]).sub(batch[1]).pow(2).mean())
            experiment = self.logger.experiment
            experiment.add_histogram("weights", self.layer.weight, self.global_step)
            experiment.add_text("note", f"after step *{self.global_step}*", self.global_step)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=self.hparams.rate)

    torch.manual_seed(7)
    inputs = torch.randn(64, 2)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True))
    batches = torch.utils.data.DataLoader(data, batch_size=4)
    logger = TensorBoardLogger(folder, name="lightning", log_graph=True, default_hp_metric=True)
    trainer = lightning.Trainer(
        max_epochs=4,
        logger=logger,
        log_every_n_steps=1,
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
    )
    trainer.fit(Line(), batches, batches)


def by_keras(folder: Path) -> None:
    import keras

    rng = np.random.default_rng(7)
    inputs = rng.standard_normal((64, 2)).astype(np.float32)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    callback = keras.callbacks.TensorBoard(
        str(folder / "keras"), histogram_freq=1, write_images=True, write_graph=False, update_freq=2
    )
    model.fit(
        inputs,
        inputs.sum(1),
        batch_size=4,
        epochs=5,
        validation_split=0.25,
        verbose=0,
        callbacks=[callback],
    )


def by_tensorflow(folder: Path) -> None:
    """The summary operations themselves, with types that no callback writes."""
    import tensorflow as tf

    rng = np.random.default_rng(8)
    with tf.summary.create_file_writer(str(folder / "tensorflow")).as_default():
        for step in range(200):
            tf.summary.scalar("loss", 1 / (step + 1), step)
            tf.summary.scalar("exact", tf.constant(step / 3, tf.float64), step)
            tf.summary.scalar("count", tf.constant(step, tf.int64), step)
        for step in range(3):
            tf.summary.histogram("weights", rng.standard_normal(200), step, buckets=8)
            tf.summary.text("note", f"step *{step}*", step)
            tf.summary.image("picture", rng.random((2, 5, 4, 3)), step)
            tf.summary.write("tensor", tf.constant(rng.standard_normal((2, 3)), tf.float32), step)


def main(target: Path) -> None:
    from in_tensorboard import WALL, accumulated

    runs = target / "runs"
    for write in (by_lightning, by_keras, by_tensorflow):
        write(runs)
    for path in sorted(runs.rglob("*")):
        if path.is_file() and "tfevents" not in path.name:
            path.unlink()  # hyperparameters as YAML, checkpoints
    for number, path in enumerate(sorted(runs.rglob("*tfevents*"))):  # names without this machine
        suffix = path.name.rpartition(".")[2]
        path.rename(path.with_name(f"events.out.tfevents.{int(WALL)}.host.{number}.{suffix}"))
    folders = sorted({path.parent for path in runs.rglob("*tfevents*")})
    expected = {str(folder.relative_to(runs)): accumulated(folder) for folder in folders}
    (target / "expected.json").write_text(json.dumps(expected, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
