"""The ring of a session's events: positions, waiting, the end."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mindinsight.server.api.v1.debugger.events import CAPACITY, Events
from tests.narrowing import require


def run(coroutine: Any) -> Any:
    """In a thread of its own: a browser of other tests may have a loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def test_events_come_one_after_the_other() -> None:
    events = Events()
    for step in range(3):
        events.add({"metadata": {"step": step}})
    first = require(events.after("0"))
    second = require(events.after(first["metadata"]["pos"]))
    assert [first["metadata"]["step"], second["metadata"]["step"]] == [0, 1]
    assert events.after("elsewhere:2") == first


def test_the_oldest_are_forgotten() -> None:
    events = Events()
    for step in range(CAPACITY + 5):
        events.add({"metadata": {"step": step}})
    assert require(events.after("0"))["metadata"]["step"] == 5


def test_waiting_ends_with_an_event() -> None:
    async def later() -> Any:
        waiting = asyncio.create_task(events.wait("0"))
        await asyncio.sleep(0)
        events.add({"receive_watchpoint_hits": True})
        return await waiting

    events = Events()
    assert run(later())["receive_watchpoint_hits"]


def test_waiting_ends_with_patience_and_with_the_session() -> None:
    assert run(Events(patience=0).wait("0")) == {"metadata": {"pos": "0"}}
    events = Events()
    events.close()
    assert run(events.wait("here:1")) == {"metadata": {"pos": "here:1"}}
