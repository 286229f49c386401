"""Classes of work that are held apart, and calls that are cancelled."""

import asyncio
import gc
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from typing import Any

import pytest

from mindinsight.server.cancellation import check, claim, result_of, watch
from mindinsight.server.compute.bulkhead import Bulkhead, Full
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.memory_budget import RESERVE, SHARE, MemoryBudget, MemoryShort
from tests.waiting import until_async


def forever() -> None:
    while True:
        check()


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
        hold = Bulkhead(slots=1, stuck=1)
        for _ in range(3):  # more than may be abandoned: each has ended before the next
            await abandoned(hold, forever)
            await until_async(lambda: not hold.stuck)
        assert await hold.run(lambda: "free") == "free"

    asyncio.run(scenario())


def test_a_thread_that_cannot_be_ended_frees_its_slot_and_counts_until_it_ends() -> None:
    async def scenario() -> None:
        hold = Bulkhead(slots=1, stuck=1, patience=0.2)
        waits = threading.Lock()
        waits.acquire()
        await abandoned(hold, waits.acquire)  # waits in the system, where no token is looked at
        assert hold.stuck == 1
        assert await hold.run(lambda: "free") == "free"
        await abandoned(hold, waits.acquire)
        with pytest.raises(Full):
            await hold.run(lambda: "none is free")
        assert (hold.refused, hold.stuck) == (1, 2)
        waits.release()
        await until_async(lambda: hold.stuck < 2)
        assert await hold.run(lambda: "free again") == "free again"
        with pytest.raises(RuntimeError):  # the one that has it gives it back
            while True:
                waits.release()
                await until_async(lambda: hold.stuck < 1)

    asyncio.run(scenario())


def test_a_call_waits_for_the_end_of_cancelled_ones_and_is_not_refused() -> None:
    async def scenario() -> None:
        hold, end = Bulkhead(slots=1, stuck=1), threading.Event()
        for _ in range(2):
            await abandoned(hold, end.wait)
        assert hold.stuck == 2
        healthy = asyncio.ensure_future(hold.run(lambda: "served"))
        await asyncio.sleep(0.1)
        assert (healthy.done(), hold.waiting) == (False, 1)
        end.set()
        assert await healthy == "served"
        await until_async(lambda: not hold.stuck)
        assert (hold.refused, hold.waiting) == (0, 0)

    asyncio.run(scenario())


def test_who_leaves_while_waiting_for_a_thread_keeps_no_slot() -> None:
    async def scenario() -> None:
        hold, end = Bulkhead(slots=1, stuck=0), threading.Event()
        await abandoned(hold, end.wait)
        await abandoned(hold, lambda: "never begun")
        end.set()
        assert await hold.run(lambda: "served") == "served"
        assert (hold.refused, hold.waiting, hold.cancelled) == (0, 0, 1)

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
            watch(future)
            return result_of(future)

        await abandoned(hold, wait)
        assert future.cancelled()
        await until_async(lambda: not hold.stuck)

    asyncio.run(scenario())


def test_a_call_whose_future_another_one_cancels_is_an_error() -> None:
    async def scenario() -> None:
        future: Future[Any] = Future()
        future.cancel()
        with pytest.raises(BrokenExecutor):
            await Bulkhead().run(lambda: result_of(future))

    asyncio.run(scenario())


def test_work_that_was_given_up_before_it_began_never_begins() -> None:
    async def scenario() -> None:
        hold, end, begun = Bulkhead(slots=1, stuck=1), threading.Event(), list[int]()
        first = asyncio.ensure_future(hold.run(end.wait))
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(hold.run(lambda: begun.append(1)))
        await asyncio.sleep(0.05)
        second.cancel()
        end.set()
        assert await first
        assert await hold.run(lambda: 3) == 3
        assert (begun, hold.running, hold.waiting, hold.stuck) == ([], 0, 0, 0)

    asyncio.run(scenario())


def test_calls_beyond_the_memory_are_refused_with_the_reason() -> None:
    async def scenario() -> None:
        hold, end = Bulkhead(memory=MemoryBudget(RESERVE + SHARE)), threading.Event()
        first = asyncio.ensure_future(hold.run(end.wait))
        await asyncio.sleep(0.05)
        with pytest.raises(MemoryShort):
            await hold.run(lambda: 2)
        end.set()
        assert await first
        assert await hold.run(lambda: 2) == 2
        with pytest.raises(MemoryShort):
            await hold.run(lambda: claim(SHARE))
        with pytest.raises(MemoryError):
            await hold.run(lambda: bytes(1 << 62))
        assert await hold.run(lambda: 3) == 3

    asyncio.run(scenario())


