"""Queue of records on their way to event files: bounded, written by one thread, with a log of dropped values.

``event_file`` decides when a new file begins.
"""

import logging
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any, Final, TypeAlias

from mindinsight.writer.encoding import events
from mindinsight.writer.encoding import scalars as summary_jobs
from mindinsight.writer.encoding.encoder import Item
from mindinsight.writer.encoding.events import Job
from mindinsight.writer.encoding.scalars import Failed
from mindinsight.writer.files.event_file import RecordSink

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _Interval:
    first: int
    last: int
    count: int = 0


class DroppedValues:
    """Log of dropped values, collected by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reasons: dict[str, dict[str, _Interval]] = {}

    def add(self, reason: str, names: Iterable[tuple[str, int]]) -> None:
        """Record that the values of these ``names``, tags and steps, were dropped for a reason."""
        with self._lock:
            tags = self._reasons.setdefault(reason, {})
            for tag, step in names:
                interval = tags.setdefault(tag, _Interval(step, step))
                interval.last = step
                interval.count += 1

    def log(self) -> None:
        """Log the values dropped since the last call, if any."""
        with self._lock:
            reasons, self._reasons = self._reasons, {}
        for reason, tags in reasons.items():
            texts = [
                f"'{tag}' of step {dropped.first}"
                if dropped.count == 1
                else f"{dropped.count} values of '{tag}' from step {dropped.first} to {dropped.last}"
                for tag, dropped in tags.items()
            ]
            _log.warning("not recorded: %s: %s", "; ".join(texts), reason)


def start_within_limit(thread: threading.Thread) -> None:
    """Start a thread. Raises RuntimeError if it does not run within ``_START`` seconds. ``Thread.start``
    waits without a limit for a thread that got its stack and then no memory."""
    begun: Any = thread._started  # type: ignore[attr-defined]
    begun.wait = partial(begun.wait, _START)
    thread.start()
    if not begun.is_set():
        thread.run = lambda: None  # type: ignore[method-assign] # should it begin yet
        raise RuntimeError("a new thread does not begin")


def patiently(progress: Callable[[], int]) -> Iterator[None]:
    """Yield again and again, until ``progress`` has not changed for ``STALLED`` seconds. The loop's body
    must wait a little each time."""
    last, until = progress(), time.monotonic() + STALLED
    while time.monotonic() < until:
        yield
        if (now := progress()) != last:
            last, until = now, time.monotonic() + STALLED


def call_in_children(method: Callable[[], None]) -> None:
    """Call the bound ``method`` first in every forked child, as long as its object exists."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        if bound := reference():
            bound()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


