"""Memory of the server: a budget over all requests, and the release of freed memory to the system."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
import time
from itertools import count
from pathlib import Path
from typing import Final

SHARE: Final = 16 << 20  # bytes that every call claims: two of the 8 MB sections in which tensors are read
COPIES: Final = 3  # of what a call reads at once: as bytes, as an array, and as an answer
RESERVE: Final = 48 << 20  # bytes that requests leave to the event loop, the loader and answers on their way
_FRESH: Final = 0.05  # seconds for which a measurement of the free memory holds, which reads two files

_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class MemoryShort(MemoryError):  # noqa: N818
    """Error: all memory for requests is claimed."""


class MemoryBudget:
    """Account of the bytes that running calls may take. Counts without a lock."""

    def __init__(self, limit: int | None = None) -> None:
        """Create an account without claims. In tests, `limit` in bytes replaces the free memory of the
        system."""
        self._limit = limit
        self._numbers = count()
        self._claimed: dict[int, int] = {}  # bytes by call
        self._free = 0
        self._until = 0.0

    def share(self) -> Share:
        """Return a new share of the budget, with the least claim, for a call that begins. Raises MemoryShort
        if that much is not free."""
        share = Share(self, next(self._numbers))
        share.claim(0)
        return share

    def free(self) -> int:
        """Return the bytes that calls may still claim, negative if the reserve is in use."""
        if self._limit is None and time.monotonic() >= self._until:
            self._free, self._until = _free_bytes(), time.monotonic() + _FRESH
        free = self._free if self._limit is None else self._limit
        return free - RESERVE - sum(self._claimed.copy().values())


class Share:
    """Memory that one call has claimed from a budget."""

    def __init__(self, budget: MemoryBudget, number: int) -> None:
        self._budget = budget
        self._number = number

    def claim(self, size: int) -> None:
        """Claim the memory for reading `size` bytes at once, as far as it exceeds the memory already claimed.
        Raises MemoryShort at once if that much is not free."""
        claimed = self._budget._claimed
        had, needed = claimed.get(self._number, 0), max(SHARE, COPIES * size)
        if needed > had:
            if self._budget.free() < needed - had:
                raise MemoryShort
            claimed[self._number] = needed

    def release(self) -> None:
        """Return the claimed memory to the budget."""
        self._budget._claimed.pop(self._number, None)


def _free_bytes() -> int:
    """Return the bytes that this process can still allocate, by its own limit and that of the machine."""
    free = room()
    with contextlib.suppress(OSError, StopIteration), Path("/proc/meminfo").open("rb") as file:
        free = min(
            free, next(int(line.split()[1]) << 10 for line in file if line.startswith(b"MemAvailable"))
        )
    return free


def room() -> int:
    """Return the bytes of address space that this process can still take, 2**62 if unlimited or unknown."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    with contextlib.suppress(OSError, ValueError):  # systems without /proc
        if limit != resource.RLIM_INFINITY:
            return limit - int(Path("/proc/self/statm").read_bytes().split()[0]) * _PAGE
    return 1 << 62


_ARENA_MAX: Final = -8  # M_ARENA_MAX of malloc.h


def limit_arenas(count: int) -> None:
    """Limit glibc's malloc to `count` arenas for all threads. Other systems are left unchanged."""
    if sys.platform == "linux":
        option = getattr(ctypes.CDLL(None), "mallopt", None)
        if option is not None:
            option(_ARENA_MAX, count)


def release_freed_memory() -> None:
    """Return unused pages to the system, if the C library can. Takes some 20 ms."""
    if sys.platform == "linux":
        release = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if release is not None:
            release(0)