def test_an_answer_that_has_begun_waits_for_memory_and_is_not_cut() -> None:
    async def scenario() -> None:
        memory = MemoryBudget(RESERVE + SHARE)
        hold, end = Bulkhead(memory=memory), threading.Event()
        items = hold.iterate(iter("ab"))
        assert await anext(items) == "a"
        other = asyncio.ensure_future(hold.run(end.wait))
        await asyncio.sleep(0.05)
        rest = asyncio.ensure_future(anext(items))
        await asyncio.sleep(0.2)
        assert not rest.done()
        end.set()
        assert (await rest, await other) == ("b", True)
        hurried, share = Bulkhead(memory=memory, patience=0.1), memory.share()
        with pytest.raises(MemoryShort):
            await anext(hurried.iterate(iter("c")))
        share.release()
        assert await hurried.run(lambda: "free") == "free"

    asyncio.run(scenario())


def test_an_answer_of_which_a_piece_is_late_is_cut_and_counted() -> None:
    async def scenario() -> None:
        hold, end = Bulkhead(patience=0.05), threading.Event()

        def pieces() -> Iterator[str]:
            yield "a"
            end.wait()
            yield "b"

        items = hold.iterate(pieces())
        assert (await anext(items), hold.cut) == ("a", 0)
        with pytest.raises(TimeoutError):
            await anext(items)
        assert (hold.cut, hold.cancelled, hold.stuck) == (1, 1, 1)
        end.set()
        await until_async(lambda: not hold.stuck)
        assert [item async for item in hold.iterate(iter("whole"))] == list("whole")
        assert hold.cut == 1

    asyncio.run(scenario())


class OpenFile:
    """What reads from a file that is open until nothing refers to the reader any more."""

    def __init__(self) -> None:
        self.closed = False

    def parts(self) -> Iterator[bytes]:
        try:
            while True:
                yield b"part"
        finally:
            self.closed = True


@pytest.fixture
def no_collection() -> Iterator[None]:
    """A server with nothing to do collects no garbage for minutes."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("cached", [False, True])
def test_work_that_fails_or_is_cancelled_leaves_nothing_open(no_collection: None, cached: bool) -> None:
    def read(file: OpenFile, fails: bool) -> None:
        parts = file.parts()
        while next(parts):
            if fails:
                raise KeyError
            check()

    async def scenario() -> None:
        hold, cache, failed, left = Bulkhead(), LruCache[None](4), OpenFile(), OpenFile()

        def work(file: OpenFile, fails: bool) -> Any:
            call = partial(read, file, fails)
            return partial(cache.get, file, call) if cached else call

        with pytest.raises(KeyError) as error:
            await hold.run(work(failed, fails=True))
        await abandoned(hold, work(left, fails=False))
        await until_async(lambda: failed.closed and left.closed)
        assert error

    asyncio.run(scenario())


def test_a_download_that_is_cancelled_or_closed_leaves_nothing_open(no_collection: None) -> None:
    async def scenario() -> None:
        hold, left, closed = Bulkhead(), OpenFile(), OpenFile()

        async def download() -> None:
            async for _ in hold.iterate(left.parts()):
                pass

        task = asyncio.ensure_future(download())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as error:  # with its traceback
            await task
        items = hold.iterate(closed.parts())
        assert await anext(items) == b"part"
        await items.aclose()  # type: ignore[attr-defined]
        await until_async(lambda: left.closed and closed.closed)
        assert error and items

    asyncio.run(scenario())


def test_what_runs_too_long_is_logged_once_with_its_stack(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        hold, begun, end = Bulkhead("slow", patience=0.01), threading.Event(), threading.Event()

        def wait_for_the_end() -> None:
            begun.set()
            end.wait(30)

        call = asyncio.ensure_future(hold.run(wait_for_the_end))
        await until_async(begun.is_set)
        await until_async(lambda: "work in slow has run for" in caplog.text)
        assert hold.oldest > 0.01
        end.set()
        await call
        await hold.run(lambda: "quick")
        await asyncio.sleep(0.1)
        assert (hold.oldest, hold.running) == (0.0, 0)

    asyncio.run(scenario())
    assert caplog.text.count("work in slow has run for") == 1
    assert "wait_for_the_end" in caplog.text


def test_counters_tell_what_happened() -> None:
    async def scenario() -> None:
        hold = Bulkhead(slots=1, waiting=1)
        await abandoned(hold, forever)
        await until_async(lambda: not hold.stuck)
        assert (hold.cancelled, hold.refused) == (1, 0)
        tasks = [asyncio.ensure_future(hold.run(forever)) for _ in range(3)]
        await until_async(lambda: hold.refused == 1)
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["CancelledError"] * 2 + ["Full"]
        await until_async(lambda: not hold.running)
        assert (hold.cancelled, hold.stuck, hold.waiting) == (2, 0, 0)

    asyncio.run(scenario())
