"""Pool of worker processes behind the standard ``Executor`` interface.

Calls are pure functions of their arguments, so repeating one is harmless, and a cluster's executor can take
the place of this pool. The standard process pool does not serve: there one process that ends takes the work
of all others with it, and one that hangs can neither be told from a busy one nor be killed.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

from mindinsight.server.compute import bulkhead
from mindinsight.server.compute.worker_process import Answer, Call, CannotBegin, Worker

P = ParamSpec("P")
T = TypeVar("T")

_TRIES: Final = 3
_LINGER: Final = 15.0  # seconds that an idle process is kept

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Task:
    """A submitted call and its future."""

    future: Future[Any]
    call: Call
    tries: int = _TRIES
    worker: Worker | None = None
    until: float = math.inf  # time.monotonic()

    def is_wanted(self) -> bool:
        return not self.future.cancelled() and not self.late

    @property
    def late(self) -> bool:
        return time.monotonic() > self.until

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

    A call whose process died is repeated; one that killed three of them fails with ``BrokenExecutor``. A
    future may be cancelled at any time: the process that performs it is killed. Where no process can be
    started, calls are performed in this one, one at a time, and ``missing`` is true.
    """

    def __init__(
        self,
        count: int,
        make: Callable[[], Worker] = Worker,
        linger: float = _LINGER,
        isolated: bool = False,
        limit: float = math.inf,
    ) -> None:
        """At most ``count`` processes; ``linger`` is for how many seconds an idle one is kept.

        ``isolated``: whoever uses the pool leaves all work to its processes, as it may hang or end them.
        ``limit`` is for how many seconds a process may be at one call: then it is killed, and the call fails
        with ``BrokenExecutor``.
        """
        self.missing = False
        self._limit = limit
        self.isolated = isolated
        self._count = max(1, count)
        self._make = make
        self._linger = linger
        self._condition = threading.Condition()
        self._inline = threading.Lock()
        self._starting = threading.Lock()
        self._tasks: deque[_Task] = deque()
        self._running: set[_Task] = set()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        task = _Task(future, (fn, args, kwargs))
        future.add_done_callback(lambda done: self._cancelled(task) if done.cancelled() else None)
        bulkhead.watch(future)
        with self._condition:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._tasks.append(task)
            self._condition.notify()
            is_taken = (
                self._idle >= len(self._tasks) or len(self._threads) >= self._count or self._add_thread()
            )
        if not is_taken:
            self._perform_inline(self._tasks.popleft())
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the pool; ``cancel_futures`` cancels running calls, too."""
        with self._condition:
            self._closed = True
            threads = list(self._threads)
            cancelled = [*self._tasks, *self._running] if cancel_futures else []
            self._condition.notify_all()
        for task in cancelled:
            task.future.cancel()
        for thread in threads if wait else ():
            thread.join()

    def _add_thread(self) -> bool:
        """Start one more thread; false when there is none and none can start. The lock is held."""
        thread = threading.Thread(target=self._work, name="worker", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return bool(self._threads)
        self._threads.add(thread)
        return True

    def _work(self) -> None:
        worker: Worker | None = None
        try:
            while (task := self._next()) is not None:
                worker = self._perform(task, worker)
                with self._condition:
                    self._running.discard(task)
        finally:
            with self._condition:
                self._threads.discard(threading.current_thread())
        if worker is not None:
            worker.end()

    def _next(self) -> _Task | None:
        """The next task, or None when there was none for a while, or will be none: the thread ends."""
        until = time.monotonic() + self._linger
        with self._condition:
            self._idle += 1
            while not self._tasks and not self._closed and (left := until - time.monotonic()) > 0:
                self._condition.wait(left)
            self._idle -= 1
            if not self._tasks:
                self._threads.discard(threading.current_thread())
                return None
            task = self._tasks.popleft()
            self._running.add(task)
            return task

    def _perform(self, task: _Task, worker: Worker | None) -> Worker | None:
        """Perform a task in a process; returns the process for the next task."""
        task.until = time.monotonic() + self._limit
        while task.is_wanted():
            try:
                worker = worker or self._start()
            except CannotBegin as error:
                self._fail_to_start(task, error)
                return None
            answer = self._call(task, worker)
            if answer is not None:
                task.settle(*answer)
                return worker
            worker.kill()
            worker = None
            if task.is_wanted() and not self._retry(task):
                break
        if task.late:
            task.settle(None, BrokenExecutor(f"it was not done within {self._limit:g} seconds"))
        return worker

    def _start(self) -> Worker:
        with self._starting:  # the standard library counts children without a lock
            worker = self._make()
        self.missing = False
        return worker

    def _call(self, task: _Task, worker: Worker) -> Answer | None:
        with self._condition:
            task.worker = worker
        try:
            return worker.call(task.call, task.is_wanted) if task.is_wanted() else None
        except Exception as error:  # what cannot travel to a process, or back
            return None, error, ""
        finally:
            with self._condition:
                task.worker = None

    def _cancelled(self, task: _Task) -> None:
        with self._condition:
            if task.worker is not None:
                task.worker.kill()

    def _retry(self, task: _Task) -> bool:
        """Whether to repeat a task whose process died."""
        task.tries -= 1
        if not task.tries:
            task.settle(None, BrokenExecutor(f"{_TRIES} processes ended over it"))
            return False
        _log.warning("a worker process ended; what it did is repeated")
        return True

    def _fail_to_start(self, task: _Task, error: CannotBegin) -> None:
        if not self.missing:
            _log.error("no worker process can begin, files are read in the server: %s", error)
        self.missing = True
        if task.tries == _TRIES:
            self._perform_inline(task)
        else:  # it may be what ends them
            task.settle(None, BrokenExecutor("a process ended over it, and no other one begins"))

    def _perform_inline(self, task: _Task) -> None:
        function, args, kwargs = task.call
        with self._inline:
            try:
                task.settle(function(*args, **kwargs), None)
            except Exception as error:
                task.settle(None, error)
