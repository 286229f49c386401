"""Release of freed memory to the system: glibc keeps pages between what was allocated since."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_ARENA_MAX: Final = -8  # M_ARENA_MAX of malloc.h


def limit_arenas(count: int) -> None:
    """Have glibc keep at most `count` areas of memory for all threads."""
    if sys.platform == "linux":
        option = getattr(ctypes.CDLL(None), "mallopt", None)
        if option is not None:
            option(_ARENA_MAX, count)


def release_freed_memory() -> None:
    """Give pages without allocations back to the system, where the C library can; some 20 ms."""
    if sys.platform == "linux":
        release = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if release is not None:
            release(0)
