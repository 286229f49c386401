"""Release of freed memory to the system: glibc keeps pages between what was allocated since."""

from __future__ import annotations

import ctypes
import sys


def release_freed_memory() -> None:
    """Give pages without allocations back to the system, where the C library can; some 20 ms."""
    if sys.platform == "linux":
        release = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if release is not None:
            release(0)
