"""Bulkheads: a limit for each class of work, so that no class can use up the threads of another.

A call that is late, or whose client has left, is cancelled: its slot is free for others at once, and the call
ends at its next check. Until then it keeps its thread.
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
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar, cast

import anyio

from mindinsight.server.cancellation import Token, check, clear_frames_of, under
from mindinsight.server.compute.background_jobs import Threads
from mindinsight.server.compute.memory_budget import SHARE, MemoryBudget, Share

T = TypeVar("T")

SLOTS: Final = 4  # calls at a time; more threads would only take turns at the interpreter
WAITING: Final = 1024  # calls that wait for a slot: more would be late before their turn
STUCK: Final = 4  # threads in reserve for cancelled calls that have not ended yet
PATIENCE: Final = 30.0  # seconds that a call waits for a slot: half of the usual deadline
# Times the patience: twice the usual deadline, after which a call is logged. A piece of an answer is given up
# then: half of it may pass in waiting for a slot and for memory, as much is left for reading 8 MB.
_SLOW: Final = 4
_LOOK: Final = 0.05  # seconds between two looks whether there is memory: what a look costs is nothing to that

_END: Final = object()
_log = logging.getLogger(__name__)


class Full(Exception):  # noqa: N818
    """Error: the bulkhead takes no more work now."""


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
        """Make a bulkhead of `slots + stuck` threads. Up to `waiting` calls wait for `patience` seconds. A
        call that has run for four times as long is logged with its stack."""
        self.waiting = 0
        self.cancelled = 0  # calls, since the start
        self.refused = 0  # calls, since the start
        self.cut = 0  # answers that ended early, by an error or as a piece was late, since the start
        self.threads = Threads(slots + stuck, name)
        self._name = name
        self._slots = asyncio.Semaphore(slots)
        self._most_waiting = waiting
        self._most_stuck = stuck
        self._patience = patience
        self._memory = memory or MemoryBudget()
        self._calls: set[_Call] = set()

    @property
    def running(self) -> int:
        """Return the number of calls that have begun and not ended."""
        return len(self._calls)

    @property
    def stuck(self) -> int:
        """Return the number of cancelled calls that have not ended."""
        return sum(call.token.cancelled for call in self._calls)

    @property
    def oldest(self) -> float:
        """Return the age in seconds of the oldest call that has not ended, 0.0 without one."""
        return max((time.monotonic() - call.begun for call in self._calls), default=0.0)

    async def run(self, function: Callable[[], T], waits: bool = False) -> T:
        """Return the result of `function`, called in a thread, or raise its error. Raises Full if too many
        calls wait, no slot is free in time, or no thread can start, and MemoryShort if the memory for all
        calls is taken. Cancelling the coroutine cancels the call.

        With `waits` the call waits for memory as long as for a slot, otherwise it takes only memory that is
        free.
        """
        await self._take_slot()
        call = None
        try:
            call = await self._begin(function, self._patience if waits else 0)
            return cast(T, await call.result)
        finally:
            if call is not None and call in self._calls:  # this is cancelled
                call.token.cancel()
                self.cancelled += 1
            if call not in self._calls or self.stuck <= self._most_stuck:
                self._slots.release()

    async def iterate(self, items: Iterator[T]) -> AsyncIterator[T]:
        """Yield items, taken one at a time, so that a slow reader holds no slot between two of them.
        Raises TimeoutError if an item takes four times the patience, cancelling its call, and the errors
        of `run`. Each waits for memory: an answer that has begun cannot be refused any more, only cut."""
        held = [items]
        del items
        try:
            while True:
                with anyio.fail_after(_SLOW * self._patience):
                    if (item := await self.run(lambda: next(held[0], _END), waits=True)) is _END:
                        return
                yield item  # type: ignore[misc]
        except Exception:
            self.cut += 1
            raise
        finally:
            held.clear()  # the traceback of an error may keep this call for minutes, but no open file with it

    async def _take_slot(self) -> None:
        """Wait for a slot. Raises Full."""
        self.waiting += 1
        try:
            if self.waiting > self._most_waiting:
                raise TimeoutError
            with anyio.fail_after(self._patience):
                await self._slots.acquire()
        except TimeoutError:
            self.refused += 1
            raise Full from None
        finally:
            self.waiting -= 1

    async def _begin(self, function: Callable[[], Any], patience: float) -> _Call:
        """Start `function` in a thread and return its call, after waiting up to ``patience`` seconds for
        memory. Raises Full if there is no thread at all, or MemoryShort."""
        until = time.monotonic() + patience
        while self._memory.free() < SHARE and time.monotonic() < until:
            await asyncio.sleep(_LOOK)
        call = _Call(function, self._memory.share())
        if not self.threads.run(partial(copy_context().run, call.perform, self._ended)):
            call.share.release()
            raise Full
        self._calls.add(call)
        call.report = call.result.get_loop().call_later(_SLOW * self._patience, self._report, call)
        return call

    def _report(self, call: _Call) -> None:
        """Log the stack of a call that has run for too long."""
        age, frame = time.monotonic() - call.begun, sys._current_frames().get(call.thread)
        stack = "".join(traceback.format_stack(frame)) if frame else "not begun"
        _log.warning("work in %s has run for %.0f seconds:\n%s", self._name, age, stack)

    def _ended(self, call: _Call, settle: Callable[[], None]) -> None:
        self._calls.discard(call)
        call.report.cancel()
        if not call.result.done():
            settle()
        if call.token.cancelled and self.stuck >= self._most_stuck:  # the slot was kept until now
            self._slots.release()


class _Call:
    """Call of a function in a thread, with a token by which it can be cancelled."""

    report: asyncio.TimerHandle

    def __init__(self, function: Callable[[], Any], share: Share) -> None:
        self.begun = time.monotonic()
        self.share = share
        self.thread = 0
        self.token = Token(share.claim)
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.function = function

    def perform(self, ended: Callable[[_Call, Callable[[], None]], None]) -> None:
        """Call the function and release all resources, then pass a callback that sets the result to
        ``ended``."""
        self.thread = threading.get_ident()
        try:
            with under(self.token):
                check()
                settle = partial(self.result.set_result, self.function())
        except BaseException as error:
            clear_frames_of(error)
            settle = partial(self.result.set_exception, error)
        self.share.release()
        del self.function  # with the files that it may hold open
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self.result.get_loop().call_soon_threadsafe(ended, self, settle)
