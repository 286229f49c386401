"""Server-sent events: one line per change of the store, to as many pages as are open.

A page that reads slowly never makes the server remember more for it: changes are merged into one
until it takes them, and a page that takes nothing for half a minute is let go.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mindinsight.server.http.protocol import most_connections
from mindinsight.server.store.store import Changes, Store

HEARTBEAT = 15.0  # s between comments on a quiet stream
PATIENCE = 30.0  # s a client may take to accept one event
GAP = 0.1  # s between two events of one stream
MAX_STREAMS = 512
STREAM_SHARE = 2  # one of so many connections that may be held may be a stream: the others are for requests
RETRY_AFTER = 10  # s after which a page that was refused asks again

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would keep events back
]


def most_streams() -> int:
    """Return how many streams may be open. The descriptors of the process may allow fewer than the limit."""
    return min(MAX_STREAMS, most_connections() // STREAM_SHARE)


class Pending:
    """What one client has not been told yet: the union of all changes since the last event."""

    def __init__(self) -> None:
        self.version = 0
        self.whole_list = False
        self.runs: dict[str, set[str]] = {}
        self.ready = asyncio.Event()

    def add(self, changes: Changes) -> None:
        self.version = changes.version
        self.whole_list |= changes.list
        for run in changes.runs:
            self.runs.setdefault(run, set()).update(changes.kinds.get(run, ()))
        self.ready.set()

    def take(self) -> bytes:
        """The event as bytes; nothing is pending afterwards."""
        runs = {run: sorted(kinds) for run, kinds in self.runs.items()}
        data = {"version": self.version, "runs": runs, "list": self.whole_list}
        self.runs, self.whole_list = {}, False
        self.ready.clear()
        return f"event: change\ndata: {json.dumps(data)}\n\n".encode()


class Hub:
    """The open streams of one server. Lives in the event loop; ``publish`` may come from any thread."""

    def __init__(self) -> None:
        self._clients: set[Pending] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.dropped = 0
        self.closed = False

    @property
    def streams(self) -> int:
        return len(self._clients)

    @contextlib.asynccontextmanager
    async def listening(self, store: Store) -> AsyncIterator[None]:
        """Pass on what the store tells until the end of the block; then end all streams."""
        self._loop = asyncio.get_running_loop()
        unsubscribe = store.subscribe(self.publish)
        try:
            yield
        finally:
            unsubscribe()
            self.close()

    def publish(self, changes: Changes) -> None:
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody listens any more
            self._loop.call_soon_threadsafe(self._spread, changes)

    def _spread(self, changes: Changes) -> None:
        for client in self._clients:
            client.add(changes)

    def close(self) -> None:
        """End every stream; for when the server is asked to stop, before it waits for its clients.

        May come from any thread and from a signal handler.
        """
        self.closed = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for client in self._clients:
            client.ready.set()

    @contextlib.contextmanager
    def client(self) -> Iterator[Pending]:
        client = Pending()
        self._clients.add(client)
        try:
            yield client
        finally:
            self._clients.discard(client)


class EventStream(Response):
    """One client's stream, until it leaves, stops reading, or the server ends."""

    def __init__(self, hub: Hub, version: Callable[[], int]) -> None:
        """``version`` gives the version of what readers see at the moment."""
        self._hub = hub
        self._version = version
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._hub.client() as client:
                await self._run(client, receive, send)
        except asyncio.TimeoutError:
            self._hub.dropped += 1

    async def _run(self, client: Pending, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        # asked only now that the client is known: what is published later reaches it as a change
        hello = f'retry: 2000\nevent: hello\ndata: {{"version": {self._version()}}}\n\n'.encode()
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await self._send(send, hello)
            while not gone.done() and not self._hub.closed:
                await self._send(send, await _next(client, gone))
                await asyncio.sleep(GAP)
            if not gone.done():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()

    async def _send(self, send: Send, body: bytes) -> None:
        message = {"type": "http.response.body", "body": body, "more_body": True}
        await asyncio.wait_for(send(message), PATIENCE)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _next(client: Pending, gone: asyncio.Future[None]) -> bytes:
    """The next thing to send: a change, or a comment that keeps the connection open."""
    ready = asyncio.ensure_future(client.ready.wait())
    waiting: tuple[asyncio.Future[Any], ...] = (ready, gone)
    try:
        await asyncio.wait(waiting, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ready.cancel()
    return client.take() if client.runs or client.whole_list else b": still here\n\n"
