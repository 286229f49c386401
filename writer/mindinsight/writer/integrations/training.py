"""Recorder of a training for the callbacks of frameworks: numbers, lineage, histograms and alerts."""

from __future__ import annotations

import logging
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from mindinsight.writer.configuration import flatten, train_facts
from mindinsight.writer.encoding import scalars
from mindinsight.writer.program import record_program
from mindinsight.writer.ranks import rank_of
from mindinsight.writer.record import PARENT
from mindinsight.writer.summary_writer import SummaryWriter

_log: Final = logging.getLogger(__name__)
ALSO: Final = ("code", "system", "console")  # what is recorded beside the training
_OF_EVALUATION: Final = re.compile(r"(val|valid|validation|eval|evaluation|test)[_/.-](.+)", re.IGNORECASE)
_CHECKPOINT_DEPTH: Final = 3  # directories around a checkpoint: <run>/checkpoints/last/weights
_LOSSES: Final = ("loss", "train_loss", "training_loss", "train/loss", "training/loss")


def parent_run(checkpoint: Path, run: Path) -> str | None:
    """Return the name of the run in which a checkpoint lies, as seen from another run, or None.

    It is the nearest directory around the checkpoint with event files, its own or its ranks', and named from
    the directory that both runs lie in. The run itself, and a directory inside or around it, is not its
    parent.
    """
    own = run.absolute()
    for folder in list(checkpoint.absolute().parents)[:_CHECKPOINT_DEPTH]:
        if any(next(folder.glob(pattern), None) for pattern in ("*.summary.*", "rank_*/*.summary.*")):
            if folder == own or folder in own.parents or own in folder.parents:
                return None
            return folder.relative_to(os.path.commonpath((folder, own))).as_posix()
    return None


class Training:
    """Recorder of one training in ``log_dir``.

    Of several processes, each with a Training writes into its ``rank_N`` (ranks.py). ``writer`` records
    images, texts and tensors, ``writer.record`` alerts.
    """

    def __init__(self, log_dir: str | Path, also: Collection[str] = ALSO) -> None:
        """Open the event files of a run in ``log_dir``, and start the recorders that ``also`` names.
        Raises ValueError for another name. ``also`` is any of ALSO: the program (of rank 0), the machine,
        the console output."""
        if unknown := sorted(set(also) - set(ALSO)):
            raise ValueError(f"also: {', '.join(ALSO)} can be recorded, not {', '.join(unknown)}")
        self.writer = SummaryWriter(log_dir)
        record = self.writer.record
        if "console" in also:
            record.record_console()
        if "code" in also and rank_of().number == 0:
            record_program(record)
        if "system" in also:
            record.record_system()
        self._facts: dict[str, Any] = {"device_num": rank_of().world}
        self._metrics: dict[str, float] = {}
        self._loss: float | None = None  # of the training, as recorded last
        self._broken: set[str] = set()  # tags whose last number is non-finite
        self._reported_at: int | None = None  # the last step that belongs to the fault already reported
        self._refused: set[str] = set()

    def configure(self, configuration: Any, **facts: Any) -> None:
        """Record settings as lineage. ``facts`` are facts for ``lineage.train_lineage``."""
        settings = flatten(configuration)
        if settings:
            self.writer.record.add_value("custom_lineage_data", "configuration", settings, step=0)
        known = {name: value for name, value in facts.items() if value is not None}
        self._learn({**train_facts(settings), **known})

    def learn(self, **facts: Any) -> None:
        """Record those facts of the lineage that were not recorded before. Facts that are None are
        omitted."""
        new = {name: fact for name, fact in facts.items() if fact is not None and name not in self._facts}
        if new:
            self._learn(new)

    def checkpoint(self, path: str | Path) -> None:
        """Record path and size in bytes of the newest checkpoint, a file or a directory, in the lineage."""
        saved = Path(path).absolute()
        files = saved.rglob("*") if saved.is_dir() else [saved]
        size = sum(file.stat().st_size for file in files if file.is_file())
        self._learn({"model_path": str(saved), "model_size": size})

    def resumed(self, checkpoint: str | Path, last_step: int) -> None:
        """Record that the training continues the run that contains ``checkpoint``, after its ``last_step``.
        Record nothing if no other run contains the checkpoint, and for a URL."""
        local = "://" not in str(checkpoint)
        parent = parent_run(Path(checkpoint), Path(self.writer.log_dir)) if local else None
        if parent is not None:
            self.writer.record.add_value(
                "custom_lineage_data", PARENT, {PARENT: f"{parent}@{last_step}"}, step=0
            )

    def evaluation(self, metrics: Mapping[str, Any]) -> None:
        """Record the metrics of an evaluation as lineage, in addition to earlier ones."""
        self._metrics.update(self._numbers(metrics, ""))
        if self._metrics:
            self.writer.record.add_value("eval_lineage", "lineage", {"metrics": self._metrics}, step=0)

    def results(self, values: Mapping[str, Any]) -> None:
        """Record values with names such as ``val_acc`` and ``test/loss`` as metrics of an evaluation. They
        are recorded without ``val_`` and the like. Other values are ignored."""
        matches = {name: _OF_EVALUATION.fullmatch(name) for name in values}
        metrics = {match[2]: values[name] for name, match in matches.items() if match}
        if metrics:
            self.evaluation(metrics)

    def numbers(self, values: Mapping[str, Any], step: int, prefix: str = "") -> None:
        """Record numbers as scalars ``<prefix><name>``, in nested dicts by path, and an alert for the
        first non-finite number. Other values are skipped. No other alert follows until all tags are finite
        again."""
        for tag, number in self._numbers(values, prefix):
            if tag in _LOSSES:
                self._loss = number
            self.writer.add_scalar(tag, number, step)
            if math.isfinite(number):
                self._broken.discard(tag)
            else:
                self._report(tag, number, step)
                self._broken.add(tag)

    def _report(self, tag: str, number: float, step: int) -> None:
        """Raise an alert for the first non-finite tag, unless another tag is non-finite already."""
        if not self._broken and self._reported_at != step:
            text = f"It was recorded at step {step}. Further ones are not reported until all tags are finite."
            self.writer.record.alert(f"{tag} is {number}", text, "error", step)
            self._reported_at = step

    def distributions(self, arrays: Iterable[tuple[str, Any]], step: int, suffix: str = "") -> None:
        """Record histograms ``<name><suffix>``. Arrays that are None or empty are skipped."""
        for name, array in arrays:
            if array is not None and math.prod(array.shape):
                self.writer.add_histogram(f"{name}{suffix}", array, step)

    def close(self, error: BaseException | None = None, loss: Any = None) -> None:
        """Record the final loss, by default the last recorded one, and close the files. ``error`` ended
        the training, or is None."""
        final = self._loss if loss is None else scalars.number("loss", loss)
        if final is not None:
            self._learn({"loss": final})
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


def loader_facts(loader: Any) -> dict[str, int]:
    """Return ``batch_size`` and ``train_dataset_size`` of a loader, without those that it does not know."""
    facts = {}
    size = getattr(loader, "batch_size", None)
    if isinstance(size, int):
        facts["batch_size"] = size
    with suppress(AttributeError, TypeError):  # an iterable one has no length
        facts["train_dataset_size"] = len(loader.dataset)
    return facts
