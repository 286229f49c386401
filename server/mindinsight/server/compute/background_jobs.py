"""Background jobs, whose results are read while they run, and the daemon threads that perform work."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeAlias, TypeVar

from mindinsight.server.cancellation import LONGEST, Cancelled, Token, checked, under

Calls: TypeAlias = "SimpleQueue[Callable[[], object] | None]"

START_SECONDS: Final = 5.0  # for which a thread may take to begin

_log = logging.getLogger(__name__)


class _Begun(threading.Event):
    def wait(self, timeout: float | None = START_SECONDS) -> bool:
        return super().wait(timeout)


def start_within_limit(thread: threading.Thread) -> None:
    """Start a thread. Raises RuntimeError if it does not begin.

    `Thread.start` waits without a limit for the new thread to say that it has begun. One that gets its stack
    and then no memory for its first call ends before that.
    """
    about: Any = thread
    about._started = _Begun()
    threading.Thread.start(thread)
    if not about._started.is_set():
        raise RuntimeError("a new thread does not begin")


class Threads:
    """Threads that perform calls in the order they were given. They end with this object, or by `stop`."""

    def __init__(
        self, count: int, name: str, idle: Callable[[], object] | None = None, linger: float | None = None
    ) -> None:
        """`idle` is called by a thread that had nothing to do for `linger` seconds."""
        self.count, self._name = count, name
        self._idle, self._linger = idle, linger
        self._prepare()

    def _prepare(self) -> None:
        self._calls: Calls = SimpleQueue()
        about = (self._calls, self._idle, self._linger)
        self._unstarted = deque(
            threading.Thread(target=_work, args=about, name=self._name, daemon=True)
            for _ in range(self.count)
        )
        self._started: deque[threading.Thread] = deque()
        self._end = weakref.finalize(self, _end, self._calls, self.count)

    def start(self) -> bool:
        """Start the threads that are not started. Return False if the system gave none at all."""
        try:
            while self._unstarted:
                thread = self._unstarted.popleft()
                start_within_limit(thread)
                self._started.append(thread)
        except IndexError:  # another thread has started the last one
            pass
        except (RuntimeError, MemoryError) as error:
            _log.warning("only %d threads can be started: %s", len(self._started), error)
            self._unstarted.clear()
        return bool(self._started)

    def run(self, call: Callable[[], object]) -> bool:
        """Have a call performed, which must raise nothing. Return False if there is no thread for it."""
        begun = self.start()
        if begun:
            self._calls.put(call)
        return begun

    def stop(self, seconds: float = 0) -> None:
        """End the threads after the calls given by now, and wait for them up to `seconds`.

        Later calls get new threads.
        """
        started = self._started
        self._end()
        self._prepare()
        until = time.monotonic() + seconds
        for thread in started if seconds else ():
            thread.join(max(0.0, until - time.monotonic()))


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
        call = None  # what it holds is not kept until the next one


Item = TypeVar("Item")

JOBS: Final = 16  # threads: twice as many as there are sessions, for those that end late


class BackgroundJob(Generic[Item]):
    """Iteration in a thread of `threads`, which keeps the items. `items` only grows.

    `error` is the text of what ended it early, "" otherwise. A job that was stopped is never done: whoever
    reads it meanwhile asks again, and gets another.
    """

    def __init__(
        self, threads: Threads, results: Callable[[], Iterator[Item]], total: int | None = None
    ) -> None:
        self.items: list[Item] = []
        self.total = total
        self.error = ""
        self._results = results
        self._token = Token()
        self._ended = threading.Event()
        self._stopped = False  # before its end
        if not threads.run(self._run):
            self.error = "no thread can be started"
            self._ended.set()

    @property
    def done(self) -> bool:
        return self._ended.is_set() and not self._stopped

    def stop(self) -> None:
        """Ask the job to end. It does so at its next check, and what it waits for is cancelled."""
        self._token.cancel()

    def wait(self, seconds: float = LONGEST) -> bool:
        """Wait until the job has ended. Return False if it has not by then."""
        return self._ended.wait(seconds)

    def _run(self) -> None:
        try:
            with under(self._token):
                self._collect()
        except Cancelled:
            self._stopped = True
        except Exception as error:
            _log.exception("Looking into a dump failed")
            self.error = str(error) or type(error).__name__
        finally:
            self._ended.set()

    def _collect(self) -> None:
        results = self._results()
        try:
            self.items.extend(checked(results))
        finally:
            if isinstance(results, Generator):
                results.close()
