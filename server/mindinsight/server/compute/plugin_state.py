"""Registry of the objects that plugins keep between requests, made when first used."""

from __future__ import annotations

import threading
from typing import Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Stoppable(Protocol):
    """Interface of objects with running work that can be stopped."""

    def stop(self) -> None: ...


class PluginState:
    """Registry of one object per class, thread-safe."""

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
        """Stop the work of all objects; they stay registered, so that running requests find them stopped."""
        with self._lock:
            made = list(self._made.values())
        for part in made:
            if isinstance(part, Stoppable):
                part.stop()
