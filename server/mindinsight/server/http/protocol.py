"""HTTP/1.1 protocol: uvicorn's httptools protocol with limits on the resources a client can hold.

uvicorn's other protocol, on h11, limits the length of a head, but its parser takes a quarter of the time of
answering a short series (docs/dependencies.md). Neither limits the time for a head, or for a client that does
not read.
"""

import asyncio
import select
import sys
import time
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD: Final = 1 << 16  # bytes of address and headers, which are buffered before a token is checked
PIECE: Final = 1 << 10  # bytes parsed at a time: at most 57 requests, of about 15 kB each in memory
# The two below bound how long a client that sends or reads nothing holds a descriptor.
HEAD_SECONDS: Final = 20.0  # from the start of a connection, or of its next request, to the end of the head
STALLED_SECONDS: Final = 60.0  # without progress after which a connection that does not read is closed
FEWEST: Final = 8  # connections allowed with any limit of descriptors
SHARE: Final = 2  # descriptors per connection: the other half is for files
_CLOSED: Final = getattr(select, "POLLRDHUP", 0)  # Linux: the other end has closed


class Protocol(HttpToolsProtocol):
    """HTTP protocol that rejects heads that do not end, in bytes or in time, and closes stalled connections.

    While a request waits for the response to the one before it, nothing more of its connection is parsed:
    what was received in the same read, up to 256 KiB, stays as bytes. When connections use half of the
    descriptors of the process, each new one closes the connection that has been idle longest.
    """

    _ended = True  # the head of the last request is complete
    _received = 0  # bytes received after the packet in which that request began
    _head: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _last = 0.0  # time.monotonic() of the last data from the client
    _unparsed = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a connection and start the time limit for its first request head. Close an idle
        connection if there are too many."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._last = time.monotonic()
        self._expect_head()
        if len(self.connections) > most_connections():
            self._close_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._cancel("_head")
        self._cancel("_stalled")
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data up to a request that has to wait for earlier ones, and retain the rest."""
        self._last = time.monotonic()
        self._unparsed += data
        self._parse()

    def on_response_complete(self) -> None:
        """Start the next request, if it is parsed already, and continue to parse the retained data."""
        super().on_response_complete()
        self._parse()

    def _parse(self) -> None:
        """Process data in pieces until a request has to wait. Reject a head that is too long."""
        data, start = self._unparsed, 0
        while start < len(data) and not self.pipeline and not self.transport.is_closing():
            piece = data[start : start + PIECE]
            start += len(piece)
            self._received += len(piece)
            super().data_received(piece)
            if not self._ended and self._received > LONGEST_HEAD and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")
        self._unparsed = data[start:]
        if self.transport.is_closing():
            return
        if self.pipeline:
            self.flow.pause_reading()
            self._cancel("_head")  # the rest of a head may be in what is not parsed
        elif not self._ended or (data and self.idle):
            self._expect_head()

    def on_message_begin(self) -> None:
        """Start the time limit for the head of the next request."""
        self._ended, self._received = False, 0
        super().on_message_begin()
        self._expect_head()

    def on_headers_complete(self) -> None:
        """Stop the time limit for the head."""
        self._ended = True
        self._cancel("_head")
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Start the response to a request, or close the connection if the client of a reading request has
        left. Closing takes a hundredth of the time of a response. Otherwise the event loop notices only a
        turn later, after starting responses to more such requests."""
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
        """Start the time limit after which a client that reads nothing is disconnected."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the time limit that `pause_writing` started."""
        super().resume_writing()
        self._cancel("_stalled")

    @property
    def idle(self) -> bool:
        """Return True if no request is being answered."""
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
    """Return the number of connections above which idle ones are closed: half of the limit of descriptors.
    It is at least `FEWEST`, and 512 on Windows."""
    if sys.platform == "win32":
        return 512  # Windows has no limit of descriptors to ask for
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(FEWEST, soft // SHARE)
