"""Objects of ours that MindSpore takes for its own."""

from __future__ import annotations

import sys
from functools import cache


def as_mindspore_sees(cls: type, module: str, name: str) -> type:
    """``cls``, or a class of its name that also derives from ``name`` of MindSpore's ``module``.

    For a ``__class__`` property: MindSpore accepts only instances of its own classes, and isinstance() asks
    ``__class__`` where type() does not match. Looking the class up at that moment works whichever package
    was imported first, and imports nothing.
    """
    theirs: type | None = getattr(sys.modules.get(module), name, None)
    return cls if theirs is None else _both(cls, theirs)


@cache
def _both(cls: type, theirs: type) -> type:
    if issubclass(cls, theirs):
        return cls
    return type(cls.__name__, (cls, theirs), {"__module__": cls.__module__})
