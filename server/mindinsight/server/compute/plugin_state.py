"""Registry of the objects that plugins keep between requests, made when first used."""

from __future__ import annotations

from typing import Protocol, TypeVar, runtime_checkable

T = TypeVar("T")


@runtime_checkable
class Stoppable(Protocol):
    """Interface of objects with running work that can be stopped."""

    def stop(self) -> None: ...


class PluginState:
    """Registry of one object per class, thread-safe."""

    def __init__(self) -> None:
        self._made: dict[type, object] = {}

    def of(self, kind: type[T]) -> T:
        """The one object of this class, made without arguments by the first who asks."""
        made = self._made.get(kind)
        if made is None:
            made = self._made.setdefault(kind, kind())  # one that another thread was quicker with stays
        assert isinstance(made, kind)
        return made

    def stop(self) -> None:
        """Stop the work of all objects; they stay registered, so that running requests find them stopped."""
        for part in list(self._made.values()):
            if isinstance(part, Stoppable):
                part.stop()
