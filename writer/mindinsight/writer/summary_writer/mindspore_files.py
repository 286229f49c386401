"""MindSpore's summary files as the target of a SummaryWriter."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import HostArray
from mindinsight.writer.configuration import train_facts
from mindinsight.writer.encoding.counted_histogram import CountedHistogram, mindspore_histogram
from mindinsight.writer.encoding.layouts import TAG as LAYOUT_TAG
from mindinsight.writer.encoding.layouts import Layout
from mindinsight.writer.encoding.sounds import Sound
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.summary_writer.target import Moment, Trial


class MindSporeFiles:
    """Target that writes summary and lineage files."""

    def __init__(self, directory: Path, flush_seconds: float, suffix: str = "") -> None:
        self._directory, self._flush_seconds, self._suffix = directory, flush_seconds, suffix
        self.record = self._recorder(directory)
        self._trials: dict[str, SummaryRecord] = {}

    def scalar(self, tag: str, number: float, at: Moment) -> None:
        self.record.add_value("scalar", tag, number, step=at[0], wall_time=at[1])

    def tensor_scalar(self, tag: str, number: float, at: Moment, *, double: bool) -> None:
        del double  # a scalar that float32 would change is kept exactly as it is
        self.scalar(tag, number, at)

    def scalars(self, main_tag: str, numbers: Mapping[str, float], at: Moment) -> None:
        for tag, number in numbers.items():
            self.scalar(f"{main_tag}/{tag}", number, at)

    def tensor(self, tag: str, array: HostArray, at: Moment) -> None:
        """An array; a number becomes a row of one element."""
        self._add("tensor", tag, array.values.reshape(array.values.shape or (1,)), at)

    def histogram(self, tag: str, array: HostArray, at: Moment) -> None:
        """The distribution of an array, in MindSpore's number of buckets."""
        self._add("histogram", tag, array.values.reshape(-1), at)

    def counted_histogram(self, tag: str, histogram: CountedHistogram, at: Moment) -> None:
        self._add("histogram", tag, mindspore_histogram(histogram), at)

    def images(self, tag: str, batch: npt.NDArray[np.uint8], at: Moment) -> None:
        self._add("image", tag, batch, at)

    def text(self, tag: str, text: str, at: Moment) -> None:
        self._add("text", tag, text, at)

    def audio(self, tag: str, sound: Sound, at: Moment) -> None:
        self._add("audio", tag, sound.wav, at)

    def pr_curve(self, tag: str, rows: npt.NDArray[Any], at: Moment) -> None:
        self._add("pr_curve", tag, rows, at)

    def layout(self, layout: Layout) -> None:
        self._add("layout", LAYOUT_TAG, layout, Moment(0, time.time()))

    def graph(self, model: bytes) -> None:
        self.record.add_value("graph", "graph", model, step=0)

    def trial(self, trial: Trial, at: Moment) -> None:
        """Lineage of this run, or of the run below it that has a name."""
        record = self.record if trial.run_name is None else self._run(trial.run_name)
        record.add_value("train_lineage", "lineage", train_facts(trial.parameters), step=at.step)
        record.add_value("custom_lineage_data", "hparams", trial.parameters, step=at.step)
        record.add_value("eval_lineage", "lineage", {"metrics": trial.metrics}, step=at.step)
        for tag, number in trial.metrics.items():
            record.add_value("scalar", tag, number, step=at.step, wall_time=at.wall)

    def flush(self) -> None:
        for record in (self.record, *self._trials.values()):
            record.flush()

    def close(self, error: BaseException | None = None) -> None:
        for record in (self.record, *self._trials.values()):
            record.__exit__(None if error is None else type(error), error, None)

    def _add(self, kind: str, tag: str, value: Any, at: Moment) -> None:
        self.record.add_value(kind, tag, value, step=at.step, wall_time=at.wall)

    def _run(self, name: str) -> SummaryRecord:
        if name not in self._trials:
            self._trials[name] = self._recorder(self._directory / name)
        return self._trials[name]

    def _recorder(self, directory: Path) -> SummaryRecord:
        suffix = re.sub(r"\W", "_", f"_{self._suffix}_MS" if self._suffix else "_MS", flags=re.ASCII)
        return SummaryRecord(directory, file_suffix=suffix, flush_seconds=self._flush_seconds)
