"""LRU caches, thread-safe: values by key, and sessions of long work that users look at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Final, Generic, TypeVar

from mindinsight.server.compute.plugin_state import Stoppable

SESSIONS: Final = 8  # of each server; a listing of 100 000 tensors takes about 100 MB

Value = TypeVar("Value")
Session = TypeVar("Session", bound=Stoppable)


class LruCache(Generic[Value]):
    """An LRU cache whose values are made once: callers that ask meanwhile wait for that value only.

    ``evict`` is called with each value that is dropped, once it is made.
    """

    def __init__(self, capacity: int, evict: Callable[[Value], object] | None = None) -> None:
        self._capacity = capacity
        self._evict = evict
        self._lock = threading.Lock()
        self._futures: OrderedDict[Hashable, Future[Value]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key. What ``make`` raises is raised in all waiting callers, and is not cached."""
        own: Future[Value] = Future()
        with self._lock:
            future = self._futures.setdefault(key, own)
            self._futures.move_to_end(key)
            excess = len(self._futures) - self._capacity
            dropped = [self._futures.popitem(last=False)[1] for _ in range(excess)]
        self._drop(dropped)
        if future is own:
            self._make(key, own, make)
        return future.result()

    def find(self, key: Hashable) -> Value | None:
        """The value of a key, marked as used; None where there is none yet, or no longer."""
        with self._lock:
            future = self._futures.get(key)
            if future is None or not _is_made(future):
                return None
            self._futures.move_to_end(key)
        return future.result()

    def values(self) -> list[Value]:
        """The values made by now, the one used last at the end."""
        with self._lock:
            futures = list(self._futures.values())
        return [future.result() for future in futures if _is_made(future)]

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            dropped = list(self._futures.values())
            self._futures.clear()
        self._drop(dropped)

    def _drop(self, futures: list[Future[Value]]) -> None:
        evict = self._evict
        if evict is not None:
            for future in futures:
                future.add_done_callback(lambda done: evict(done.result()) if _is_made(done) else None)

    def _make(self, key: Hashable, own: Future[Value], make: Callable[[], Value]) -> None:
        try:
            own.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._futures.get(key) is own:
                    del self._futures[key]
            own.set_exception(error)


class SessionCache:
    """An LRU cache of sessions, such as checks and comparisons of dumps; a dropped session is stopped."""

    def __init__(self, capacity: int = SESSIONS) -> None:
        self._sessions = LruCache[Stoppable](capacity, evict=lambda session: session.stop())

    def get(self, key: Hashable, kind: type[Session], make: Callable[[], Session]) -> Session:
        """The session of a kind and key, made when there is none."""
        session = self._sessions.get((kind, key), make)
        assert isinstance(session, kind)
        return session

    def stop(self) -> None:
        self._sessions.clear()


def _is_made(future: Future[Value]) -> bool:
    return future.done() and future.exception() is None
