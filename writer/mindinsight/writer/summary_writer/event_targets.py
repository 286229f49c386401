"""Targets of a SummaryWriter: TensorBoard's event files or MindSpore's summary files."""

from __future__ import annotations

import re
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import HostArray
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.configuration import Fact, train_facts
from mindinsight.writer.encoding import chart_layouts, tfevents
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.histograms import CountedHistogram, mindspore_histogram
from mindinsight.writer.encoding.media import Sound
from mindinsight.writer.files import event_queue
from mindinsight.writer.files.event_file import BY_UMASK, RecordFile, TfeventsName
from mindinsight.writer.files.event_queue import EventQueue
from mindinsight.writer.pending import give_back, size_of
from mindinsight.writer.record import SummaryRecord


class Moment(NamedTuple):
    """Step and wall time of a value."""

    step: int
    wall: float  # Unix seconds


class Trial(NamedTuple):
    """Hyper-parameters of a run, the metrics they led to, and a name of the run or None."""

    parameters: dict[str, Fact]
    metrics: dict[str, float]
    domains: Mapping[str, Sequence[Fact]]  # the values that a parameter may have
    run_name: str | None


_QUEUE_BYTES: Final = 256 << 20  # of waiting values, as in SummaryRecord. Beyond it the loop waits
_JOB_BYTES: Final = 280  # of a queued scalar: tuples, list, float


class TensorBoardFiles:
    """Target that writes tfevents files to a directory, and to those below it for ``scalars`` and ``trial``.

    Args:
        directory: directory of the run, created with its first value.
        flush_seconds: the longest time a value waits before it is written.
        suffix: end of the file names.
        purge_step: readers discard values of older files from this step on.
    """

    def __init__(
        self, directory: Path, flush_seconds: float, suffix: str = "", purge_step: int | None = None
    ) -> None:
        self._directory, self._flush_seconds, self._suffix = directory, flush_seconds, suffix
        self._buffers = BufferPool()
        self._runs: dict[str, TensorBoardFiles] = {}
        self._lock = threading.Lock()
        file = RecordFile(
            TfeventsName(directory, suffix), int(time.time()), None, tfevents.version_record, BY_UMASK
        )
        self._events = EventQueue(
            file,
            file,
            flush_seconds,
            _QUEUE_BYTES,
            done=partial(give_back, self._buffers),
            encode=tfevents.encode_jobs,
        )
        event_queue.call_in_children(self._forked)
        weakref.finalize(self, self._events.close)
        if purge_step is not None:
            self._put(
                Item(tfevents.EVENT, "", tfevents.session_start_record()), Moment(purge_step, time.time())
            )

    def scalar(self, tag: str, number: float, at: Moment) -> None:
        """Record a number."""
        with self._lock:
            self._events.put((at[0], at[1], [tag, number], (), _JOB_BYTES))

    def tensor_scalar(self, tag: str, number: float, at: Moment, *, double: bool) -> None:
        """Record a number in TensorFlow 2's encoding, as float64 if ``double``, else as float32."""
        self._put(Item(tfevents.VALUE, tag, _messages().tensor_scalar(tag, number, double)), at)

    def scalars(self, main_tag: str, numbers: Mapping[str, float], at: Moment) -> None:
        """Record each number in a separate run below this one. TensorBoard shows their tag in one chart."""
        for tag, number in numbers.items():
            self._run(f"{main_tag.replace('/', '_')}_{tag}").scalar(main_tag, number, at)

    def tensor(self, tag: str, array: HostArray, at: Moment) -> None:
        """Record an array of any shape."""
        self._put(Item("tensor", tag, self._own(array), array.dtype), at)

    def histogram(self, tag: str, array: HostArray, at: Moment) -> None:
        """Record the distribution of an array, in the buckets of the format."""
        self._put(Item("histogram", tag, self._own(array)), at)

    def counted_histogram(self, tag: str, histogram: CountedHistogram, at: Moment) -> None:
        """Record a distribution counted by the caller."""
        self._put(Item(tfevents.VALUE, tag, _messages().histogram(tag, histogram)), at)

    def images(self, tag: str, batch: npt.NDArray[np.uint8], at: Moment) -> None:
        """Record images (N, C, H, W)."""
        self._put(Item("image", tag, self._buffers.copy(batch)), at)

    def text(self, tag: str, text: str, at: Moment) -> None:
        """Record Markdown."""
        self._put(Item("text", tag, text.encode(errors="backslashreplace")), at)

    def audio(self, tag: str, sound: Sound, at: Moment) -> None:
        """Record a sound."""
        self._put(Item(tfevents.VALUE, tag, _messages().audio(tag, sound)), at)

    def pr_curve(self, tag: str, rows: npt.NDArray[Any], at: Moment) -> None:
        """Record a precision-recall curve. ``rows`` are those of ``chart_layouts.curve``."""
        self._put(Item(tfevents.VALUE, tag, _messages().pr_curve(tag, rows)), at)

    def layout(self, layout: chart_layouts.Layout) -> None:
        """Record the charts of a page of scalars."""
        value = _messages().layout(chart_layouts.TAG, chart_layouts.encode(layout))
        self._put(Item(tfevents.VALUE, chart_layouts.TAG, value), Moment(0, time.time()))

    def graph(self, model: bytes) -> None:
        """Record a graph given as bytes of a ModelProto."""
        from mindinsight.proto.graph_pb2 import ModelProto  # loads protobuf, which scalars do without

        field = tfevents.encode_graph(_messages().graph_definition(ModelProto.FromString(model).graph))
        self._put(Item(tfevents.EVENT, "graph", field), Moment(0, time.time()))

    def trial(self, trial: Trial, at: Moment) -> None:
        """Record a session in a run below this one, named by the time if it has no name."""
        run = self._run(trial.run_name or str(time.time()))
        for value in (
            _messages().experiment(trial.parameters, trial.metrics, trial.domains),
            _messages().session_start(trial.parameters),
            _messages().session_end(),
        ):
            run._put(Item(tfevents.VALUE, "hparams", value), at)
        for tag, number in trial.metrics.items():
            run.scalar(tag, number, at)

    def flush(self) -> None:
        """Wait until all recorded values are in the files."""
        for files in (self, *self._runs.values()):
            files._events.flush()

    def close(self, error: BaseException | None = None) -> None:
        """Close the files. A session that ``error`` ended has no mark of its end."""
        for files in (self, *self._runs.values()):
            files._events.close(tfevents.closing_record() if error is None else b"")

    def _put(self, item: Item, at: Moment) -> None:
        with self._lock:
            self._events.put((at.step, at.wall, [], (item,), _JOB_BYTES + size_of(item)))

    def _own(self, array: HostArray) -> npt.NDArray[Any]:
        """Return the array, copied if the loop may change it."""
        fresh = not array.shared and array.values.flags.c_contiguous
        return array.values if fresh else self._buffers.copy(array.values)

    def _run(self, name: str) -> TensorBoardFiles:
        with self._lock:
            if name not in self._runs:
                self._runs[name] = TensorBoardFiles(self._directory / name, self._flush_seconds, self._suffix)
            return self._runs[name]

    def _forked(self) -> None:
        self._lock = threading.Lock()


