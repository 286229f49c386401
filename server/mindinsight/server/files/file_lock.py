"""Lock between processes, on a lock file beside the locked one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from mindinsight.server.files.own_files import open_own

WAIT: Final = 10.0  # seconds for which another process may hold it
_AGAIN: Final = 0.01  # seconds between two tries


@contextmanager
def locked(file: Path, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock ``<file>.lock``; other threads and processes, also over NFS, wait for it.

    Raises:
        TimeoutError: somebody held it for ``wait`` seconds. An ``OSError``, as all that can go wrong.
        NotOursError: the lock file belongs to another user.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = open_own(Path(f"{file}.lock"), os.O_RDWR | os.O_CREAT)
    try:
        until = time.monotonic() + wait
        while not _take(handle):
            if time.monotonic() > until:
                raise TimeoutError(f"another process holds {file.name}.lock")
            time.sleep(_AGAIN)
        yield
    finally:
        os.close(handle)  # which frees it


def _take(handle: int) -> bool:
    if sys.platform == "win32":
        import msvcrt

        with suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            return True
        return False
    import fcntl

    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
