import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mindinsight.server.http import sse
from mindinsight.server.http.sse import EventStream, Hub
from mindinsight.server.store.store import Changes, Store


class Client:
    """One browser at the other end of a stream."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.arrived = asyncio.Event()
        self.leaves = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        self.ended = False

    async def receive(self) -> Any:
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.body":
            self.ended = not message["more_body"]
            self.events.append(message["body"].decode())
            self.arrived.set()

    async def event(self) -> Any:
        """The next event of a change, as data."""
        while True:
            for text in self.events:
                if text.startswith("event: change"):
                    self.events.remove(text)
                    return json.loads(text.splitlines()[1].removeprefix("data: "))
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), 5)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "GAP", 0.001)
    monkeypatch.setattr(sse, "HEARTBEAT", 0.05)


def changes(version: Any, **kinds: Any) -> Any:
    runs = {f"./{run}": frozenset(names) for run, names in kinds.items()}
    return Changes(version, frozenset(runs), runs)


def with_client(scenario: Any) -> None:
    """Run ``scenario(hub, client, task)`` with one open stream."""

    async def whole() -> None:
        hub = Hub()
        async with hub.listening(Store()):
            client = Client()
            stream = EventStream(hub, lambda: 6 + hub.streams)
            task = asyncio.ensure_future(stream({}, client.receive, client.send))
            await asyncio.wait_for(client.arrived.wait(), 5)
            await scenario(hub, client, task)
            client.leaves.set()
            client.reads.set()
            await asyncio.wait_for(task, 5)
            assert hub.streams == 0

    # In a thread of its own: a browser of other tests may have a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, whole()).result()


def test_a_stream_begins_with_the_version() -> None:
    async def scenario(hub: Any, client: Any, task: Any) -> None:
        assert 'event: hello\ndata: {"version": 7}' in client.events[0]

    with_client(scenario)  # which adds one for each client the hub knew of when the version was asked


def test_changes_arrive_with_their_kinds() -> None:
    async def scenario(hub: Any, client: Any, task: Any) -> None:
        hub.publish(changes(8, a=["scalar", "image"]))
        assert await client.event() == {"version": 8, "runs": {"./a": ["image", "scalar"]}, "list": False}

    with_client(scenario)


def test_what_a_client_does_not_take_is_merged_into_one() -> None:
    async def scenario(hub: Any, client: Any, task: Any) -> None:
        client.reads.clear()
        hub.publish(changes(8, a=["scalar"]))
        await asyncio.sleep(0.01)
        for version in range(9, 1000):
            hub.publish(changes(version, a=["image"], b=["scalar"]))
        hub.publish(Changes(1000, frozenset(["./c"]), {}, list=True))
        await asyncio.sleep(0.01)
        client.reads.set()
        await client.event()
        merged = await client.event()
        assert merged["version"] == 1000
        assert merged["runs"] == {"./a": ["image"], "./b": ["scalar"], "./c": []}
        assert merged["list"] is True

    with_client(scenario)


def test_quiet_streams_are_kept_open_by_comments() -> None:
    async def scenario(hub: Any, client: Any, task: Any) -> None:
        while not any(text.startswith(":") for text in client.events):
            client.arrived.clear()
            await asyncio.wait_for(client.arrived.wait(), 5)

    with_client(scenario)


def test_a_client_that_never_reads_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PATIENCE", 0.02)

    async def scenario(hub: Any, client: Any, task: Any) -> None:
        client.reads.clear()
        hub.publish(changes(8, a=["scalar"]))
        await asyncio.wait_for(task, 5)
        assert hub.dropped == 1

    with_client(scenario)


def test_closing_ends_every_stream_properly() -> None:
    async def scenario(hub: Any, client: Any, task: Any) -> None:
        hub.close()
        await asyncio.wait_for(task, 5)
        assert client.ended

    with_client(scenario)


def test_one_client_more_than_allowed_is_sent_away(samples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = samples()
    monkeypatch.setattr(sse, "MAX_STREAMS", 0)
    answer = client.get("/v2/events")
    assert answer.status_code == 503
    assert answer.json()["error"]["key"] == "error.too_many_streams"
    assert int(answer.headers["retry-after"]) > 0
