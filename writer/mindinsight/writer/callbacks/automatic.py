"""Callbacks that an environment variable adds to every loop."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Final

from mindinsight.writer.callbacks.base import Callback

# Variable -> module and class of the callback, loaded only where the variable is set.
_CALLBACKS: Final[Mapping[str, tuple[str, str]]] = {
    "MINDSPORE_DUMP_CONFIG": ("mindinsight.writer.capture.automatic_dump", "AutomaticDump"),
}


def automatic_callbacks(environment: Mapping[str, str] = os.environ) -> list[Callback]:
    """A new callback for each variable that is set."""
    return [
        getattr(import_module(module), name)()
        for variable, (module, name) in _CALLBACKS.items()
        if environment.get(variable)
    ]
