"""Folders that grow by a file: every module in them is taken."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType

_log = logging.getLogger(__name__)


def modules_of(package: str, folders: Iterable[str]) -> Iterator[ModuleType]:
    """Import and yield the modules and packages directly inside a package, by name.

    One that cannot be imported is left out and said: the others are of use without it.
    """
    for info in sorted(pkgutil.iter_modules(folders), key=lambda info: info.name):
        try:
            yield importlib.import_module(f"{package}.{info.name}")
        except Exception:
            _log.exception("%s.%s is left out: it cannot be loaded", package, info.name)