def call_at_worker_exit(function: Callable[[], None]) -> None:
    """Call ``function`` at the exit of a multiprocessing worker, which skips atexit. Do nothing in a
    process that is no worker."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, function, exitpriority=0)


def fatal_error() -> BaseException | None:
    """Return the uncaught exception that ends this process, None without one and in an interactive
    session. In an interactive session ``sys.last_value`` may belong to any earlier statement."""
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return None
    error = getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None


STALLED: Final = 600.0  # seconds that anything waits for a disk that takes nothing, such as a dead NFS server
_START: Final = 5.0  # seconds that a thread may take to begin: microseconds unless memory is short
_CHUNK_JOBS: Final = 256  # encoded and written together: about half a millisecond of scalars
_CHUNK_BYTES: Final = 8 << 20  # of memory that encoded records take beside the queue
_WAKE_BYTES: Final = 1 << 20  # queued: do not wait for the next flush
_EARLY: Final = 0.25  # of ``flush_seconds``, between the beginnings of two rounds

_SILENT: Final = "%s may lack values: the disk has taken nothing for %g s and is not waited for"

# Processes an item of a step, for example saves it next to the event file.
Export = Callable[[Item, int], None]
# Called with the jobs that are on disk.
Done = Callable[[Iterable[Job]], None]
# Returns a record for each job, empty if none of its values could be encoded.
Encode: TypeAlias = Callable[[Sequence[Job], Failed], list[bytes]]


class EventQueue:
    """Background writer of one recorder: its files, and the thread that writes them.

    ``put``, ``flush`` and ``close`` belong to the training loop and need one caller at a time. The other
    methods and ``done``, which receives the jobs on disk, belong to the background thread. After an error of
    the disk, values stay queued and are retried every ``flush_seconds``. Beyond ``queue_bytes`` a warning
    names them. If the disk is only slow, ``put`` waits. ``encode`` selects the format, by default
    MindSpore's.
    """

    def __init__(
        self,
        summary: RecordSink,
        lineage: RecordSink,
        flush_seconds: float,
        queue_bytes: int,
        export: Export | None = None,
        done: Done | None = None,
        encode: Encode = summary_jobs.encode_jobs,
    ) -> None:
        self._summary = summary
        self._lineage = lineage
        self._flush_seconds = flush_seconds
        self._limit = queue_bytes
        self._export = export
        self._done = done
        self._encode = encode
        self._warned_full = False
        self._warned_refused = False
        self._begin()
        call_in_children(self._forked)

    def _begin(self) -> None:
        self._queue: deque[Job] = deque()
        self._put_bytes = 0  # bytes queued, counted by the loop
        self._done_bytes = 0  # bytes written or dropped, counted by the thread
        self._stalled_at = -1  # bytes written or dropped when nothing waited any longer
        self._requested = 0
        self._answered = 0
        self._closing = False
        self._last_record = b""
        self._failure: Exception | None = None
        self._refusing = False  # the disk did not take the last chunk
        self._thread: threading.Thread | None = None
        self._start_after = 0.0  # time at which a thread that could not start is tried again
        self._synced = time.monotonic()
        self._wake = threading.Event()
        self._progress = threading.Condition()
        self._dropped = DroppedValues()

    @property
    def path(self) -> str:
        """Return the full path of the newest summary file."""
        return str(self._summary.path)

    @property
    def failure(self) -> Exception | None:
        """Return the failure in the background that ``take_failure`` has not returned yet, or None."""
        return self._failure

    def take_failure(self) -> Exception | None:
        """Return and reset the failure, or None. The thread sets it again while the cause persists."""
        failure, self._failure = self._failure, None
        return failure

    def put(self, job: Job) -> None:
        """Queue ``job``. Wait while the queue is full and the disk is working. Drop the job, with a warning,
        if the disk refuses the full queue, and after ``close``. Keep job and failure if no thread starts."""
        cost = job[4]
        if self._closing:
            self.drop("the recorder is closed", events.job_names(job))
            return
        if self._put_bytes - self._done_bytes + cost > self._limit and not self._room_for(cost):
            self._dropped.add("the queue is full and the disk takes nothing", events.job_names(job))
            return
        self._queue.append(job)
        self._put_bytes += cost
        self._start()
        if self._put_bytes - self._done_bytes > _WAKE_BYTES and not self._wake.is_set():
            self._wake.set()

    def drop(self, reason: str, names: Iterable[tuple[str, int]]) -> None:
        """Warn that these values, by tag and step, are not recorded, with the reason."""
        self._dropped.add(reason, names)
        self._dropped.log()

    def wake(self) -> None:
        """Start writing the queue, without waiting for it."""
        self._wake.set()

    def flush(self) -> None:
        """Wait until everything queued so far is in the file or has failed. If nothing is written for
        ``STALLED`` seconds, log an error and return."""
        if self._queue:
            self._start()
        if self._thread is None:
            return
        with self._progress:
            self._requested += 1
            ticket = self._requested
            self._wake.set()
            self._wait(lambda: self._answered >= ticket)
        if self._answered < ticket:
            _log.error(_SILENT, self.path, STALLED)

    def close(self, last_record: bytes = b"") -> None:
        """Write the queue, finish the files, end the thread. A warning names values that the disk refuses.
        ``last_record`` ends the summary file, if the file exists. Without one the end of the training is
        unknown, so the files keep the permissions of growing ones."""
        self._last_record = last_record
        self._closing = True
        thread, self._thread = self._thread, None
        self._wake.set()
        if thread is None:
            self._run()  # what waits because no thread could be started is written here
            return
        if thread is threading.current_thread():  # a recorder may be garbage collected in the thread
            return
        for _ in self._patiently():
            thread.join(1.0)
            if not thread.is_alive():
                return
        _log.error(_SILENT, self.path, STALLED)

    def _start(self) -> None:
        """Start the thread unless it runs. If the system has none left, the queue waits until it is tried
        again after ``flush_seconds``, as each attempt may take ``_START`` seconds of the training."""
        if self._thread is not None or time.monotonic() < self._start_after:
            return
        self._thread = threading.Thread(target=self._run, name="mindinsight-writer", daemon=True)
        try:
            start_within_limit(self._thread)
        except (RuntimeError, MemoryError) as error:
            self._thread, self._failure = None, error
            self._start_after = time.monotonic() + self._flush_seconds
            _log.error("%s waits: %s; trying again every %g s", self.path, _text(error), self._flush_seconds)
        else:
            call_at_worker_exit(self.close)

    def _room_for(self, cost: int) -> bool:
        if not self._warned_full:
            self._warned_full = True
            _log.warning(
                "the loop records faster than %s is written: record() waits whenever %d bytes are queued",
                self.path, self._limit,
            )  # fmt: skip
        with self._progress:
            self._wake.set()
            self._wait(lambda: self._fits(cost) or self._refusing)
        return self._fits(cost)

    def _fits(self, cost: int) -> bool:
        queued = self._put_bytes - self._done_bytes
        return queued == 0 or queued + cost <= self._limit

    def _wait(self, done: Callable[[], bool]) -> None:
        thread = self._thread
        for _ in self._patiently():
            if done() or thread is None or not thread.is_alive():
                return
            self._progress.wait(1.0)

    def _patiently(self) -> Iterator[None]:
        """Yield as long as the disk makes progress. After a stall, later calls yield nothing until it does
        again."""
        for _ in patiently(lambda: self._done_bytes):
            if self._stalled_at == self._done_bytes:
                return
            yield
        self._stalled_at = self._done_bytes

    def _run(self) -> None:
        closing, began, pause = False, time.monotonic(), _EARLY * self._flush_seconds
        while not closing:
            urgent = self._wake.wait(max(0.0, began + pause - time.monotonic()))
            self._wake.clear()
            closing, ticket, began = self._closing, self._requested, time.monotonic()
            self._drain(urgent)
            pause = self._flush_seconds if self._refusing else _EARLY * self._flush_seconds
            self._dropped.log()
            with self._progress:
                self._answered = ticket
                self._progress.notify_all()
        self._lose(f"closed while the disk refused it ({self._failure})", self._queue)
        self._queue.clear()
        self._finish()

    def _finish(self) -> None:
        if self._last_record and self._summary.is_open:
            self._summary.append([self._last_record])  # if the disk refuses it, the file is done without it
        self._summary.close(bool(self._last_record))
        self._lineage.close(bool(self._last_record))
        self._dropped.log()

    def _drain(self, urgent: bool) -> None:
        """Write queued jobs until the queue is empty or the disk refuses more. Files in stores are then
        updated, if ``urgent`` or due."""
        left = queued = len(self._queue)
        self._refusing = False
        while left and not self._refusing:
            chunk = self._next_chunk()
            left = max(0, left - len(chunk))
            try:
                self._store(chunk)
            except Exception as error:  # the thread must survive, and every loss must be logged
                self._failure = error
                self._done_bytes += _size(chunk)
                self._lose(_text(error), chunk)
            with self._progress:
                self._progress.notify_all()
        due = self._synced + (1 - _EARLY) * self._flush_seconds
        if not self._refusing and (urgent or time.monotonic() >= due):
            self._sync()
        if queued and not self._refusing:
            self._warned_refused = False

    def _sync(self) -> None:
        """Make all written records visible to readers. Rarely called, because stores receive whole files."""
        self._synced = time.monotonic()
        for file in (self._lineage, self._summary):
            if error := file.sync():
                self._refuse(file, error)

    def _next_chunk(self) -> list[Job]:
        chunk = [self._queue.popleft()]
        size = chunk[0][4]
        while self._queue and len(chunk) < _CHUNK_JOBS and size < _CHUNK_BYTES:
            chunk.append(self._queue.popleft())
            size += chunk[-1][4]
        return chunk

    def _store(self, chunk: Sequence[Job]) -> None:
        lineage = [job for job in chunk if events.is_lineage(job)]
        summary = [job for job in chunk if not events.is_lineage(job)] if lineage else chunk
        refused = [*self._append(self._lineage, lineage), *self._append(self._summary, summary)]
        self._queue.extendleft(reversed(refused))
        self._done_bytes += _size(chunk) - _size(refused)

    def _append(self, file: RecordSink, jobs: Sequence[Job]) -> Sequence[Job]:
        """Write ``jobs``, and return the jobs that the disk refused."""
        records = self._encode(jobs, self._item_failed)
        encoded = list(compress(jobs, records))
        done, error = file.append([*filter(None, records)])
        written = encoded[:done]
        self._save_exports(written)
        if self._done:
            self._done(written)
        if error is None:
            return ()
        self._refuse(file, error)
        return encoded[done:]

    def _refuse(self, file: RecordSink, error: OSError) -> None:
        """Record and log that a file refuses records. They are retried."""
        if not self._warned_refused:
            self._warned_refused = True
            _log.error("cannot write %s: %s; retrying every %g s", file.path, error, self._flush_seconds)
        self._failure = error
        self._refusing = True

    def _save_exports(self, jobs: Iterable[Job]) -> None:
        if self._export is None:
            return
        for step, _, _, items, _ in jobs:
            for item in items:
                try:
                    self._export(item, step)
                except OSError as error:
                    self._item_failed(error, item, step)

    def _item_failed(self, error: Exception, item: Item, step: int) -> None:
        self._failure = error
        self._dropped.add(_text(error), [(item.tag, step)])

    def _lose(self, reason: str, jobs: Iterable[Job]) -> None:
        for job in jobs:
            self._dropped.add(reason, events.job_names(job))

    def _forked(self) -> None:
        """Reset queue and files in a child process, because they belong to the parent."""
        self._summary.forget()
        self._lineage.forget()
        self._begin()


def _size(jobs: Iterable[Job]) -> int:
    return sum(job[4] for job in jobs)


def _text(error: Exception) -> str:
    return f"{error.__class__.__name__}: {error}"
