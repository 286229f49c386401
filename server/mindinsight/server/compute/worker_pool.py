"""Executor over worker processes, each with one call at a time, and the base that it shares with others."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, InvalidStateError
from concurrent.futures import TimeoutError as TooLate
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

from mindinsight.server.cancellation import LONGEST, watch
from mindinsight.server.compute.background_jobs import Threads, start_within_limit
from mindinsight.server.import_path import safe_context

P = ParamSpec("P")
T = TypeVar("T")
Call: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]"
Answer: TypeAlias = "tuple[Any, BaseException | None, str]"  # result, or error and its traceback

TRIES: Final = 3  # a call that ends two processes may be unlucky, a third one would not survive it either
_START: Final = 120.0  # seconds a process may take to start: imports from a cold disk at high load
_STALL: Final = 30  # seconds between two pieces of an answer: a process sends all of one without a pause
_EXIT: Final = 1.0  # seconds that a thread waits for the end of a killed process, which a disk may delay
_LINGER: Final = 15.0  # seconds that an idle process is kept: longer than the pauses of somebody who browses
_MEMORY: Final = 8 << 30  # bytes of data that a process may have: chosen, not measured
_PRELOADED: Final = ("mindinsight.server.ingest.piece_reader", "mindinsight.server.formats.events")

_log = logging.getLogger(__name__)


class Task(Future[Any]):
    """Future of a submitted call."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call

    def settle(self, result: Any, error: BaseException | None, trace: str = "") -> None:
        """Set the error, with its worker's `trace` as cause, or without an error the result. Do nothing if
        the task was cancelled."""
        if error is not None and trace:
            error.__cause__ = RuntimeError(f"in a worker process:\n{trace}")
        with contextlib.suppress(InvalidStateError):
            self.set_exception(error) if error is not None else self.set_result(result)

    def perform(self) -> None:
        """Perform the call in this process, as a worker does, and store its result or error in the task."""
        try:
            self.settle(*pickle.loads(_answered(pickle.dumps(self.call)))[:2])
        except Exception as error:  # arguments or an error that cannot be pickled
            self.settle(None, error)


class TaskExecutor(Executor):
    """Base class of the executors, whose futures may be cancelled while they run."""

    isolated = True  # callers leave all work to the executor, as it may hang or end a process
    missing = False  # no process can be started, and calls are performed in this one
    killed = 0  # processes, since the start

    def __init__(self) -> None:
        self._tasks: set[Task] = set()
        self._performers: dict[Task, Any] = {}  # whoever takes one out decides what becomes of it
        self._closed = False

    @property
    def running(self) -> int:
        """Return the number of calls that have begun and not ended."""
        return len(self._performers)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit a call and return its future, which is cancelled when the task of the calling thread is.
        Raises RuntimeError after `shutdown`."""
        task = Task((fn, args, kwargs))
        self._tasks.add(task)
        task.add_done_callback(self._settled)
        watch(task)
        if self._closed:
            task.cancel()
            raise RuntimeError("cannot schedule new futures after shutdown")
        self._start(task)
        return task

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the executor, after the calls submitted so far if `wait` is set. `cancel_futures` cancels these
        calls instead, running ones too, without waiting."""
        self._closed = True
        for task in self._tasks.copy():
            if cancel_futures:
                task.cancel()
            elif wait:
                with contextlib.suppress(CancelledError, TooLate):
                    task.exception(LONGEST)
        self._close()

    def _settled(self, task: Future[Any]) -> None:
        self._tasks.discard(cast(Task, task))
        if task.cancelled() and (performer := self._performers.pop(cast(Task, task), None)) is not None:
            self._end(performer)

    def _start(self, task: Task) -> None:
        raise NotImplementedError

    def _end(self, performer: Any) -> None:
        """Stop the work of a cancelled task, without waiting until it has stopped."""
        raise NotImplementedError

    def _close(self) -> None:
        """Release the resources of the executor, without waiting until they are released."""
        raise NotImplementedError


