"""Callback that saves the network of the best evaluation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mindinsight.writer.callbacks.base import Callback
from mindinsight.writer.callbacks.checkpoints import checked_prefix, network_of
from mindinsight.writer.callbacks.loss import position
from mindinsight.writer.callbacks.saving import SaveFunction, save_function

if TYPE_CHECKING:
    from mindinsight.writer.callbacks.context import RunContext


class KeepBest(Callback):
    """Keeps one file, ``<prefix>-best.ckpt`` (``.pt`` for PyTorch): the network of the best ``metric``.

    ``mode`` says whether the largest or the smallest value is best; NaN never is. The metric is looked
    for in the loop's ``metrics`` at the end of an evaluation and of an epoch of ``fit``. ``best`` and
    ``best_epoch`` tell the record so far. ``save(network, path, extra)`` gets the metric and the epoch as
    ``extra``; without it MindSpore or PyTorch saves the network.
    Raises ValueError for another mode or a bad prefix.
    """

    def __init__(
        self,
        metric: str,
        mode: Literal["max", "min"] = "max",
        directory: str | Path = ".",
        prefix: str = "CKP",
        save: SaveFunction | None = None,
    ) -> None:
        if mode not in ("max", "min"):
            raise ValueError(f"mode must be 'max' or 'min', got {mode!r}")
        self._metric = metric
        self._sign = 1.0 if mode == "max" else -1.0
        self._stem = Path(directory).absolute() / f"{checked_prefix(prefix)}-best"
        self._stem.parent.mkdir(parents=True, exist_ok=True)
        self._save = save
        self.best = math.nan
        self.best_epoch = 0

    def on_eval_end(self, run_context: RunContext) -> None:
        super().on_eval_end(run_context)
        self._consider(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        super().on_train_epoch_end(run_context)
        self._consider(run_context)

    def _consider(self, run_context: RunContext) -> None:
        arguments = run_context.original_args()
        metrics = arguments.get("metrics") or {}
        if self._metric not in metrics:
            return
        value = float(metrics[self._metric])
        if math.isnan(value) or self._sign * value <= self._sign * self.best:
            return
        self.best, self.best_epoch = value, position(arguments)[0]
        network = network_of(None, arguments)
        save, suffix = save_function(self._save, network, {})
        extra = {self._metric: value, "epoch_num": self.best_epoch}
        save(network, self._stem.with_name(self._stem.name + suffix), extra)
