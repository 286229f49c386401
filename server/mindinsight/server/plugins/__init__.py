"""Kinds of data, one module or package each; the folder is walked, so a new kind is a new file, no edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from mindinsight.server.compute.plugin_loading import modules_of

if TYPE_CHECKING:
    from fastapi import APIRouter


@dataclass(frozen=True)
class Plugin:
    """A kind of data with its routes below ``v2/<name>``.

    Its page, if it has one, is described by the web package (``http/static/view_entries.py``): pages are
    served before any plugin is loaded.
    """

    name: str
    router: APIRouter


def plugins() -> tuple[Plugin, ...]:
    """Every ``PLUGIN`` of the modules in this folder, or of a package's module ``routes``, by name."""
    exports = (getattr(module, "PLUGIN", None) for module in _route_modules())
    return tuple(sorted((p for p in exports if isinstance(p, Plugin)), key=lambda p: p.name))


def _route_modules() -> Iterator[ModuleType]:
    for module in modules_of(__name__, __path__):
        if hasattr(module, "__path__") and not hasattr(module, "PLUGIN"):
            yield from modules_of(module.__name__, module.__path__, only="routes")
        else:
            yield module
