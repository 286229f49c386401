"""Pool of worker processes behind the standard `Executor` interface.

Calls are pure functions of their arguments, so repeating one is harmless, and a cluster's executor can take
the place of this pool. Why not a library's pool: docs/decisions/worker-pool.md.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from dataclasses import dataclass, field
from typing import Any, Final, ParamSpec, TypeVar

from mindinsight.server.cancellation import LONGEST, watch
from mindinsight.server.compute.threads import Threads
from mindinsight.server.compute.worker_process import Answer, CannotBegin, Worker

P = ParamSpec("P")
T = TypeVar("T")

_TRIES: Final = 3
_LINGER: Final = 15.0  # seconds that an idle process is kept
_END: Final = 0.3  # seconds that the end of the pool waits for threads whose processes are killed

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Task:
    """A submitted call and its future."""

    future: Future[Any]
    call: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
    workers: list[Worker] = field(default_factory=list)  # whoever takes the process from here may end it
    until: float = math.inf  # time.monotonic()

    def is_wanted(self) -> bool:
        return not self.future.cancelled() and time.monotonic() <= self.until

    def settle(self, result: Any, error: BaseException | None, trace: str = "") -> None:
        if error is not None and trace:
            error.__cause__ = RuntimeError(f"in a worker process:\n{trace}")
        with contextlib.suppress(InvalidStateError):  # cancelled
            if error is None:
                self.future.set_result(result)
            else:
                self.future.set_exception(error)


class WorkerPool(Executor):
    """Executor whose processes start when there is work, are replaced when they die, and exit when idle.

    A call whose process died is repeated. One that killed three of them fails with `BrokenExecutor`. A future
    may be cancelled at any time: the process that performs it is killed. Where no process can be started,
    calls are performed in this one, and `missing` is true.
    """

    def __init__(
        self,
        count: int,
        make: Callable[[], Worker] = Worker,
        linger: float = _LINGER,
        isolated: bool = False,
        limit: float = math.inf,
    ) -> None:
        """At most `count` processes. `linger` is for how many seconds an idle one is kept.

        `isolated`: whoever uses the pool leaves all work to its processes, as it may hang or end them.
        `limit` is for how many seconds a process may be at one call. Then it is killed, and the call fails
        with `BrokenExecutor`.
        """
        self.missing = False
        self.killed = 0  # processes, since the start
        self.isolated = isolated
        self.threads = Threads(max(1, count), "worker", self._end_idle, linger)
        self._limit = limit
        self._linger = linger
        self._make = make
        self._idle: list[Worker] = []  # the one used last at the end
        self._tasks: set[_Task] = set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Number of calls that no process performs yet."""
        return len(self._tasks) - self.running

    @property
    def running(self) -> int:
        return sum(bool(task.workers) for task in self._tasks.copy())

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        task = _Task(future, (fn, args, kwargs))
        self._tasks.add(task)
        future.add_done_callback(lambda done: self._settled(task))
        watch(future)
        if self._closed:
            future.cancel()
            raise RuntimeError("cannot schedule new futures after shutdown")
        if not self.threads.run(lambda: self._perform(task)):
            _perform_here(task)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool; `cancel_futures` cancels running calls, too."""
        self._closed = True
        for task in self._tasks.copy() if cancel_futures else ():
            task.future.cancel()
        if wait:
            self.threads.stop(_END if cancel_futures else LONGEST)
        else:
            self.threads.stop()
        self._end_idle()

    def _perform(self, task: _Task) -> None:
        """Perform a task in a process, and once more when the process dies over it."""
        task.until = time.monotonic() + self._limit
        for attempt in range(_TRIES):
            if not task.is_wanted():
                break
            if attempt:
                _log.warning("a worker process ended; what it did is repeated")
            try:
                worker = self._worker()
            except CannotBegin as error:
                self._fail_to_start(task, error, again=bool(attempt))
                return
            answer = self._call(task, worker)
            if answer is not None:
                task.settle(*answer)
                return
        late = time.monotonic() > task.until
        why = (
            f"it was not done within {self._limit:g} seconds" if late else f"{_TRIES} processes ended over it"
        )
        task.settle(None, BrokenExecutor(why))

    def _worker(self) -> Worker:
        """Return an idle process, or a new one. Raises CannotBegin."""
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        worker = self._make()
        self.missing = False
        return worker

    def _call(self, task: _Task, worker: Worker) -> Answer | None:
        """Return the answer of a process to a task, None if the process ended or the task was cancelled."""
        answer: Answer | None = None
        task.workers.append(worker)
        wanted = task.is_wanted()
        if wanted:
            try:
                answer = worker.call(task.call, task.is_wanted)
            except Exception as error:  # what cannot travel to a process, or back
                answer = None, error, ""
        if not _taken(task.workers) or (wanted and answer is None):
            self.killed += 1
            worker.kill()
            worker.end()
        else:
            self._idle.append(worker)
            if self._closed:
                self._end_idle()
        return answer

    def _settled(self, task: _Task) -> None:
        self._tasks.discard(task)
        if task.future.cancelled() and (worker := _taken(task.workers)):
            worker.kill()

    def _end_idle(self) -> None:
        """End the processes that had nothing to do for a while, all when the pool is closed."""
        for worker in self._idle.copy():
            if self._closed or time.monotonic() - worker.used >= self._linger:
                with contextlib.suppress(ValueError):  # it has just been taken
                    self._idle.remove(worker)
                    worker.end()

    def _fail_to_start(self, task: _Task, error: CannotBegin, again: bool) -> None:
        if not self.missing:
            _log.error("no worker process can begin, files are read in the server: %s", error)
        self.missing = True
        if again:  # it may be what ends them
            task.settle(None, BrokenExecutor("a process ended over it, and no other one begins"))
        else:
            _perform_here(task)


def _taken(workers: list[Worker]) -> Worker | None:
    """Take the process of a task, None if somebody else has: only one may decide what becomes of it."""
    try:
        return workers.pop()
    except IndexError:
        return None


def _perform_here(task: _Task) -> None:
    function, args, kwargs = task.call
    try:
        task.settle(function(*args, **kwargs), None)
    except Exception as error:
        task.settle(None, error)
