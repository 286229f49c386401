"""Tuning of the garbage collector and allocator, before a server loads anything."""

from __future__ import annotations

import gc
import os
from typing import Final

# Objects made and not gone between two looks for garbage. With Python's 700 a tenth of loading many runs
# goes into looks that find nothing: what is made there stays.
_MADE: Final = 20_000


def before_imports() -> None:
    """Collect no garbage: nothing that is being loaded is any. And let numpy start no threads of its own."""
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # 0.05 CPU s, for matrices that nobody multiplies


def after_imports() -> None:
    """Collect garbage again, but of what is loaded by now: that stays."""
    gc.freeze()
    gc.set_threshold(_MADE)
    gc.enable()
