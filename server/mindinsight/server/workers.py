"""The processes that read files, behind the standard ``Executor`` interface.

What is given to them is a pure function of its arguments, so repeating it is harmless, and a cluster's
executor can take the place of this one.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_TRIES: Final = 3
_LINGER: Final = 15.0  # seconds

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Task:
    outer: Future[Any]
    submit: Callable[[Executor], Future[Any]]
    tries: int = _TRIES


class Workers(Executor):
    """A process pool that is made when there is work, made anew when it breaks, and put away when idle.

    Tasks that were under way when a worker died are repeated; one that was there three times fails with
    ``BrokenExecutor``.
    """

    def __init__(
        self, count: int, make: Callable[[int], Executor] | None = None, linger: float = _LINGER
    ) -> None:
        """``make`` makes a pool of ``count``; ``linger`` is for how many seconds an idle one is kept."""
        self._count = max(1, count)
        self._make = make or process_pool
        self._linger = linger
        self._lock = threading.Lock()
        self._pool: Executor | None = None
        self._running = 0
        self._closed = False
        self._timer: threading.Timer | None = None

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._running += 1
        outer: Future[T] = Future()
        outer.set_running_or_notify_cancel()
        self._try(_Task(outer, lambda pool: pool.submit(fn, *args, **kwargs)))
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
            if self._timer:
                self._timer.cancel()
        if pool:
            pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _try(self, task: _Task) -> None:
        with self._lock:
            if self._pool is None and not self._closed:
                self._pool = self._make(self._count)
            pool = self._pool
        if pool is None:
            self._settle(task, error=BrokenExecutor("shut down"))
            return
        try:
            inner = task.submit(pool)
        except (BrokenExecutor, RuntimeError) as error:  # broken, or put away just now
            self._again(pool, task, error)
            return
        inner.add_done_callback(lambda done: self._done(pool, task, done))

    def _done(self, pool: Executor, task: _Task, done: Future[Any]) -> None:
        if done.cancelled():
            self._settle(task, error=BrokenExecutor("shut down"))
        elif isinstance(error := done.exception(), BrokenExecutor):
            self._again(pool, task, error)
        elif error is not None:
            self._settle(task, error=error)
        else:
            self._settle(task, done.result())

    def _again(self, pool: Executor, task: _Task, error: Exception) -> None:
        with self._lock:
            if self._pool is pool:
                self._pool = None
                _log.warning("a worker process ended; what it did is repeated")
        task.tries -= 1
        if task.tries:
            self._try(task)
        else:
            self._settle(task, error=error)

    def _settle(self, task: _Task, result: Any = None, error: BaseException | None = None) -> None:
        with self._lock:
            self._running -= 1
            if not self._running and not self._closed:
                self._put_away_later()
        if error is not None:
            task.outer.set_exception(error)
        else:
            task.outer.set_result(result)

    def _put_away_later(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = threading.Timer(self._linger, self._put_away)
        self._timer.daemon = True
        self._timer.start()

    def _put_away(self) -> None:
        with self._lock:
            if self._running:
                return
            pool, self._pool = self._pool, None
        if pool:
            pool.shutdown(wait=False)


def process_pool(count: int) -> Executor:
    """Not "fork": this process has threads. A fork server has imported what reading needs, once for all."""
    context: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(["mindinsight.server.store.reading"])
    return ProcessPoolExecutor(count, mp_context=context, initializer=live_with_parent)


def live_with_parent() -> None:
    """In a worker: leave Ctrl-C to the server, and end when the server is gone, even killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
