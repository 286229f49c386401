"""Threads that are started in advance, and background jobs whose results are read while they run."""

from __future__ import annotations

import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeAlias, TypeVar

from mindinsight.server.cancellation import LONGEST, Cancelled, Token, checked, clear_frames_of, under

Calls: TypeAlias = "SimpleQueue[Callable[[], object] | None]"
Item = TypeVar("Item")

JOBS: Final = 16  # threads for jobs: twice as many as there are sessions, for jobs that end late
START_SECONDS: Final = 5.0  # for which a thread may take to begin: microseconds unless memory is short

_log = logging.getLogger(__name__)


def start_within_limit(thread: threading.Thread) -> None:
    """Start a thread. Raises RuntimeError if the thread does not begin within `START_SECONDS`.
    `Thread.start` waits without a limit for the new thread to say that it has begun. A thread that gets
    its stack and then no memory for its first call ends before that."""
    begun: Any = thread._started  # type: ignore[attr-defined]
    begun.wait = partial(begun.wait, START_SECONDS)
    threading.Thread.start(thread)
    if not begun.is_set():
        raise RuntimeError("a new thread does not begin")


class Threads:
    """Pool of threads that run queued calls in order. The threads end with the pool, or by `stop`."""

    def __init__(
        self, count: int, name: str, idle: Callable[[], object] | None = None, linger: float | None = None
    ) -> None:
        """Make `count` threads. Each calls `idle` whenever it had nothing to do for `linger` seconds."""
        self.count = count
        self._calls: Calls = SimpleQueue()
        work = (self._calls, idle, linger)
        self._unstarted = deque(
            threading.Thread(target=_work, args=work, name=name, daemon=True) for _ in range(count)
        )
        self._any = False  # has been started, and not ended
        self._end = weakref.finalize(self, _end, self._calls, count)

    def start(self) -> bool:
        """Start the threads that are not started. Return False if no thread could be started, now or before.
        Threads that cannot be started are logged and dropped."""
        try:
            while self._unstarted:
                start_within_limit(self._unstarted.popleft())
                self._any = True
        except IndexError:  # another thread has started the last one
            pass
        except (RuntimeError, MemoryError) as error:
            _log.warning("%d threads cannot be started: %s", 1 + len(self._unstarted), error)
            self._unstarted.clear()
        return self._any

    def run(self, call: Callable[[], object]) -> bool:
        """Queue a call, which must not raise, after starting the threads if needed, and return True. Return
        False without queuing the call if no thread can be started."""
        begun = self.start()
        if begun:
            self._calls.put(call)
        return begun

    def stop(self) -> None:
        """End the threads after the calls queued so far, without waiting. Later calls are not performed."""
        self._unstarted.clear()
        self._any = False
        self._end()


def _end(calls: Calls, count: int) -> None:
    for _ in range(count):
        calls.put(None)


def _work(calls: Calls, idle: Callable[[], object] | None, linger: float | None) -> None:
    while True:
        try:
            call = calls.get(timeout=linger)
        except Empty:
            call = idle
        if call is None:
            return
        try:
            call()
        except BaseException:  # a thread that ended would be missing for ever
            _log.exception("a call failed")
        call = None  # drops what the call holds before the next one comes


class BackgroundJob(Generic[Item]):
    """Iterator that is consumed in one of `threads`. `items` holds the results so far and only grows.

    `error` is the text of the error that ended the job early, otherwise "". A job that was stopped is never
    done.
    """

    def __init__(
        self, threads: Threads, results: Callable[[], Iterator[Item]], total: int | None = None
    ) -> None:
        self.items: list[Item] = []
        self.total = total
        self.error = ""
        self.done = False
        self._results = results
        self._token = Token()
        self._ended = threading.Event()
        if not threads.run(self._run):
            self.error = "no thread can be started"
            self.done = True
            self._ended.set()

    def stop(self) -> None:
        """Ask the job to end at its next check, without waiting, and cancel the calls that it waits for. A
        job stopped before its end never becomes `done`."""
        self._token.cancel()

    def wait(self, seconds: float = LONGEST) -> bool:
        """Wait until the job has ended, and return False if it is still running after ``seconds``."""
        return self._ended.wait(seconds)

    def _run(self) -> None:
        try:
            with under(self._token):
                self.items.extend(checked(self._results()))
        except Cancelled as error:
            clear_frames_of(error)  # closes the iterator
        except Exception as error:
            _log.exception("Looking into a dump failed")
            clear_frames_of(error)
            self.error = str(error) or type(error).__name__
        finally:
            self.done = not self._token.cancelled
            self._ended.set()
