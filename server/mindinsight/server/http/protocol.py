"""HTTP/1.1 protocol: uvicorn's httptools protocol with limits on what a client may hold.

uvicorn's other protocol, on h11, limits the length of a head by itself, but its parser is a quarter of what
answering a short series costs (docs/dependencies.md). Neither limits the time for a head, or for a client
that reads nothing.
"""

from __future__ import annotations

import asyncio
import select
import sys
import time
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD: Final = 1 << 16  # bytes of address and headers; they are held before anybody has shown a token
HEAD_SECONDS: Final = (
    20.0  # from the beginning of a connection, or of its next request, to the end of the head
)
STALLED_SECONDS: Final = 60.0  # for which a client may take nothing of an answer
FEWEST: Final = 8  # connections that are always held
SHARE: Final = 2  # of this many descriptors one is for a connection
_CLOSED: Final = getattr(select, "POLLRDHUP", 0)  # Linux: the other end has closed


class Protocol(HttpToolsProtocol):
    """Refuses a head that does not end, in bytes or in time, and ends connections that only stay open.

    When half of the descriptors that the process may have are connections, the one that has been idle for
    longest is closed for each new one.
    """

    _ended = True  # whether the head of the last request is whole
    _received = 0  # bytes in what came after the piece in which that request began
    _head: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _last = 0.0  # time.monotonic() of the last sign of the client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._last = time.monotonic()
        self._expect_head()
        if len(self.connections) > most_connections():
            self._close_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel("_head")
        self._cancel("_stalled")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        self._last = time.monotonic()
        super().data_received(data)
        if self.transport.is_closing():
            return
        if not self._ended and self._received > LONGEST_HEAD:
            self.send_400_response("The head of the request is too long.")
        elif self.idle:
            self._expect_head()

    def on_message_begin(self) -> None:
        self._ended, self._received = False, 0
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        self._ended = True
        self._cancel("_head")
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Answer nothing that only reads for a client that has left already: that costs a hundred times less.

        The event loop learns of it a turn later, and then starts to answer some more of those.
        """
        if cycle.scope["method"] in ("GET", "HEAD") and self._has_left():
            self.transport.abort()
        else:
            super()._start_asgi_task(cycle, app)

    def _has_left(self) -> bool:
        if not _CLOSED:
            return False
        ends = select.poll()
        ends.register(self.transport.get_extra_info("socket"), _CLOSED)
        return bool(ends.poll(0))

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel("_stalled")

    @property
    def idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _cancel(self, timer: str) -> None:
        handle: asyncio.TimerHandle | None = getattr(self, timer)
        if handle is not None:
            handle.cancel()
            setattr(self, timer, None)

    def _close_idle(self) -> None:
        connections = (c for c in self.connections if isinstance(c, Protocol) and c.idle)
        min(connections, key=lambda connection: connection._last).transport.abort()


def most_connections() -> int:
    """Connections held before idle ones are closed for others: half of the descriptors of this process."""
    if sys.platform == "win32":
        return 512
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(FEWEST, soft // SHARE)
