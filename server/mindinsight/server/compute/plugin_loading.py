"""Loader of plugin modules: imports every module in a folder."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Container, Iterable, Iterator
from types import ModuleType

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
