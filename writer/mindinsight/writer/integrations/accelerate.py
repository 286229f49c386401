"""Tracker for Hugging Face Accelerate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from accelerate.tracking import GeneralTracker

from mindinsight.writer.integrations.training import ALSO, Training
from mindinsight.writer.summary_writer import SummaryWriter


class MindInsightTracker(GeneralTracker):
    """Tracker of an ``Accelerator``: ``Accelerator(log_with=MindInsightTracker("run", "runs"))``.

    Args:
        run_name: directory of the run.
        logging_dir: directory of all runs.
        every_rank: record the metrics of every process, each in its ``rank_N``.
        also: what to record in addition, any of ``code``, ``system`` and ``console``. (): none.
    """

    name = "mindinsight"
    requires_logging_directory = True

    def __init__(
        self,
        run_name: str,
        logging_dir: str | Path = "runs",
        every_rank: bool = False,
        also: Collection[str] = ALSO,
    ) -> None:
        super().__init__()
        self.main_process_only = not every_rank
        self._directory = Path(logging_dir) / run_name
        self._also = also
        self._training: Training | None = None
        self._step = 0

    @property
    def training(self) -> Training:
        """Return the recorder of the run, opened at the first use because not every process records."""
        if self._training is None:
            self._training = Training(self._directory, self._also)
        return self._training

    @property
    def tracker(self) -> SummaryWriter:
        """Return the writer of the run, for images and the like."""
        return self.training.writer

    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Record settings as lineage."""
        self.training.configure(values)

    def log(self, values: Mapping[str, Any], step: int | None = None, **_options: Any) -> None:
        """Record numbers and texts, and numbers with names such as ``val_acc`` also as metrics of an
        evaluation. ``step`` defaults to the step after the last one."""
        self._step = self._step + 1 if step is None else int(step)
        self.training.numbers(values, self._step)
        self.training.results({name: value for name, value in values.items() if not isinstance(value, str)})
        for tag, value in values.items():
            if isinstance(value, str):
                self.tracker.add_text(tag, value, self._step)

    def log_images(self, values: Mapping[str, Any], step: int | None = None, **options: Any) -> None:
        """Record batches of images (N, H, W, C), or with the axes in ``dataformats``."""
        for tag, batch in values.items():
            layout = options.get("dataformats", "NHWC")
            self.tracker.add_images(tag, batch, self._step if step is None else step, dataformats=layout)

    def finish(self) -> None:
        """Close the files."""
        if self._training is not None:
            self._training.close()
