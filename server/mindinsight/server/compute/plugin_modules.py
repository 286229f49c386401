"""Plugin modules: their loader, and the registry of the objects they keep between requests."""

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
        """Return the instance of the class `kind`, created on first use without arguments."""
        made = self._made.get(kind)
        if made is None:
            made = self._made.setdefault(kind, kind())  # the instance of a quicker thread stays
        assert isinstance(made, kind)
        return made

    def stop(self) -> None:
        """Stop the work of all objects. They stay registered, so that running requests find them stopped."""
        for part in list(self._made.values()):
            if isinstance(part, Stoppable):
                part.stop()


_log = logging.getLogger(__name__)


def modules_of(
    package: str, folders: Iterable[str], only: str = "", without: Container[str] = ()
) -> Iterator[ModuleType]:
    """Import and yield the modules and packages in `folders` of a package, by name, but not `without`. If
    there is a module `only`, yield no other. A module that cannot be imported is logged and skipped."""
    names = sorted(info.name for info in pkgutil.iter_modules(folders) if info.name not in without)
    for name in [only] if only in names else names:
        try:
            yield importlib.import_module(f"{package}.{name}")
        except Exception:
            _log.exception("%s.%s is left out: it cannot be loaded", package, name)
