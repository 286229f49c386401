"""Kinds of data, one module or package each; the folder is walked, so a new kind is a new file, no edit."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from mindinsight.server.compute.plugin_modules import modules_of

if TYPE_CHECKING:
    from fastapi import APIRouter


@dataclass(frozen=True)
class Plugin:
    """A kind of data with its routes below ``v2/<name>``.

    Its page, if it has one, is described by the web package (``http/static_files.py``): pages are
    served before any plugin is loaded.
    """

    name: str
    router: APIRouter


def plugins() -> tuple[Plugin, ...]:
    """Every ``PLUGIN`` of the modules in this folder, or of a package's module ``<kind>_routes``, by name."""
    exports = (getattr(module, "PLUGIN", None) for module in _route_modules())
    return tuple(sorted((p for p in exports if isinstance(p, Plugin)), key=lambda p: p.name))


def plugin_names() -> tuple[str, ...]:
    """Names of the modules and packages in this folder; nothing is imported."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def find_plugin(name: str) -> Plugin | None:
    """The plugin of this name, from the module that is called so; None where that has none."""
    if name not in plugin_names():
        return None
    exports = (getattr(module, "PLUGIN", None) for module in _route_modules(name))
    return next((plugin for plugin in exports if isinstance(plugin, Plugin) and plugin.name == name), None)


def _route_modules(only: str = "") -> Iterator[ModuleType]:
    for module in modules_of(__name__, __path__, only):
        if hasattr(module, "__path__") and not hasattr(module, "PLUGIN"):
            kind = module.__name__.rpartition(".")[2]
            yield from modules_of(module.__name__, module.__path__, only=f"{kind}_routes")
        else:
            yield module
