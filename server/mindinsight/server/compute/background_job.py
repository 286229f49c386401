"""Background job: a long computation whose results are read while it runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Final, Generic, TypeVar

from mindinsight.server.cancellation import LONGEST, Cancelled, Token, checked, under
from mindinsight.server.compute.threads import Threads

Item = TypeVar("Item")

JOBS: Final = 16  # threads: twice as many as there are sessions, for those that end late

_log = logging.getLogger(__name__)


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
