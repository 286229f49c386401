"""Opening files that others write: never through a link in place of the file, never blocking on a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A descriptor for reading; raises OSError."""
    descriptor = os.open(path, _FLAGS)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_at(descriptor: int, offset: int, size: int) -> bytes:
    """``size`` bytes from ``offset`` on; fewer only where the file ends."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    pieces: list[bytes] = []
    while size and (piece := os.read(descriptor, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
