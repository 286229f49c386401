"""Bulkheads: limits of their own for each class of work, so that no class can use up the threads of another.

Work runs in daemon threads. One that does not end in time is abandoned: its caller gets an error, its slot is
free for others, what it waits for in worker processes is killed, and an exception is raised in it, outside of
critical sections, which ends endless loops of Python code. A thread that waits in the kernel cannot be ended;
such threads are counted, and a bulkhead with too many of them takes no more work until some have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar, copy_context
from typing import Any, Final, TypeVar

from mindinsight.server.files.critical_section import Interruption

T = TypeVar("T")

SLOTS: Final = 4  # calls at a time; more threads would only take turns at the interpreter
WAITING: Final = 64  # calls that wait for a slot
ABANDONED: Final = 8  # threads that do not end

_END: Final = object()


class Full(Exception):  # noqa: N818
    """Error: the bulkhead takes no more work now."""


class Interrupted(Exception):  # noqa: N818
    """Error: work was ended from outside before it was done."""


class Abandoned(BaseException):  # not an Exception: code that goes on after any error must not go on
    """Error in a thread whose caller no longer waits."""


class Bulkhead:
    """Limiter of one class of work: at most ``slots`` calls at a time. Belongs to one event loop."""

    def __init__(self, slots: int = SLOTS, waiting: int = WAITING, abandoned: int = ABANDONED) -> None:
        self.abandoned = 0  # threads that have not ended although nobody waits for them
        self._slots = asyncio.Semaphore(slots)
        self._waiting = 0
        self._most_waiting = waiting
        self._most_abandoned = abandoned

    async def run(self, function: Callable[[], T]) -> T:
        """The result of ``function``, called in a thread. Cancelling this abandons the thread.

        Raises:
            Full: too many calls wait already, or too many threads do not end.
            Interrupted: a worker process it waited for was killed because of another call.
        """
        async with self._slot():
            call = _Call(function, asyncio.get_running_loop())
            try:
                result: T = await call.start()
                return result
            finally:
                if not call.ended:
                    self.abandoned += 1
                    call.abandon(self._ended_late)

    async def iterate(self, items: Iterator[T]) -> AsyncIterator[T]:
        """Items taken one at a time, so that a slow reader holds no slot between two of them."""
        while (item := await self.run(lambda: next(items, _END))) is not _END:
            yield item  # type: ignore[misc]

    @contextlib.asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self.abandoned >= self._most_abandoned or self._waiting >= self._most_waiting:
            raise Full
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._slots.release()

    def _ended_late(self) -> None:
        self.abandoned -= 1


class _Call:
    """A function in a thread of its own, and the futures of worker processes that it waits for."""

    def __init__(self, function: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._function = function
        self._loop = loop
        self._result: asyncio.Future[Any] = loop.create_future()
        self._lock = threading.Lock()
        self._futures: set[Future[Any]] = set()
        run = copy_context().run
        self._thread = threading.Thread(target=run, args=(self._run,), name="bulkhead", daemon=True)
        self._interruption = Interruption(Abandoned)
        self._working = True
        self._after: Callable[[], None] | None = None

    @property
    def ended(self) -> bool:
        return not self._working

    def start(self) -> asyncio.Future[Any]:
        try:
            self._thread.start()
        except RuntimeError as error:  # the system gives no more threads
            self._working = False
            raise Full from error
        return self._result

    def watch(self, future: Future[Any]) -> None:
        """Cancel ``future`` when this call is abandoned."""
        with self._lock:
            self._futures.add(future)
            late = self._after is not None
        future.add_done_callback(self._futures.discard)
        if late:
            future.cancel()

    def abandon(self, after: Callable[[], None]) -> None:
        """End it as far as a thread can be ended; ``after`` is called in the loop once it has."""
        with self._lock:
            self._after = after
            futures = list(self._futures)
            working = self._working
            if working and self._thread.ident is not None:
                self._interruption.raise_in(self._thread.ident)
        for future in futures:
            future.cancel()
        if not working:
            after()

    def _run(self) -> None:
        try:
            _current.set(self)
            self._interruption.admit()
            self._settle(*self._outcome())
        except Abandoned:  # raised between the end of the work and here
            self._settle(None, Interrupted())

    def _outcome(self) -> tuple[Any, BaseException | None]:
        try:
            return self._function(), None
        except (CancelledError, Abandoned):
            return None, Interrupted()
        except BaseException as error:
            return None, error

    def _settle(self, result: Any, error: BaseException | None) -> None:
        with self._lock:
            self._working = False
            after = self._after
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(after or self._tell, *(() if after else (result, error)))

    def _tell(self, result: Any, error: BaseException | None) -> None:
        if self._result.done():
            return
        if error is None:
            self._result.set_result(result)
        else:
            self._result.set_exception(error)


_current: ContextVar[_Call | None] = ContextVar("call of this thread", default=None)


def watch(future: Future[Any]) -> None:
    """Cancel ``future`` when the call that this thread works for is abandoned; outside of one do nothing."""
    call = _current.get()
    if call is not None:
        call.watch(future)
