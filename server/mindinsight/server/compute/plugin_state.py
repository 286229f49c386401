"""What a kind of data keeps from one request to the next, made when somebody first asks for it."""

from __future__ import annotations

import threading
from typing import Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Stoppable(Protocol):
    """What has work under way that can be ended."""

    def stop(self) -> None: ...


class PluginState:
    """One object of each class, for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[type, object] = {}

    def of(self, kind: type[T]) -> T:
        """The one object of this class, made without arguments by the first who asks."""
        with self._lock:
            made = self._made.get(kind)
            if not isinstance(made, kind):
                made = self._made[kind] = kind()
            return made

    def stop(self) -> None:
        """End the work of all parts. They are kept, so that what still runs finds the ended one."""
        with self._lock:
            made = list(self._made.values())
        for part in made:
            if isinstance(part, Stoppable):
                part.stop()
