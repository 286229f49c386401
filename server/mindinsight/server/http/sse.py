"""Server-sent events: one event per change of the store, to every open page.

A page that reads slowly does not make the server buffer more: changes are merged into one event until it is
sent. A page that reads nothing for half a minute is disconnected.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from mindinsight.server.http.protocol import most_connections
from mindinsight.server.store.store import Changes, Store

HEARTBEAT = 15.0  # seconds between comments on a quiet stream, because proxies close idle ones
PATIENCE = 30.0  # seconds a client may take to accept one event
GAP = 0.1  # seconds between two events of one stream, so that bursts of changes become one event
MAX_STREAMS = 512  # open pages, each with a descriptor and pending changes in memory
STREAM_SHARE = 2  # connections per stream: the other half is for requests
RETRY_AFTER = 10  # seconds after which a rejected page tries again

_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx would delay events
]


def most_streams() -> int:
    """Return the maximum number of open streams. Few descriptors may allow fewer than MAX_STREAMS."""
    return min(MAX_STREAMS, most_connections() // STREAM_SHARE)


class Pending:
    """Changes that one client has not received: the union since its last event."""

    def __init__(self) -> None:
        self.version = 0
        self.whole_list = False
        self.runs: dict[str, set[str]] = {}
        self.ready = asyncio.Event()

    def add(self, changes: Changes) -> None:
        """Merge changes into the pending ones."""
        self.version = changes.version
        self.whole_list |= changes.list
        for run in changes.runs:
            self.runs.setdefault(run, set()).update(changes.kinds.get(run, ()))
        self.ready.set()

    def take(self) -> bytes:
        """Return the pending changes as an event, and clear them."""
        runs = {run: sorted(kinds) for run, kinds in self.runs.items()}
        data = {"version": self.version, "runs": runs, "list": self.whole_list}
        self.runs, self.whole_list = {}, False
        self.ready.clear()
        return f"event: change\ndata: {json.dumps(data)}\n\n".encode()


class Hub:
    """Open streams of one server. Belongs to the event loop, except for `publish` and `close`."""

    def __init__(self) -> None:
        self._clients: set[Pending] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.dropped = 0
        self.closed = False

    @property
    def streams(self) -> int:
        """Return the number of open streams."""
        return len(self._clients)

    @contextlib.asynccontextmanager
    async def listening(self, store: Store) -> AsyncIterator[None]:
        """Publish the changes of a store until the end of the block, then end all streams."""
        self._loop = asyncio.get_running_loop()
        unsubscribe = store.subscribe(self.publish)
        try:
            yield
        finally:
            unsubscribe()
            self.close()

    def publish(self, changes: Changes) -> None:
        """Send changes to all streams. Can be called from any thread."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._spread, changes)

    def _spread(self, changes: Changes) -> None:
        for client in self._clients:
            client.add(changes)

    def close(self) -> None:
        """End every stream, before the stopping server waits for its clients. Can be called from any
        thread and from a signal handler."""
        self.closed = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for client in self._clients:
            client.ready.set()

    @contextlib.contextmanager
    def client(self) -> Iterator[Pending]:
        """Register a client until the end of the block."""
        client = Pending()
        self._clients.add(client)
        try:
            yield client
        finally:
            self._clients.discard(client)


class EventStream(Response):
    """Stream of one client, until it disconnects, stops reading, or the server stops."""

    def __init__(self, hub: Hub, version: Callable[[], int]) -> None:
        """Create a stream of `hub`, where `version` returns the current version of the store."""
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
        # read after the client was registered, so that every later version reaches it as a change
        hello = f'retry: 2000\nevent: hello\ndata: {{"version": {self._version()}}}\n\n'.encode()
        gone = asyncio.ensure_future(disconnected(receive))
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


async def disconnected(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _next(client: Pending, gone: asyncio.Future[None]) -> bytes:
    """Return the next data to send: a change, or a comment that keeps the connection open."""
    ready = asyncio.ensure_future(client.ready.wait())
    waiting: tuple[asyncio.Future[Any], ...] = (ready, gone)
    try:
        await asyncio.wait(waiting, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
    finally:
        ready.cancel()
    return client.take() if client.runs or client.whole_list else b": still here\n\n"
