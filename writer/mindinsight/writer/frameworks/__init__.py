"""Adapters of MindSpore, PyTorch and JAX, each imported only when its framework is used.

A module has some of: ``parameters(network)``, ``save(network, path, extra, options)`` and ``trace(network,
inputs)``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_NAMES = ("mindspore", "torch", "jax")


def framework_of(value: object) -> ModuleType | None:
    """Return the adapter module for the framework of ``value``, or None if there is none for it. A user's
    network belongs to the framework of its base class, a function to the framework that wraps it."""
    for cls in type(value).__mro__:
        package = cls.__module__.partition(".")[0]
        name = "jax" if package == "jaxlib" else package
        if name in _NAMES:
            return import_module(f"{__name__}.{name}")
    return None
