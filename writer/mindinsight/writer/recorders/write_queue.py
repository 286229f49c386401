"""Queue of writes that a thread carries out, bounded in bytes."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

_log: Final = logging.getLogger(__name__)

CAPACITY: Final = 256 << 20  # bytes of tensors that wait; the training waits when they are more


class WriteQueue:
    """Writes in their order, by one thread. The caller waits only while ``capacity`` bytes are queued.

    A write that raises an ``Exception`` ends the queue: the error is logged once, everything later is
    dropped and counted, and nothing is raised into the training loop.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._jobs: deque[tuple[Callable[[], None], int]] = deque()
        self._queued = 0  # bytes
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()
        self.error: Exception | None = None
        self.dropped = 0  # writes after the error

    def put(self, write: Callable[[], None], size: int = 0) -> None:
        """Queue a write of ``size`` bytes. One that is larger than the capacity waits for an empty queue."""
        if os.getpid() != self._process:  # a forked worker has the queue without its thread
            return
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="dump-writer", daemon=True)
                self._thread.start()
            while self._queued and self._queued + size > self._capacity and self.error is None:
                self._changed.wait()
            if self.error is not None or self._closed:
                self.dropped += 1
                return
            self._jobs.append((write, size))
            self._queued += size
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until everything queued so far is written."""
        if os.getpid() != self._process:
            return
        with self._changed:
            while (self._jobs or self._queued) and self.error is None:
                self._changed.wait()

    def close(self) -> None:
        """Write what is queued and end the thread."""
        self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None and os.getpid() == self._process:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._jobs and not self._closed:
                    self._changed.wait()
                if not self._jobs:
                    return
                write, size = self._jobs.popleft()
            try:
                write()
            except Exception as error:
                self._fail(error)
                return
            with self._changed:
                self._queued -= size
                self._changed.notify_all()

    def _fail(self, error: Exception) -> None:
        _log.error("the dump ends here, the training goes on: %s: %s", type(error).__name__, error)
        with self._changed:
            self.error = error
            self.dropped += 1 + len(self._jobs)
            self._jobs.clear()
            self._queued = 0
            self._changed.notify_all()
