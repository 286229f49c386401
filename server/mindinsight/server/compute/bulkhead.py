"""Bulkheads: limits of their own for each class of work, so that no class can use up the threads of another.

Work runs in threads that are started with the server. One that is not done in time, or that nobody waits for
any more, is cancelled: its slot is free for others at once, and it ends at its next check. Until then it
keeps its thread. Calls that find no slot or no thread wait for one, up to a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError
from contextvars import copy_context
from typing import Any, Final, TypeVar

import anyio

from mindinsight.server.cancellation import Cancelled, Token, check, under
from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.compute.memory_budget import SHARE, MemoryBudget, MemoryShort

T = TypeVar("T")

SLOTS: Final = 4  # calls at a time; more threads would only take turns at the interpreter
WAITING: Final = 1024  # calls that wait for a slot
STUCK: Final = 4  # threads in reserve for calls that have not ended although nobody waits for them
PATIENCE: Final = 30.0  # seconds that a call waits for a slot: half of the usual deadline
_LOOK: Final = 0.05  # seconds between two looks whether there is memory

_END: Final = object()
_log = logging.getLogger(__name__)


class Full(Exception):  # noqa: N818
    """Error: the bulkhead takes no more work now."""


class Interrupted(Exception):  # noqa: N818
    """Error: work was ended from outside before it was done."""


class Bulkhead:
    """Limiter of one class of work: at most `slots` calls at a time. Belongs to one event loop."""

    def __init__(
        self,
        name: str = "work",
        slots: int = SLOTS,
        waiting: int = WAITING,
        stuck: int = STUCK,
        memory: MemoryBudget | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.waiting = 0
        self.cancelled = 0  # calls, since the start
        self.refused = 0
        self.stuck = 0  # calls that have not ended although nobody waits for them
        self.threads = Threads(slots + stuck, name)
        self._name = name
        self._slots = asyncio.Semaphore(slots)
        self._free_threads = asyncio.Semaphore(slots + stuck)
        self._most_waiting = waiting
        self._patience = patience
        self._memory = memory or MemoryBudget()
        self._calls: set[_Call] = set()

    @property
    def running(self) -> int:
        """Number of calls that have begun and not ended."""
        return len(self._calls)

    @property
    def oldest(self) -> float:
        """Age of the oldest call that has not ended, in seconds."""
        return max((time.monotonic() - call.begun for call in self._calls), default=0.0)

    async def run(self, function: Callable[[], T], waits: bool = False) -> T:
        """Return the result of `function`, called in a thread. Cancelling this cancels the function's token.

        With `waits` a call that finds no memory waits for it as for a slot.

        Raises:
            Full: too many calls wait already, or no slot or thread was free in time.
            MemoryShort: the memory that all calls may take is taken.
            Interrupted: the server ends, and with it what the call waited for.
        """
        async with self._slot():
            call = await self._begin(function, self._patience if waits else 0)
            try:
                result: T = await call.result
                return result
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            finally:
                if call in self._calls:
                    self.stuck += 1
                    call.given_up = True
                    call.token.cancel()

    async def iterate(self, items: Iterator[T]) -> AsyncIterator[T]:
        """Iterate over items taken one at a time, so that a slow reader holds no slot between two of them.

        Each waits for memory: an answer that has begun cannot be refused any more, only cut.
        """
        while (item := await self.run(lambda: next(items, _END), waits=True)) is not _END:
            yield item  # type: ignore[misc]

    def cancel(self) -> None:
        """Cancel all calls: the server ends."""
        for call in list(self._calls):
            call.token.cancel()

    def report_slow(self, seconds: float) -> None:
        """Log, once each, the stacks of calls that have run for longer than `seconds`."""
        for call in self._calls:
            age = time.monotonic() - call.begun
            if age > seconds and not call.reported:
                call.reported = True
                frame = sys._current_frames().get(call.thread)
                stack = "".join(traceback.format_stack(frame)) if frame else "not begun"
                _log.warning("work in %s has run for %.0f seconds:\n%s", self._name, age, stack)

    @contextlib.asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self.waiting >= self._most_waiting:
            self.refused += 1
            raise Full
        self.waiting += 1
        try:
            with anyio.fail_after(self._patience):
                await self._acquire()
        except TimeoutError:
            self.refused += 1
            raise Full from None
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self._slots.release()

    async def _acquire(self) -> None:
        """Wait for a slot and for a thread without a call."""
        await self._slots.acquire()
        try:
            await self._free_threads.acquire()
        except BaseException:
            self._slots.release()
            raise

    async def _begin(self, function: Callable[[], Any], patience: float) -> _Call:
        """Have a free thread call `function`. Raises Full if the system gave no threads, MemoryShort."""
        until = time.monotonic() + patience
        try:
            while self._memory.free() < SHARE and time.monotonic() < until:
                await asyncio.sleep(_LOOK)
            call = _Call(function, asyncio.get_running_loop(), self._memory, self._ended)
            if not self.threads.run(call.run):
                call.release()
                raise Full
        except BaseException:
            self._free_threads.release()
            raise
        self._calls.add(call)
        return call

    def _ended(self, call: _Call) -> None:
        self._calls.discard(call)
        self.stuck -= call.given_up
        self._free_threads.release()


class _Call:
    """A function that a thread calls under a token."""

    def __init__(
        self,
        function: Callable[[], Any],
        loop: asyncio.AbstractEventLoop,
        memory: MemoryBudget,
        ended: Callable[[_Call], None],
    ) -> None:
        self.begun = time.monotonic()
        self.result: asyncio.Future[Any] = loop.create_future()
        self.given_up = False
        self.reported = False
        self.thread = 0
        share = memory.share()
        self.release = share.release
        self.token = Token(share.claim)
        self._function: Callable[[], Any] | None = function
        self._loop = loop
        self._ended = ended
        self._context = copy_context()

    def run(self) -> None:
        self.thread = threading.get_ident()
        result, error = self._context.run(self._outcome)
        self.release()
        self._function = None
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def _outcome(self) -> tuple[Any, BaseException | None]:
        function = self._function
        assert function is not None
        try:
            with under(self.token):
                check()
                return function(), None
        except (CancelledError, Cancelled):
            return None, Interrupted()
        except MemoryError:
            return None, MemoryShort()
        except BaseException as error:
            return None, error

    def _settle(self, result: Any, error: BaseException | None) -> None:
        self._ended(self)
        if self.result.done():
            return
        if error is None:
            self.result.set_result(result)
        else:
            self.result.set_exception(error)
