"""Ring buffer of a session's events, for clients that long-poll."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from typing import Any, Final, TypeAlias

from mindinsight.server.http.indices import index_of

Event: TypeAlias = dict[str, Any]

CAPACITY: Final = 1000  # events
WAIT_SECONDS: Final = 25.0  # for which a response waits for an event
_POLL_SECONDS: Final = 0.1  # between two checks


class Events:
    """Ring buffer of events. A position is ``<id of the buffer>:<number of the event>``; "0" is the start."""

    def __init__(self, patience: float = WAIT_SECONDS) -> None:
        self.patience = patience
        self._id = uuid.uuid4().hex
        self._events: deque[tuple[int, Event]] = deque(maxlen=CAPACITY)
        self._count = 0
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Let waiting clients return."""
        self._closed = True

    def add(self, event: Event) -> None:
        """Append an event; its position is added to its metadata."""
        with self._lock:
            self._count += 1
            metadata = {**event.get("metadata", {}), "pos": f"{self._id}:{self._count}"}
            self._events.append((self._count, {**event, "metadata": metadata}))

    def after(self, position: str) -> Event | None:
        """The event after a position, None for none yet; the oldest for a position of another buffer."""
        ring, _, number = position.partition(":")
        last_number = (index_of(number, self._count + 1) or 0) if ring == self._id else 0
        with self._lock:
            return next((event for event_number, event in self._events if event_number > last_number), None)

    async def wait(self, position: str) -> Event:
        """Wait for the event after a position; only the position is returned if none comes in time."""
        end = time.monotonic() + self.patience
        while (event := self.after(position)) is None:
            if self._closed or time.monotonic() >= end:
                return {"metadata": {"pos": position}}
            await asyncio.sleep(_POLL_SECONDS)
        return event
