"""Memory of the server process: tuning of garbage collector and allocator, release of freed memory."""

import gc
import os
from collections.abc import Callable
from typing import Final

from mindinsight.server.compute.memory_budget import release_freed_memory

FEWEST: Final = 64  # connections: fewer leave too little memory for 20 ms of work
_SHARE: Final = 4  # factor by which the number of connections must have fallen from its maximum


def trim() -> None:
    """Collect garbage and return freed memory to the system, which takes some 20 ms."""
    gc.collect()  # a connection and its transport refer to each other
    release_freed_memory()


class MemoryRelease:
    """Observer of the number of connections, which releases memory when most of many connections have closed.

    Memory is released one observation later, because the buffers of a connection outlive it for a moment.
    """

    def __init__(self, release: Callable[[], None] = trim) -> None:
        self._release = release
        self._most = 0
        self._gone = False

    def observe(self, connections: int) -> None:
        """Record the current number of connections, and release memory if most had closed at the observation
        before."""
        if self._gone:
            self._gone, self._most = False, connections
            self._release()
        self._most = max(self._most, connections)
        self._gone = self._most >= FEWEST and connections * _SHARE <= self._most


# Objects made, less those deleted, between two garbage collections. With Python's 700 a tenth of the time for
# loading many runs goes into collections that find nothing.
_MADE: Final = 20_000


def before_imports() -> None:
    """Disable garbage collection until `after_imports`, and keep NumPy from starting threads."""
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # 0.05 CPU s, for matrices that nobody multiplies


def after_imports() -> None:
    """Enable garbage collection, at the end of the imports. Objects that exist already are never
    collected."""
    gc.freeze()
    gc.set_threshold(_MADE)
    gc.enable()
