"""What happened in a session, for clients that ask for the next event and wait."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import deque
from typing import Any, Final, TypeAlias

from mindinsight.server.http.indices import index_of

Event: TypeAlias = dict[str, Any]

KEPT: Final = 1000  # events
PATIENCE: Final = 25.0  # seconds for which an answer waits for an event
_TICK: Final = 0.1  # seconds between two looks


class Events:
    """The newest events. A position is ``<id of this ring>:<number of the event>``, "0" before the first."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._id = uuid.uuid4().hex
        self._events: deque[tuple[int, Event]] = deque(maxlen=KEPT)
        self._count = 0
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Let nobody wait any longer."""
        self._closed = True

    def tell(self, event: Event) -> None:
        with self._lock:
            self._count += 1
            metadata = {**event.get("metadata", {}), "pos": f"{self._id}:{self._count}"}
            self._events.append((self._count, {**event, "metadata": metadata}))

    def after(self, position: str) -> Event | None:
        """The event after a position, the oldest there is for a position of another ring; None: not yet."""
        ring, _, number = position.partition(":")
        seen = (index_of(number, self._count + 1) or 0) if ring == self._id else 0
        with self._lock:
            return next((event for index, event in self._events if index > seen), None)

    async def wait(self, position: str) -> Event:
        """The event after a position; nothing but the position when none comes in time."""
        end = time.monotonic() + self.patience
        while (event := self.after(position)) is None:
            if self._closed or time.monotonic() >= end:
                return {"metadata": {"pos": position}}
            await asyncio.sleep(_TICK)
        return event
