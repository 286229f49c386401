"""Adapters of MindSpore, PyTorch and JAX; each module is imported only when its framework is used.

Every module offers some of: ``parameters(network)``, ``save(network, path, extra, options)`` and
``trace(network, inputs)``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_NAMES = ("mindspore", "torch", "jax")


def framework_of(value: object) -> ModuleType | None:
    """Our module for the framework ``value`` comes from, or None.

    A network of the user's own counts for the framework of the class it derives from. A function that is
    wrapped by a framework counts for it, too.
    """
    for cls in type(value).__mro__:
        package = cls.__module__.partition(".")[0]
        name = "jax" if package == "jaxlib" else package
        if name in _NAMES:
            return import_module(f"{__name__}.{name}")
    return None
