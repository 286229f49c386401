"""Release of freed memory to the system, after many connections were open at once.

What is sent to slow clients is copied, and glibc keeps pages between what was allocated since: after 300
clients of the largest script the process held 27 to 36 MB more for good.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Final

from mindinsight.server.compute.freed_memory import release_freed_memory

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
