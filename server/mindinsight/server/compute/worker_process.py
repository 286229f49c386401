"""Worker process: one child process that performs one call at a time, behind a pipe.

Children come from a fork server (or are spawned where there is none), which has imported what reading needs.
A child ignores Ctrl-C and ends with its parent, even when that is killed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import Any, Final, TypeAlias, cast

Call: TypeAlias = "tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]"
Answer: TypeAlias = "tuple[Any, BaseException | None, str]"  # result; or error, and its traceback

_POLL: Final = 1.0  # seconds between two checks whether an answer is still wanted
_START: Final = 120.0  # seconds a process may take to start
_EXIT: Final = 1.0  # seconds a process may take to exit
_MEMORY: Final = 8 << 30  # bytes of data that a process may have: chosen, not measured
_PRELOADED: Final = ("mindinsight.server.ingest.piece_reader", "mindinsight.server.formats.events")


class CannotBegin(OSError):  # noqa: N818
    """Error: no worker process can be started."""


class Worker:
    """One child process that performs one call at a time. Raises CannotBegin when none can be started.

    The process calls `begin` before anything else.
    """

    def __init__(self, begin: Callable[[], None] | None = None) -> None:
        context = _context()
        try:
            self._pipe, child_end = context.Pipe()
            self._process = context.Process(target=_serve, args=(child_end, begin), daemon=True)
            self._process.start()
            child_end.close()
        except (OSError, EOFError, RuntimeError) as error:
            raise CannotBegin(str(error)) from error
        self.used = 0.0  # time.monotonic()
        if not self._pipe.poll(_START) or self._answer() is None:
            self.kill()
            self.end()
            raise CannotBegin("a process ended, or hung, before it began")

    def call(self, call: Call, is_wanted: Callable[[], bool]) -> Answer | None:
        """Result, or error, of a call; None when the process ended or ``is_wanted`` became false."""
        try:
            self._pipe.send(call)
        except OSError:
            return None
        while not wait_for([self._pipe, self._process.sentinel], _POLL):
            if not is_wanted():
                return None
        self.used = time.monotonic()
        return self._answer()

    def kill(self) -> None:
        """Send SIGKILL without waiting: a process that waits for a disk does not end at once."""
        self._process.kill()

    def end(self) -> None:
        """Close the pipe, so that the process exits by itself, and wait for that a moment."""
        self._pipe.close()
        self._process.join(_EXIT)
        self._process.kill()

    def _answer(self) -> Answer | None:
        with contextlib.suppress(EOFError, OSError):
            return cast(Answer, self._pipe.recv()) if self._pipe.poll() else None
        return None


def _context() -> Any:
    """The multiprocessing context; not "fork", as this process has threads."""
    context: Any = multiprocessing.get_context("forkserver" if hasattr(os, "fork") else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        context.set_forkserver_preload(list(_PRELOADED))
    return context


def _serve(pipe: Connection[Any, Any], begin: Callable[[], None] | None) -> None:
    """Main loop of the child: perform calls until the pipe is closed."""
    live_with_parent()
    limit_memory(_MEMORY)
    if begin is not None:
        begin()
    pipe.send(True)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_answered(pipe.recv_bytes()))


def _answered(call: bytes) -> bytes:
    try:
        function, args, kwargs = pickle.loads(call)  # from our own parent
        return pickle.dumps((function(*args, **kwargs), None, ""), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        trace = traceback.format_exc()
        with contextlib.suppress(Exception):
            return pickle.dumps((None, error, trace))
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}"), trace))


def limit_memory(size: int) -> None:
    """Have this process get a MemoryError above so many bytes of data, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = size if hard == resource.RLIM_INFINITY else min(size, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def live_with_parent() -> None:
    """Ignore Ctrl-C, which is the parent's, and exit when the parent is gone, even killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
