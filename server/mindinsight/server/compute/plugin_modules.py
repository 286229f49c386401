"""Plugin modules: their loader, and the registry of the objects they keep between requests."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Container, Iterable, Iterator
from types import ModuleType
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


_log = logging.getLogger(__name__)


def modules_of(
    package: str, folders: Iterable[str], only: str = "", without: Container[str] = ()
) -> Iterator[ModuleType]:
    """Import and yield the modules and packages directly inside a package, by name.

    ``only`` names one that is enough, if it is there; ``without`` names some to leave alone. One that
    cannot be imported is left out and said: the others are of use without it.
    """
    names = sorted(info.name for info in pkgutil.iter_modules(folders) if info.name not in without)
    for name in [only] if only in names else names:
        try:
            yield importlib.import_module(f"{package}.{name}")
        except Exception:
            _log.exception("%s.%s is left out: it cannot be loaded", package, name)
