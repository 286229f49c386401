"""No lock of the executor is held while another is taken, or for long: see docs/decisions/locks.md."""

import asyncio
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mindinsight.server.cancellation import checked, result_of
from mindinsight.server.compute import lru_cache
from mindinsight.server.compute.bulkhead import Bulkhead, Full, Interrupted
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.worker_pool import WorkerPool

CALLS = 300
LONG = 0.005  # seconds of processor time of the thread that holds a lock: a thousand times what it needs
_held = threading.local()


class Recorded:
    """Lock that records what its thread holds already, and for how much processor time it is held."""

    nested: list[str] = []  # noqa: RUF012
    longest = 0.0
    taken = 0

    def __init__(self) -> None:
        self._lock = threading._allocate_lock()  # type: ignore[attr-defined]

    def __enter__(self) -> None:
        if getattr(_held, "count", 0):
            Recorded.nested.append(threading.current_thread().name)
        assert self._lock.acquire(timeout=30)
        _held.count = getattr(_held, "count", 0) + 1
        _held.since = time.thread_time()

    def __exit__(self, *error: object) -> None:
        Recorded.longest = max(Recorded.longest, time.thread_time() - _held.since)
        Recorded.taken += 1
        _held.count -= 1
        self._lock.release()


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Recorded]]:
    class Locks:
        Lock = Recorded

    monkeypatch.setattr(lru_cache, "threading", Locks)
    Recorded.nested, Recorded.longest, Recorded.taken = [], 0.0, 0
    yield Recorded


def count(upto: int) -> int:
    return sum(1 for _ in checked(range(upto)))


def test_no_lock_is_taken_under_another_while_calls_are_cancelled(recorded: type[Recorded]) -> None:
    chance = random.Random(7)

    async def scenario(pool: WorkerPool) -> None:
        hold, outer, inner = Bulkhead(waiting=CALLS), LruCache[int](3), LruCache[int](2)

        def work(key: int) -> int:
            return outer.get(key, lambda: inner.get(key % 3, lambda: result_of(pool.submit(count, 2000))))

        async def call(key: int) -> Any:
            task = asyncio.ensure_future(hold.run(lambda: work(key)))
            await asyncio.sleep(chance.uniform(0, 0.03))
            if chance.random() < 0.7:
                task.cancel()
            try:
                return await task
            except (asyncio.CancelledError, Full, Interrupted):
                return None

        results = await asyncio.gather(*(call(number % 11) for number in range(CALLS)))
        assert set(results) <= {None, 2000}
        assert 2000 in results
        while hold.running:
            await asyncio.sleep(0.01)
        assert await hold.run(lambda: work(0)) == 2000
        assert (hold.stuck, hold.waiting) == (0, 0)

    with WorkerPool(2) as pool:
        asyncio.run(scenario(pool))
    assert recorded.taken > CALLS / 4
    assert recorded.nested == []
    assert recorded.longest < LONG
