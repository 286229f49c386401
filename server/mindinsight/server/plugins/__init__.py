"""Kinds of data, one module or package each.

The folder is listed at run time, so that a new kind is a new file.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from mindinsight.server import extensions
from mindinsight.server.compute.plugin_modules import modules_of

if TYPE_CHECKING:
    from fastapi import APIRouter


@dataclass(frozen=True)
class Plugin:
    """Kind of data with its routes below `v2/<name>`.

    The web package describes its page, if any (`http/static_files.py`), because pages are served before any
    plugin is loaded.
    """

    name: str
    router: APIRouter


def plugins() -> tuple[Plugin, ...]:
    """Return all plugins, sorted by name, without modules that cannot be imported and plugins that
    `misfit` refuses. They are each `PLUGIN` of a module in this folder, or of the module `<kind>_routes`
    of a package, and those of other distributions."""
    exports = (getattr(module, "PLUGIN", None) for module in _route_modules())
    own = (p for p in exports if isinstance(p, Plugin))
    return tuple(sorted((*own, *(plugin for plugin in further_plugins())), key=lambda p: p.name))


def further_plugins() -> tuple[Plugin, ...]:
    """Return the plugins of other distributions, without those that `misfit` refuses."""
    plugins = extensions.values(extensions.KINDS, Plugin)
    return tuple(plugin for name, plugin in plugins if not misfit(name, plugin))


def misfit(name: str, plugin: Plugin) -> str:
    """Return the reason why a plugin of another distribution cannot be used, or "". All its routes must
    run in a bulkhead, because only these have a deadline."""
    from mindinsight.server.http.bulkhead_routes import BulkheadRoute

    if name != plugin.name or not name.isidentifier():
        return f"the entry point is named {name!r}, the kind {plugin.name!r}"
    if name in plugin_names():
        return f"there is a kind {name!r} already"
    if not all(isinstance(route, BulkheadRoute) for route in plugin.router.routes):
        return "a route is not a PayloadRoute, and would have no deadline"
    return ""


def plugin_names() -> tuple[str, ...]:
    """Return the names of the modules and packages in this folder, without importing them."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def find_plugin(name: str) -> Plugin | None:
    """Return the plugin of this name, from this folder or another distribution, or None if there is none."""
    if name not in plugin_names():
        return next((plugin for plugin in further_plugins() if plugin.name == name), None)
    exports = (getattr(module, "PLUGIN", None) for module in _route_modules(name))
    return next((plugin for plugin in exports if isinstance(plugin, Plugin) and plugin.name == name), None)


def _route_modules(only: str = "") -> Iterator[ModuleType]:
    """Yield the modules that may hold a `PLUGIN`, or only the modules of the kind `only`."""
    for module in modules_of(__name__, __path__, only):
        if hasattr(module, "__path__") and not hasattr(module, "PLUGIN"):
            kind = module.__name__.rpartition(".")[2]
            yield from modules_of(module.__name__, module.__path__, only=f"{kind}_routes")
        else:
            yield module
