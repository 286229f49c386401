"""Things that take long to make, made once by the first who asks; others wait for that one thing only."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class OnceCache(Generic[T]):
    """The things asked for last, at most ``kept`` of them, by key; for any thread."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._things: OrderedDict[Hashable, Future[T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The thing of a key. What ``make`` raises is raised to all who wait, and is not kept."""
        mine: Future[T] = Future()
        with self._lock:
            future = self._things.setdefault(key, mine)
            self._things.move_to_end(key)
            while len(self._things) > self._kept:
                self._things.popitem(last=False)
        if future is mine:
            self._make(key, mine, make)
        return future.result()

    def made(self) -> list[T]:
        """What there is by now."""
        with self._lock:
            futures = list(self._things.values())
        return [future.result() for future in futures if future.done() and not future.exception()]

    def _make(self, key: Hashable, mine: Future[T], make: Callable[[], T]) -> None:
        try:
            mine.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._things.get(key) is mine:
                    del self._things[key]
            mine.set_exception(error)