class WorkerPool(TaskExecutor):
    """Executor whose processes start when there is work, are replaced when they die, and end when idle.

    A call that ended a process is repeated, and fails with `BrokenExecutor` after the third. Cancelling a
    future kills the process that performs its call. Where no process can be started, calls are performed in
    this one.
    """

    def __init__(
        self,
        count: int,
        begin: Callable[[], None] | None = None,
        linger: float = _LINGER,
        isolated: bool = False,
        limit: float = LONGEST,
    ) -> None:
        """Make a pool of at most `count` processes, each of which calls `begin` before anything else. An
        idle process is kept for `linger` seconds. A process that is at one call for more than `limit`
        seconds is killed, and the call fails with `BrokenExecutor`."""
        super().__init__()
        self.isolated = isolated
        self.threads = Threads(max(1, count), "worker", self._look_after_idle, linger)
        self._begin, self._limit, self._linger = begin, limit, linger
        self._idle: list[Worker] = []  # by their last use, the latest at the end
        self._begun: dict[int, Worker] = {}  # those that are beginning, by their threads

    def _start(self, task: Task) -> None:
        if not self.threads.run(lambda: self._perform(task)):
            task.perform()

    def _end(self, performer: Worker) -> None:
        performer.kill()

    def _close(self) -> None:
        self.threads.stop()
        for worker in (*self._idle.copy(), *self._begun.copy().values()):
            worker.kill()

    def _perform(self, task: Task) -> None:
        """Run a call in a worker process, and again in another one if the process ended meanwhile."""
        end = time.monotonic() + self._limit
        for attempt in range(TRIES):
            if task.cancelled() or time.monotonic() > end:
                break
            if attempt:
                _log.warning("a worker process ended; its call is repeated")
            try:
                worker = self._worker()
            except CannotBegin as error:
                if not (self.missing or self._closed):
                    _log.error("no worker process can begin, files are read in the server: %s", error)
                self.missing = True
                if not attempt:  # it has ended no process yet, which would be this one
                    task.perform()
                break
            if (answer := self._call(task, worker, end)) is not None:
                task.settle(*answer)
                return
        late = f"it was not done within {self._limit:g} seconds"
        task.settle(None, BrokenExecutor(late if time.monotonic() > end else "its processes ended over it"))

    def _worker(self) -> Worker:
        """Return an idle process, or a new one. Raises CannotBegin."""
        with contextlib.suppress(IndexError):
            return self._idle.pop()
        worker = self._begun[threading.get_ident()] = Worker()
        try:
            worker.begin(self._begin or int)
        finally:
            del self._begun[threading.get_ident()]
        self.missing = False
        return worker

    def _call(self, task: Task, worker: Worker, end: float) -> Answer | None:
        """Return a worker's answer to a call, or None if the process ended, or the call was late or
        cancelled."""
        self._performers[task] = worker
        try:
            answer = None if task.cancelled() else worker.call(task.call, end)
        except Exception as error:  # arguments or a result that cannot be pickled
            answer = None, error, ""
        if self._performers.pop(task, None) is None or answer is None:
            self.killed += 1
            worker.end()
        else:
            worker.used = time.monotonic()
            self._idle.append(worker)
            if self._closed:
                worker.kill()
        return answer

    def _look_after_idle(self) -> None:
        """End the processes that have been idle for `linger` seconds. If none could be started, try one
        again. Without that attempt, `missing` would stay set as long as there is no work."""
        with contextlib.suppress(CannotBegin):
            self._idle += [self._worker()] if self.missing else []
        for worker in self._idle.copy():
            if time.monotonic() - worker.used >= self._linger:
                with contextlib.suppress(ValueError):  # another thread has just taken it
                    self._idle.remove(worker)
                    worker.end()


class CannotBegin(OSError):  # noqa: N818
    """Error: no worker process can be started."""


class Worker:
    """Child process that performs one call at a time."""

    used = 0.0  # monotonic time of the end of its last call

    def __init__(self) -> None:
        """Start the process, which does not answer yet. Raises CannotBegin."""
        try:
            context = safe_context(_PRELOADED)
            self._pipe, child_end = context.Pipe()
            with socket.socket(fileno=os.dup(self._pipe.fileno())) as end:  # a pipe is a socket
                for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                    end.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", _STALL, 0))
            self._process = context.Process(target=_serve, args=(child_end,), daemon=True)
            self._process.start()
            child_end.close()
        except (OSError, EOFError, RuntimeError) as error:
            raise CannotBegin(str(error)) from error

    def begin(self, begin: Callable[[], object] = int) -> None:
        """Call `begin` in the process, as its first call. Raises CannotBegin if that fails, or the process is
        killed."""
        answer = self.call((begin, (), {}), time.monotonic() + _START)
        if answer is None or answer[1] is not None:
            self.end()
            raise CannotBegin("a process ended, or hung, before it began")

    def call(self, call: Call, end: float) -> Answer | None:
        """Run a call in the process and return its answer: (result, error, traceback). Return None if there
        is no answer by ``end`` (monotonic time), or the process ended or stopped in the middle of its answer.
        """
        with contextlib.suppress(EOFError, OSError):
            self._pipe.send(call)
            wait_for([self._pipe, self._process.sentinel], end - time.monotonic())
            if self._pipe.poll():
                return cast(Answer, self._pipe.recv())
        return None

    def kill(self) -> None:
        """Kill the process without waiting: one that waits for a disk does not end at once."""
        if self._process.is_alive():  # the number of one that has ended may be that of another
            self._process.kill()

    def end(self) -> None:
        """Kill the process, wait briefly for its end, and close the pipe to it."""
        self.kill()
        self._process.join(_EXIT)
        self._pipe.close()


def _serve(pipe: Connection[Any, Any]) -> None:
    """Perform calls in the child process until the pipe is closed."""
    _live_with_parent()
    _limit_memory(_MEMORY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_answered(pipe.recv_bytes()))


def _answered(call: bytes) -> bytes:
    """Run a pickled call, and return its result or error with traceback, pickled."""
    try:
        function, args, kwargs = pickle.loads(call)  # from our own parent
        return pickle.dumps((function(*args, **kwargs), None, ""), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        trace = traceback.format_exc()
        with contextlib.suppress(Exception):
            return pickle.dumps((None, error, trace))
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}"), trace))


def _limit_memory(size: int) -> None:
    """Limit this process to `size` bytes of data, where the system can. Above it a MemoryError is raised."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        # RLIM_INFINITY is -1, or larger than any size.
        resource.setrlimit(resource.RLIMIT_DATA, (hard if 0 <= hard < size else size, hard))


def _live_with_parent() -> None:
    """Ignore Ctrl-C, which the parent handles, and exit when the parent process ends, even if killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = parent_process()
    start_within_limit(threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True))
