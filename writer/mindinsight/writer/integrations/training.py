"""Recorder of a training for the callbacks of frameworks: numbers, lineage, histograms and alerts."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.configuration import flatten, train_facts
from mindinsight.writer.encoding import scalars
from mindinsight.writer.program import record_program
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.summary_writer import SummaryWriter

_log: Final = logging.getLogger(__name__)


class Training:
    """Recorder of one training in ``log_dir``.

    Of several processes, each with a Training writes into its ``rank_N`` (ranks.py). ``writer`` records
    images, texts and tensors, ``writer.record`` alerts.
    """

    def __init__(self, log_dir: str | Path, record_code: bool = True) -> None:
        """Open the files. ``record_code`` records the program (program.py), of rank 0 alone."""
        self.writer = SummaryWriter(log_dir)
        if record_code and rank_of().number == 0:
            record_program(self.writer.record)
        self._facts: dict[str, Any] = {"device_num": rank_of().world}
        self._metrics: dict[str, float] = {}
        self._broken: set[str] = set()  # tags that are not finite
        self._reported_at: int | None = None  # the last step that belongs to the fault already reported
        self._refused: set[str] = set()

    def configure(self, configuration: Any, **facts: Any) -> None:
        """Record settings as lineage. ``facts`` are facts for ``lineage.train_lineage``."""
        settings = flatten(configuration)
        if settings:
            self.writer.record.add_value("custom_lineage_data", "configuration", settings, step=0)
        known = {name: value for name, value in facts.items() if value is not None}
        self._learn({**train_facts(settings), **known})

    def checkpoint(self, path: str | Path) -> None:
        """Record the newest checkpoint: a file, or a directory of files."""
        saved = Path(path).absolute()
        files = saved.rglob("*") if saved.is_dir() else [saved]
        size = sum(file.stat().st_size for file in files if file.is_file())
        self._learn({"model_path": str(saved), "model_size": size})

    def evaluation(self, metrics: Mapping[str, Any]) -> None:
        """Record the metrics of an evaluation as lineage, in addition to earlier ones."""
        self._metrics.update(self._numbers(metrics, ""))
        if self._metrics:
            self.writer.record.add_value("eval_lineage", "lineage", {"metrics": self._metrics}, step=0)

    def numbers(self, values: Mapping[str, Any], step: int, prefix: str = "") -> None:
        """Record numbers. Nested dicts are named by path. A fault is one alert for all tags."""
        for tag, number in self._numbers(values, prefix):
            self.writer.add_scalar(tag, number, step)
            if math.isfinite(number):
                self._broken.discard(tag)
            else:
                self._report(tag, number, step)
                self._broken.add(tag)

    def _report(self, tag: str, number: float, step: int) -> None:
        """Raise the alert of a fault for the first non-finite tag while no other tag is non-finite."""
        if not self._broken and self._reported_at != step:
            text = f"It was recorded at step {step}. Further ones are not reported until all tags are finite."
            self.writer.record.alert(f"{tag} is {number}", text, "error", step)
            self._reported_at = step

    def distributions(self, arrays: Iterable[tuple[str, Any]], step: int, suffix: str = "") -> None:
        """Record histograms by name. Arrays that are None or empty are skipped."""
        for name, array in arrays:
            if array is not None and math.prod(array.shape):
                self.writer.add_histogram(f"{name}{suffix}", array, step)

    def close(self, error: BaseException | None = None, loss: Any = None) -> None:
        """Close the files. ``error`` ended the training, or is None."""
        if loss is not None:
            self._learn({"loss": scalars.number("loss", loss)})
        self.writer.__exit__(None if error is None else type(error), error, None)

    def _learn(self, facts: Mapping[str, Any]) -> None:
        """Add facts and record all known ones, because readers show the last message."""
        self._facts.update(facts)
        self.writer.record.add_value("train_lineage", "lineage", self._facts, step=0)

    def _numbers(self, values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, float]]:
        for name, value in values.items():
            tag = f"{prefix}{name}"
            if isinstance(value, Mapping):
                yield from self._numbers(value, f"{tag}/")
                continue
            try:
                yield tag, scalars.number(tag, value)
            except (TypeError, ValueError) as error:  # loggers are given texts and lists as well
                if tag not in self._refused:
                    self._refused.add(tag)
                    _log.info("'%s' is not recorded: %s", tag, error)