def _messages() -> Any:
    """Return the module that encodes messages, which loads protobuf, imported on first use. Scalars do
    without it."""
    return import_module("mindinsight.writer.encoding.tfevents_messages")


class MindSporeFiles:
    """Target that writes summary and lineage files."""

    def __init__(self, directory: Path, flush_seconds: float, suffix: str = "") -> None:
        self._directory, self._flush_seconds, self._suffix = directory, flush_seconds, suffix
        self.record = self._recorder(directory)
        self._trials: dict[str, SummaryRecord] = {}

    def scalar(self, tag: str, number: float, at: Moment) -> None:
        """Record a number."""
        self.record.add_value("scalar", tag, number, step=at[0], wall_time=at[1])

    def tensor_scalar(self, tag: str, number: float, at: Moment, *, double: bool) -> None:
        """Record a number like ``scalar``, because this format has no second encoding."""
        del double  # a scalar that float32 would change is kept exactly as it is
        self.scalar(tag, number, at)

    def scalars(self, main_tag: str, numbers: Mapping[str, float], at: Moment) -> None:
        """Record each number under the tag ``<main_tag>/<tag>``."""
        for tag, number in numbers.items():
            self.scalar(f"{main_tag}/{tag}", number, at)

    def tensor(self, tag: str, array: HostArray, at: Moment) -> None:
        """Record an array. A number becomes a row of one element."""
        self._add("tensor", tag, array.values.reshape(array.values.shape or (1,)), at)

    def histogram(self, tag: str, array: HostArray, at: Moment) -> None:
        """Record the distribution of an array, in MindSpore's number of buckets."""
        self._add("histogram", tag, array.values.reshape(-1), at)

    def counted_histogram(self, tag: str, histogram: CountedHistogram, at: Moment) -> None:
        """Record a distribution counted by the caller."""
        self._add("histogram", tag, mindspore_histogram(histogram), at)

    def images(self, tag: str, batch: npt.NDArray[np.uint8], at: Moment) -> None:
        """Record images (N, C, H, W)."""
        self._add("image", tag, batch, at)

    def text(self, tag: str, text: str, at: Moment) -> None:
        """Record Markdown."""
        self._add("text", tag, text, at)

    def audio(self, tag: str, sound: Sound, at: Moment) -> None:
        """Record a sound."""
        self._add("audio", tag, sound.wav, at)

    def pr_curve(self, tag: str, rows: npt.NDArray[Any], at: Moment) -> None:
        """Record a precision-recall curve. ``rows`` are those of ``chart_layouts.curve``."""
        self._add("pr_curve", tag, rows, at)

    def layout(self, layout: chart_layouts.Layout) -> None:
        """Record the charts of a page of scalars."""
        self._add("layout", chart_layouts.TAG, layout, Moment(0, time.time()))

    def graph(self, model: bytes) -> None:
        """Record a graph given as bytes of a ModelProto."""
        self.record.add_value("graph", "graph", model, step=0)

    def trial(self, trial: Trial, at: Moment) -> None:
        """Record the lineage of this run, or of the named run below it. Metrics are no scalars here: a
        curve of the same name would lose its point of that step."""
        record = self.record if trial.run_name is None else self._run(trial.run_name)
        record.add_value("train_lineage", "lineage", train_facts(trial.parameters), step=at.step)
        record.add_value("custom_lineage_data", "hparams", trial.parameters, step=at.step)
        record.add_value("eval_lineage", "lineage", {"metrics": trial.metrics}, step=at.step)

    def flush(self) -> None:
        """Wait until all recorded values are in the files."""
        for record in (self.record, *self._trials.values()):
            record.flush()

    def close(self, error: BaseException | None = None) -> None:
        """Close the files. ``error`` ended the training, or is None."""
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


Target: TypeAlias = TensorBoardFiles | MindSporeFiles
