"""LRU caches, thread-safe: values that are computed once for all callers, and sessions of long work."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Final, Generic, TypeVar

from mindinsight.server.cancellation import Token, check, clear_frames_of, current, result_of, under
from mindinsight.server.compute.plugin_modules import Stoppable

SESSIONS: Final = 8  # of each server: a listing of 100 000 tensors takes about 100 MB

Value = TypeVar("Value")
Session = TypeVar("Session", bound=Stoppable)


class _Computation(Generic[Value]):
    """Value that is or was computed, and the callers that wait for it. Guarded by the lock of the cache."""

    def __init__(self) -> None:
        self.token = Token()
        self.waiting: set[Future[Value]] = set()
        self.values: list[Value] = []  # empty until the value is computed
        self.dropped = False


class LruCache(Generic[Value]):
    """LRU cache that computes each value once. Callers that ask for a value meanwhile wait for it.

    A computation belongs to no caller: it runs in the thread of the first, under a token that is cancelled
    when the last waiting caller has left.
    """

    def __init__(self, capacity: int, evict: Callable[[Value], object] | None = None) -> None:
        """Make a cache of `capacity` values, 0 to keep none. `evict` is called with each dropped value."""
        self._capacity = capacity
        self._evict = evict
        self._lock = threading.Lock()
        self._computations: OrderedDict[Hashable, _Computation[Value]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, computed by `make` if it is not cached. Errors are not cached. Raises
        what `make` raises, in all waiting callers, and Cancelled if the caller's work is cancelled."""
        future: Future[Value] = Future()
        with self._lock:
            existing = self._computations.get(key)
            if existing is not None and existing.values:
                self._computations.move_to_end(key)
                return existing.values[0]
            computation = self._computations.setdefault(key, _Computation())
            computation.waiting.add(future)
            self._computations.move_to_end(key)
            dropped = self._oldest() if self._capacity else []
        self._drop(dropped)
        caller = current()
        if caller is not None:
            caller.on_cancel(future, lambda: self._leave(key, computation, future))
        try:
            if existing is None:
                self._compute(key, computation, make)
            return result_of(future)
        finally:
            if caller is not None:
                caller.forget(future)

    def find(self, key: Hashable) -> Value | None:
        """Return the value of a key and mark it as used, None if it is not computed or no longer cached."""
        with self._lock:
            computation = self._computations.get(key)
            if computation is None or not computation.values:
                return None
            self._computations.move_to_end(key)
            return computation.values[0]

    def values(self) -> list[Value]:
        """Return the values computed by now, the most recently used at the end."""
        with self._lock:
            return [value for computation in self._computations.values() for value in computation.values]

    def drop(self, key: Hashable, value: Value) -> None:
        """Drop the value of a key, unless the key has another value by now."""
        with self._lock:
            computation = self._computations.get(key)
            if computation is None or not any(cached is value for cached in computation.values):
                return
            self._forget(key, computation)
            computation.dropped = True
        self._drop([computation])

    def clear(self) -> None:
        """Drop all values."""
        with self._lock:
            dropped = list(self._computations.values())
            self._computations.clear()
            for computation in dropped:
                computation.dropped = True
        self._drop(dropped)

    def _oldest(self) -> list[_Computation[Value]]:
        """Remove and return the computations beyond the capacity. The lock is held."""
        excess = range(len(self._computations) - self._capacity)
        dropped = [self._computations.popitem(last=False)[1] for _ in excess]
        for computation in dropped:
            computation.dropped = True
        return dropped

    def _drop(self, computations: list[_Computation[Value]]) -> None:
        evict = self._evict
        for value in [value for computation in computations for value in computation.values]:
            if evict is not None:
                evict(value)

    def _leave(self, key: Hashable, computation: _Computation[Value], future: Future[Value]) -> None:
        with self._lock:
            computation.waiting.discard(future)
            last = not computation.waiting and not computation.values
            if last:
                self._forget(key, computation)
        future.cancel()
        if last:
            computation.token.cancel()

    def _forget(self, key: Hashable, computation: _Computation[Value]) -> None:
        if self._computations.get(key) is computation:
            del self._computations[key]

    def _compute(self, key: Hashable, computation: _Computation[Value], make: Callable[[], Value]) -> None:
        """Compute a value and pass it, or the error, to all callers that still wait."""
        value, error = None, None
        try:
            with under(computation.token):
                check()
                value = make()
        except BaseException as raised:
            clear_frames_of(raised)
            error = raised
        with self._lock:
            if error is None:
                computation.values.append(value)  # type: ignore[arg-type]
            if error is not None or not self._capacity:
                self._forget(key, computation)
            waiting = list(computation.waiting)
            dropped = [computation] if computation.dropped else []
        self._drop(dropped)
        for future in waiting:
            with suppress(InvalidStateError):  # the caller left just now
                future.set_exception(error) if error else future.set_result(value)  # type: ignore[arg-type]
        del error  # its traceback refers to this call


class SessionCache:
    """LRU cache of sessions, such as checks and comparisons of dumps. A dropped session is stopped."""

    def __init__(self, capacity: int = SESSIONS) -> None:
        self._sessions = LruCache[Stoppable](capacity, evict=lambda session: session.stop())

    def get(self, key: Hashable, kind: type[Session], make: Callable[[], Session]) -> Session:
        """Return the session of a kind and key, made and kept if there is none. Beyond the capacity, the
        least recently used session is stopped and dropped."""
        session = self._sessions.get((kind, key), make)
        assert isinstance(session, kind)
        return session

    def find(self, key: Hashable, kind: type[Session]) -> Session | None:
        """Return the session of a kind and key, or None if there is none."""
        session = self._sessions.find((kind, key))
        return session if isinstance(session, kind) else None

    def drop(self, key: Hashable, kind: type[Session], session: Session) -> None:
        """Stop a session and forget it, so that the next caller with its key makes another. Do nothing if the
        key has no session, or another one."""
        self._sessions.drop((kind, key), session)

    def stop(self) -> None:
        """Stop all sessions and forget them."""
        self._sessions.clear()
