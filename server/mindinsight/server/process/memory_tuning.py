"""Memory of the server process: tuning of garbage collector and allocator, release of freed memory."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Final

from mindinsight.server.compute.memory_budget import release_freed_memory

FEWEST: Final = 64  # connections at once after which memory is released
_SHARE: Final = 4  # of the most connections, so many times as few are left


def trim() -> None:
    """Collect what connections left and give its memory back to the system; some 20 ms."""
    gc.collect()  # a connection and its transport refer to each other
    release_freed_memory()


class MemoryRelease:
    """Observer of the number of connections that releases memory when most of many have closed.

    It waits for the observation after that in which they are gone: their buffers go a moment later.
    """

    def __init__(self, release: Callable[[], None] = trim) -> None:
        self._release = release
        self._most = 0
        self._gone = False

    def observe(self, connections: int) -> None:
        """Note how many connections there are now."""
        if self._gone:
            self._gone, self._most = False, connections
            self._release()
        self._most = max(self._most, connections)
        self._gone = self._most >= FEWEST and connections * _SHARE <= self._most


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
