"""The processes that read files, behind the standard ``Executor`` interface.

What is given to them is a pure function of its arguments, so repeating it is harmless, and a cluster's
executor can take the place of this one.

Not the standard process pool: there one process that ends takes the work of all others with it, and one
that hangs can be neither told from a busy one nor be ended.
"""

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
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

from mindinsight.server.compute import bulkhead

P = ParamSpec("P")
T = TypeVar("T")
Call: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]"
Answer: TypeAlias = "tuple[Any, BaseException | None, str]"  # result; or error, and where it arose

_TRIES: Final = 3
_LINGER: Final = 15.0  # seconds
_GLANCE: Final = 1.0  # seconds between two thoughts of whether an answer is still wanted
_BEGINNING: Final = 120.0  # seconds a process may take to begin
_ENDING: Final = 5.0  # seconds one may take to end

_PRELOADED: Final = ("mindinsight.server.ingest.piece_reader", "mindinsight.server.formats.events")

_log = logging.getLogger(__name__)


class CannotBegin(OSError):  # noqa: N818
    """There is no process to be had."""


class Worker:
    """One process that does one call at a time. Raises CannotBegin when there is none to be had."""

    def __init__(self) -> None:
        context = _context()
        try:
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        except (OSError, EOFError, RuntimeError) as error:
            raise CannotBegin(str(error)) from error
        if not self._pipe.poll(_BEGINNING) or self._answer() is None:
            self.kill()
            raise CannotBegin("a process ended, or hung, before it began")

    def do(self, call: Call, wanted: Callable[[], bool]) -> Answer | None:
        """Result, or error, of the call; None when the process ended or nobody waits any more."""
        try:
            self._pipe.send(call)
        except OSError:
            return None
        while not wait_for([self._pipe, self._process.sentinel], _GLANCE):
            if not wanted():
                return None
        return self._answer()

    def kill(self) -> None:
        """End it at once, and wait for nothing: a process that waits for a disk cannot be ended."""
        self._process.kill()

    def end(self) -> None:
        """Let it end by itself."""
        self._pipe.close()
        self._process.join(_ENDING)
        self._process.kill()

    def _answer(self) -> Answer | None:
        with contextlib.suppress(EOFError, OSError):
            return cast(Answer, self._pipe.recv()) if self._pipe.poll() else None
        return None


@dataclass(slots=True, eq=False)
class _Task:
    outer: Future[Any]
    call: Call
    tries: int = _TRIES
    worker: Worker | None = None
    until: float = math.inf  # time.monotonic()

    def wanted(self) -> bool:
        return not self.outer.cancelled() and not self.late

    @property
    def late(self) -> bool:
        return time.monotonic() > self.until

    def settle(self, result: Any, error: BaseException | None, trace: str = "") -> None:
        if error is not None and trace:
            error.__cause__ = RuntimeError(f"in a worker process:\n{trace}")
        with contextlib.suppress(InvalidStateError):  # cancelled
            if error is None:
                self.outer.set_result(result)
            else:
                self.outer.set_exception(error)


class WorkerPool(Executor):
    """Processes that begin when there is work, are replaced when they end, and put away when idle.

    A call whose process ended is repeated; one that ended three of them fails with ``BrokenExecutor``. A
    future may be cancelled at any time: the process that is at it is ended. Where no process can begin, calls
    are done in this one, one at a time, and ``missing`` says so.
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
        self._turn = threading.Condition()
        self._here = threading.Lock()
        self._beginning = threading.Lock()
        self._tasks: deque[_Task] = deque()
        self._doing: set[_Task] = set()
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        outer: Future[T] = Future()
        task = _Task(outer, (fn, args, kwargs))
        outer.add_done_callback(lambda done: self._given_up(task) if done.cancelled() else None)
        bulkhead.watch(outer)
        with self._turn:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._tasks.append(task)
            self._turn.notify()
            helped = self._idle >= len(self._tasks) or len(self._threads) >= self._count or self._add_thread()
        if not helped:
            self._perform_here(self._tasks.popleft())
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """``cancel_futures`` cancels what is under way, too."""
        with self._turn:
            self._closed = True
            threads = list(self._threads)
            given_up = [*self._tasks, *self._doing] if cancel_futures else []
            self._turn.notify_all()
        for task in given_up:
            task.outer.cancel()
        for thread in threads if wait else ():
            thread.join()

    def _add_thread(self) -> bool:
        """Another one, or false when there is none at all and none can begin; the lock is held."""
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
                with self._turn:
                    self._doing.discard(task)
        finally:
            with self._turn:
                self._threads.discard(threading.current_thread())
        if worker is not None:
            worker.end()

    def _next(self) -> _Task | None:
        """The next task, or None when there was none for a while, or will be none: the thread ends."""
        until = time.monotonic() + self._linger
        with self._turn:
            self._idle += 1
            while not self._tasks and not self._closed and (left := until - time.monotonic()) > 0:
                self._turn.wait(left)
            self._idle -= 1
            if not self._tasks:
                self._threads.discard(threading.current_thread())
                return None
            task = self._tasks.popleft()
            self._doing.add(task)
            return task

    def _perform(self, task: _Task, worker: Worker | None) -> Worker | None:
        """Have a task done by a process; the one to go on with."""
        task.until = time.monotonic() + self._limit
        while task.wanted():
            try:
                worker = worker or self._begin()
            except CannotBegin as error:
                self._cannot(task, error)
                return None
            answer = self._ask(task, worker)
            if answer is not None:
                task.settle(*answer)
                return worker
            worker.kill()
            worker = None
            if task.wanted() and not self._again(task):
                break
        if task.late:
            task.settle(None, BrokenExecutor(f"it was not done within {self._limit:g} seconds"))
        return worker

    def _begin(self) -> Worker:
        with self._beginning:  # the standard library counts children without a lock
            worker = self._make()
        self.missing = False
        return worker

    def _ask(self, task: _Task, worker: Worker) -> Answer | None:
        with self._turn:
            task.worker = worker
        try:
            return worker.do(task.call, task.wanted) if task.wanted() else None
        except Exception as error:  # what cannot travel to a process, or back
            return None, error, ""
        finally:
            with self._turn:
                task.worker = None

    def _given_up(self, task: _Task) -> None:
        with self._turn:
            if task.worker is not None:
                task.worker.kill()

    def _again(self, task: _Task) -> bool:
        """Whether to repeat a task of which a process died."""
        task.tries -= 1
        if not task.tries:
            task.settle(None, BrokenExecutor(f"{_TRIES} processes ended over it"))
            return False
        _log.warning("a worker process ended; what it did is repeated")
        return True

    def _cannot(self, task: _Task, error: CannotBegin) -> None:
        if not self.missing:
            _log.error("no worker process can begin, files are read in the server: %s", error)
        self.missing = True
        if task.tries == _TRIES:
            self._perform_here(task)
        else:  # it may be what ends them
            task.settle(None, BrokenExecutor("a process ended over it, and no other one begins"))

    def _perform_here(self, task: _Task) -> None:
        function, args, kwargs = task.call
        with self._here:
            try:
                task.settle(function(*args, **kwargs), None)
            except Exception as error:
                task.settle(None, error)


def _context() -> Any:
    """Not "fork": this process has threads. A fork server has imported what reading needs, once for all."""
    context: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(list(_PRELOADED))
    return context


def _serve(pipe: Connection[Any, Any]) -> None:
    """In a worker: do what comes, until there is nobody any more."""
    live_with_parent()
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


def live_with_parent() -> None:
    """Leave Ctrl-C to the server, and end when the server is gone, even killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
