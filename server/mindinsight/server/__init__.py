"""The service: reads event files and dumps, and shows them in a browser."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindinsight.server.notebook import show
    from mindinsight.server.reader import open

__all__ = ["open", "show"]


def __getattr__(name: str) -> Any:
    """``open`` and ``show`` are loaded when they are used: what reads one file has no need of them."""
    homes = {"open": "reader", "show": "notebook"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{homes[name]}"), name)
