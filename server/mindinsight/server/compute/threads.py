"""Fixed number of daemon threads, started once and together."""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias

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
