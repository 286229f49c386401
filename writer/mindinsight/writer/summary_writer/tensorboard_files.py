"""TensorBoard's event files as the target of a SummaryWriter."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import HostArray
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding import layouts
from mindinsight.writer.encoding.counted_histogram import CountedHistogram
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.events import Job
from mindinsight.writer.encoding.sounds import Sound
from mindinsight.writer.encoding.tfevents import hparams, jobs, messages, values
from mindinsight.writer.files import process_hooks
from mindinsight.writer.files.event_file import EventFile
from mindinsight.writer.files.record_file import BY_UMASK, RecordFile
from mindinsight.writer.files.tfevents_name import TfeventsName
from mindinsight.writer.summary_writer.target import Moment, Trial

_QUEUE_BYTES: Final = 256 << 20
_JOB_BYTES: Final = 280  # of a queued scalar: tuples, list, float


class TensorBoardFiles:
    """Target that writes tfevents files: a directory, and those below it that ``scalars`` and ``trial`` make.

    Args:
        directory: of the run; made with its first value.
        flush_seconds: the longest time a value waits before it is written.
        suffix: end of the file names.
        purge_step: readers forget what older files hold from this step on.
    """

    def __init__(
        self, directory: Path, flush_seconds: float, suffix: str = "", purge_step: int | None = None
    ) -> None:
        self._directory, self._flush_seconds, self._suffix = directory, flush_seconds, suffix
        self._buffers = BufferPool()
        self._runs: dict[str, TensorBoardFiles] = {}
        self._lock = threading.Lock()
        file = RecordFile(
            TfeventsName(directory, suffix), int(time.time()), None, messages.version_record, BY_UMASK
        )
        self._events = EventFile(
            file,
            file,
            flush_seconds,
            _QUEUE_BYTES,
            done=partial(_give_back, self._buffers),
            encode=jobs.encode,
        )
        process_hooks.call_in_children(self._forked)
        weakref.finalize(self, self._events.close)
        if purge_step is not None:
            self._put(Item(jobs.EVENT, "", messages.session_start()), Moment(purge_step, time.time()))

    def scalar(self, tag: str, number: float, at: Moment) -> None:
        with self._lock:
            self._events.put((at[0], at[1], [tag, number], (), _JOB_BYTES))

    def tensor_scalar(self, tag: str, number: float, at: Moment, *, double: bool) -> None:
        self._put(Item(jobs.FIELDS, tag, values.tensor_scalar(number, double)), at)

    def scalars(self, main_tag: str, numbers: Mapping[str, float], at: Moment) -> None:
        """Each in a run of its own below this one, as TensorBoard draws the runs of a tag in one chart."""
        for tag, number in numbers.items():
            self._run(f"{main_tag.replace('/', '_')}_{tag}").scalar(main_tag, number, at)

    def tensor(self, tag: str, array: HostArray, at: Moment) -> None:
        self._put(Item("tensor", tag, self._own(array), array.dtype), at)

    def histogram(self, tag: str, array: HostArray, at: Moment) -> None:
        self._put(Item("histogram", tag, self._own(array)), at)

    def counted_histogram(self, tag: str, histogram: CountedHistogram, at: Moment) -> None:
        self._put(Item(jobs.FIELDS, tag, values.histogram(histogram)), at)

    def images(self, tag: str, batch: npt.NDArray[np.uint8], at: Moment) -> None:
        self._put(Item("image", tag, self._buffers.copy(batch)), at)

    def text(self, tag: str, text: str, at: Moment) -> None:
        self._put(Item(jobs.TEXT, f"{tag}/text_summary", text.encode(errors="backslashreplace")), at)

    def audio(self, tag: str, sound: Sound, at: Moment) -> None:
        self._put(Item(jobs.FIELDS, tag, values.audio(sound)), at)

    def pr_curve(self, tag: str, rows: npt.NDArray[Any], at: Moment) -> None:
        self._put(Item(jobs.FIELDS, tag, values.pr_curve(rows)), at)

    def layout(self, layout: layouts.Layout) -> None:
        field = values.layout(layouts.encode(layout))
        self._put(Item(jobs.FIELDS, layouts.TAG, field), Moment(0, time.time()))

    def graph(self, model: bytes) -> None:
        from mindinsight.proto.graph_pb2 import ModelProto  # loads protobuf, which scalars do without
        from mindinsight.writer.encoding.tfevents.graph import definition

        field = messages.graph(definition(ModelProto.FromString(model).graph))
        self._put(Item(jobs.EVENT, "graph", field), Moment(0, time.time()))

    def trial(self, trial: Trial, at: Moment) -> None:
        """A session in a run of its own below this one, named by the time if it has no name."""
        run = self._run(trial.run_name or str(time.time()))
        for value in (
            hparams.experiment(trial.parameters, trial.metrics, trial.domains),
            hparams.session_start(trial.parameters),
            hparams.session_end(),
        ):
            run._put(Item(jobs.VALUE, "hparams", value), at)
        for tag, number in trial.metrics.items():
            run.scalar(tag, number, at)

    def flush(self) -> None:
        for files in (self, *self._runs.values()):
            files._events.flush()

    def close(self, error: BaseException | None = None) -> None:
        """Finish the files. A session that ``error`` ended is not said to have stopped."""
        for files in (self, *self._runs.values()):
            files._events.close(messages.closing_record() if error is None else b"")

    def _put(self, item: Item, at: Moment) -> None:
        size = len(item.payload) if isinstance(item.payload, bytes) else item.payload.nbytes
        with self._lock:
            self._events.put((at.step, at.wall, [], (item,), _JOB_BYTES + size))

    def _own(self, array: HostArray) -> npt.NDArray[Any]:
        """The array, copied if the loop may write to it."""
        fresh = not array.shared and array.values.flags.c_contiguous
        return array.values if fresh else self._buffers.copy(array.values)

    def _run(self, name: str) -> TensorBoardFiles:
        with self._lock:
            if name not in self._runs:
                self._runs[name] = TensorBoardFiles(self._directory / name, self._flush_seconds, self._suffix)
            return self._runs[name]

    def _forked(self) -> None:
        self._lock = threading.Lock()


def _give_back(buffers: BufferPool, written: Iterable[Job]) -> None:
    for job in written:
        for item in job[3]:
            if not isinstance(item.payload, bytes):
                buffers.give_back(item.payload)
