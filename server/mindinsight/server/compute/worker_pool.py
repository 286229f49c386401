"""Pool of worker processes behind the standard ``Executor`` interface, one call at a time in each."""

from __future__ import annotations

import contextlib
import logging
import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

from mindinsight.server.cancellation import LONGEST, watch
from mindinsight.server.compute.background_jobs import Threads

Call: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]"
Answer: TypeAlias = "tuple[Any, BaseException | None, str]"  # result; or error, and its traceback

_POLL: Final = 1.0  # seconds between two checks whether an answer is still wanted
_START: Final = 120.0  # seconds a process may take to start
_EXIT: Final = 1.0  # seconds a process may take to exit
_MEMORY: Final = 8 << 30  # bytes of data that a process may have: chosen, not measured
_PRELOADED: Final = ("mindinsight.server.ingest.piece_reader", "mindinsight.server.formats.events")


class CannotBegin(OSError):  # noqa: N818
    """Error: no worker process can be started."""


class Worker:
    """One child process that performs one call at a time. Raises CannotBegin when none can be started.

    The process calls `begin` before anything else.
    """

    def __init__(self, begin: Callable[[], None] | None = None) -> None:
        context = _context()
        try:
            self._pipe, child_end = context.Pipe()
            self._process = context.Process(target=_serve, args=(child_end, begin), daemon=True)
            self._process.start()
            child_end.close()
        except (OSError, EOFError, RuntimeError) as error:
            raise CannotBegin(str(error)) from error
        self.used = 0.0  # time.monotonic()
        if not self._pipe.poll(_START) or self._answer() is None:
            self.kill()
            self.end()
            raise CannotBegin("a process ended, or hung, before it began")

    def call(self, call: Call, is_wanted: Callable[[], bool]) -> Answer | None:
        """Result, or error, of a call; None when the process ended or ``is_wanted`` became false."""
        try:
            self._pipe.send(call)
        except OSError:
            return None
        while not wait_for([self._pipe, self._process.sentinel], _POLL):
            if not is_wanted():
                return None
        self.used = time.monotonic()
        return self._answer()

    def kill(self) -> None:
        """Send SIGKILL without waiting: a process that waits for a disk does not end at once."""
        self._process.kill()

    def end(self) -> None:
        """Close the pipe, so that the process exits by itself, and wait for that a moment."""
        self._pipe.close()
        self._process.join(_EXIT)
        self._process.kill()

    def _answer(self) -> Answer | None:
        with contextlib.suppress(EOFError, OSError):
            return cast(Answer, self._pipe.recv()) if self._pipe.poll() else None
        return None


def _context() -> Any:
    """The multiprocessing context; not "fork", as this process has threads."""
    context: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(list(_PRELOADED))
    return context


def _serve(pipe: Connection[Any, Any], begin: Callable[[], None] | None) -> None:
    """Main loop of the child: perform calls until the pipe is closed."""
    live_with_parent()
    limit_memory(_MEMORY)
    if begin is not None:
        begin()
    pipe.send(True)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_answered(pipe.recv_bytes()))


def _answered(call: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(call)  # from our own parent
        return pickle.dumps((function(*args, **kwargs), None, ""), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        trace = traceback.format_exc()
        with contextlib.suppress(Exception):
            return pickle.dumps((None, error, trace))
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}"), trace))


def limit_memory(size: int) -> None:
    """Have this process get a MemoryError above so many bytes of data, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def live_with_parent() -> None:
    """Ignore Ctrl-C, which is the parent's, and exit when the parent is gone, even killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


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
