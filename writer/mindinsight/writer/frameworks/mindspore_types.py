"""Subclasses of ours and of MindSpore's classes at once, without importing MindSpore."""

from __future__ import annotations

import sys
from functools import cache


def mindspore_subclass(cls: type, module: str, name: str, own_name: str | None = None) -> type:
    """Subclass of ``cls`` and of class ``name`` in MindSpore's ``module``; ``cls`` while that is not loaded.

    MindSpore takes only instances of its own classes. Looked up at the time of use, so that either package
    may be imported first. ``own_name`` is the new class's name, that of ``cls`` if not given.
    """
    base: type | None = getattr(sys.modules.get(module), name, None)
    return cls if base is None else _subclass(cls, base, own_name or cls.__name__)


@cache
def _subclass(cls: type, base: type, name: str) -> type:
    if issubclass(cls, base):
        return cls
    return type(name, (cls, base), {"__module__": cls.__module__})
