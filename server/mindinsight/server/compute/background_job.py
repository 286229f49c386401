"""Background job: a long computation whose results are read while it runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")

_log = logging.getLogger(__name__)


class BackgroundJob(Generic[Item]):
    """Runs an iterator in a thread of its own and keeps what it gives. ``items`` only grows.

    ``error`` is the text of what ended it early, "" otherwise.
    """

    def __init__(self, results: Callable[[], Iterator[Item]], total: int | None = None) -> None:
        self.items: list[Item] = []
        self.total = total
        self.done = False
        self.error = ""
        self._results = results
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dump-work", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end; it does so after the result it is at."""
        self._stopped.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is done; False when it is not by then."""
        self._thread.join(seconds)
        return self.done

    def _run(self) -> None:
        results = self._results()
        try:
            for item in results:
                self.items.append(item)
                if self._stopped.is_set():
                    break
        except Exception as error:
            _log.exception("Looking into a dump failed")
            self.error = str(error) or type(error).__name__
        finally:
            if isinstance(results, Generator):
                results.close()
            self.done = True
