"""No lock of the server is held while another is taken, for long, or over input and output.

All of them in a running server: tests/faults/test_chaos.py. The order: docs/decisions/locks.md.
"""

import ast
import asyncio
import random
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.cancellation import checked, result_of
from mindinsight.server.compute.bulkhead import Bulkhead, Full
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.worker_pool import WorkerPool
from tests.recorded_locks import Recorded, record

CALLS = 300
LONG = 0.005  # seconds of processor time of the thread that holds a lock: a thousand times what it needs
SERVER = Path(__file__).parents[3] / "server" / "mindinsight" / "server"


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Recorded]]:
    monkeypatch.setattr(Recorded, "faults", [])
    monkeypatch.setattr(Recorded, "longest", {})
    record(patch=monkeypatch.setattr)
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
            except (asyncio.CancelledError, Full):
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
    assert recorded.longest["mindinsight.server.compute.lru_cache"] > 0
    assert recorded.faults == []
    assert max(recorded.longest.values()) < LONG


def test_the_recorder_sees_what_is_forbidden(recorded: type[Recorded], tmp_path: Path) -> None:
    made = {"__name__": "mindinsight.server.made_up"}
    exec("import threading; first, second = threading.Lock(), threading.Lock()", made)
    with made["first"]:  # type: ignore[attr-defined]
        (tmp_path / "x").write_text("")
        threading.Thread(target=int).start()
        with made["second"]:  # type: ignore[attr-defined]
            pass
    seen = [fault.split(" under ")[0].split(" is ")[0] for fault in recorded.faults]
    assert {"open", "os.start_thread", "mindinsight.server.made_up"} <= set(seen)


def test_every_lock_of_the_server_is_in_the_order_that_is_written_down() -> None:
    made = {
        str(path.relative_to(SERVER))
        for path in SERVER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")
        and ast.unparse(node.func.value) == "threading"
    }
    documented = (SERVER.parents[2] / "docs" / "decisions" / "locks.md").read_text()
    assert made == set(re.findall(r"^\| `([a-z_/0-9]+\.py)` \|", documented, re.MULTILINE))


def test_nothing_is_raised_into_a_thread() -> None:
    forbidden = "SetAsync" + "Exc"
    assert [path.name for path in SERVER.rglob("*.py") if forbidden in path.read_text()] == []
