"""Classes of work that are held apart, and threads that are ended."""

import asyncio
import threading
from concurrent.futures import Future
from typing import Any

import pytest

from mindinsight.server.compute import bulkhead
from mindinsight.server.compute.bulkhead import Bulkhead, Full, Interrupted


def forever() -> None:
    while True:
        pass


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.01)


async def abandoned(hold: Any, function: Any) -> None:
    """Have ``function`` begun and then give it up."""
    task = asyncio.ensure_future(hold.run(function))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_results_and_errors_come_back() -> None:
    async def scenario() -> None:
        hold = Bulkhead()
        assert await hold.run(lambda: 3) == 3
        with pytest.raises(KeyError, match="x"):
            await hold.run(lambda: dict[str, int]()["x"])
        assert [item async for item in hold.iterate(iter("abc"))] == ["a", "b", "c"]

    asyncio.run(scenario())


def test_an_endless_loop_ends_when_it_is_abandoned() -> None:
    async def scenario() -> None:
        hold = Bulkhead(slots=1, abandoned=1)
        for _ in range(3):  # more than may be abandoned: each has ended before the next
            await abandoned(hold, forever)
            await until(lambda: not hold.abandoned)
        assert await hold.run(lambda: "free") == "free"

    asyncio.run(scenario())


def test_a_thread_that_cannot_be_ended_frees_its_slot_and_counts_until_it_ends() -> None:
    async def scenario() -> None:
        hold, end = Bulkhead(slots=1, abandoned=2), threading.Event()
        waits = threading.Lock()
        waits.acquire()
        await abandoned(hold, waits.acquire)  # waits in the system, where no exception reaches it
        assert hold.abandoned == 1
        assert await hold.run(lambda: "free") == "free"
        await abandoned(hold, waits.acquire)
        with pytest.raises(Full):
            await hold.run(end.is_set)
        waits.release()
        await until(lambda: hold.abandoned < 2)
        assert await hold.run(lambda: "free again") == "free again"
        with pytest.raises(RuntimeError):  # the one that has it gives it back
            while True:
                waits.release()
                await until(lambda: hold.abandoned < 1)

    asyncio.run(scenario())


def test_too_many_who_wait_are_refused_at_once() -> None:
    async def scenario() -> None:
        hold, end = Bulkhead(slots=1, waiting=1), threading.Event()
        first = asyncio.ensure_future(hold.run(end.wait))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(hold.run(lambda: 2))
        await asyncio.sleep(0.1)
        with pytest.raises(Full):
            await hold.run(lambda: 3)
        end.set()
        assert await first
        assert await second == 2

    asyncio.run(scenario())


def test_what_an_abandoned_call_waits_for_is_cancelled() -> None:
    async def scenario() -> None:
        hold = Bulkhead()
        future: Future[Any] = Future()

        def wait() -> Any:
            bulkhead.watch(future)
            return future.result()

        await abandoned(hold, wait)
        assert future.cancelled()
        await until(lambda: not hold.abandoned)

    asyncio.run(scenario())


def test_a_call_whose_future_another_one_cancels_is_interrupted() -> None:
    async def scenario() -> None:
        future: Future[Any] = Future()
        future.cancel()
        with pytest.raises(Interrupted):
            await Bulkhead().run(future.result)

    asyncio.run(scenario())
