"""Callback for Keras 3, on the backends of torch and JAX."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import keras

from mindinsight.writer.integrations.training import ALSO, Training


class MindInsightCallback(keras.callbacks.Callback):
    """Callback of ``fit`` and ``evaluate`` that records metrics, learning rate and the optimizer's settings.

    Args:
        log_dir: directory of the run.
        batches_every: training batches between two recorded ones. 0: epochs only.
        weights_every: epochs between two histograms of each weight. 0: none.
        gradients_every: batches between two histograms of gradients. 0: none. Only the backend of torch
            keeps gradients accessible. Raises ValueError on another backend.
        also: what to record in addition, any of ``code``, ``system`` and ``console``. (): none.
    """

    def __init__(
        self,
        log_dir: str | Path = "runs/keras",
        batches_every: int = 10,
        weights_every: int = 0,
        gradients_every: int = 0,
        also: Collection[str] = ALSO,
    ) -> None:
        super().__init__()
        if gradients_every and keras.config.backend() != "torch":
            raise ValueError("gradients_every needs the backend of torch: others keep no gradients")
        self._batches_every, self._weights_every = batches_every, weights_every
        self._gradients_every = gradients_every
        self.training = Training(log_dir, also)
        self._step = 0
        self._loss: Any = None

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        """Record network, optimizer and loss function."""
        optimizer, loss = self.model.optimizer, self.model.loss
        self.training.configure(
            {"optimizer": optimizer.get_config(), "fit": self.params},
            network=self.model.name,
            optimizer=type(optimizer).__name__,
            learning_rate=float(keras.ops.convert_to_numpy(optimizer.learning_rate)),
            loss_function=loss if isinstance(loss, str) else getattr(loss, "name", None),
            epoch=self.params.get("epochs"),
        )

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the batch's logs, which are means over the epoch so far, every ``batches_every`` batches,
        and gradients every ``gradients_every`` batches, never with 0."""
        self._step += 1
        if self._batches_every and self._step % self._batches_every == 0:
            self.training.numbers(logs or {}, self._step, "batch/")
        if self._gradients_every and self._step % self._gradients_every == 0:
            self.training.distributions(self._gradients(), self._step, "/gradient")

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        """Record the epoch's logs, ``val_loss`` as ``validation/loss`` and in the lineage, the learning rate,
        and weights every ``weights_every`` epochs, never with 0."""
        for name, value in (logs or {}).items():
            prefix, tag = ("validation/", name[4:]) if name.startswith("val_") else ("train/", name)
            self.training.numbers({tag: value}, epoch, prefix)
        self._loss = (logs or {}).get("loss", self._loss)
        rate = keras.ops.convert_to_numpy(self.model.optimizer.learning_rate)
        self.training.numbers({"learning_rate": rate}, epoch)
        metrics = {name[4:]: value for name, value in (logs or {}).items() if name.startswith("val_")}
        if metrics:
            self.training.evaluation(metrics)
        if self._weights_every and epoch % self._weights_every == 0:
            weights = ((weight.path, keras.ops.convert_to_numpy(weight)) for weight in self.model.weights)
            self.training.distributions(weights, epoch)

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        """Close the files."""
        self.training.close(loss=self._loss)

    def _gradients(self) -> Iterator[tuple[str, Any]]:
        for weight in self.model.trainable_weights:
            yield weight.path, weight.value.grad
