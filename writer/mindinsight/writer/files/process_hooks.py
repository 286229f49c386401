"""Hooks for forked children and for workers that end without atexit."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable


def call_in_children(method: Callable[[], None]) -> None:
    """Call the bound ``method`` first thing in every child forked while its object lives."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        if bound := reference():
            bound()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=call)


def call_at_worker_exit(function: Callable[[], None]) -> None:
    """Call ``function`` when this process ends, if it is one of multiprocessing's: those skip atexit."""
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, function, exitpriority=0)


def fatal_error() -> BaseException | None:
    """Return the exception that nobody caught and that ends this process; None in an interactive session.

    There ``sys.last_value`` is that of any earlier statement, and the session went on.
    """
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return None
    error = getattr(sys, "last_value", None)
    return error if isinstance(error, BaseException) else None
