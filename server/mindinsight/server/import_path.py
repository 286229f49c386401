"""Processes that import no modules from the working directory, where others may have written files.

`python -c` and `python -m` look there first. Python 3.11 and later leave it out if `SAFE_PATH` is in their
environment.
"""

import multiprocessing
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

SAFE_PATH: Final[Mapping[str, str]] = {"PYTHONSAFEPATH": "1"}
_BEFORE: Final = {name: os.environ.get(name) for name in SAFE_PATH}


def safe_context(preload: Sequence[str]) -> Any:
    """Return the context of `multiprocessing` in which to start worker processes. Raises OSError.

    Where there is "fork", they are forked from a process that is started here, unless it runs, and that has
    imported the modules to `preload`. Only that process gets `SAFE_PATH`, not the programs that a user starts
    from this one.
    """
    if not hasattr(os, "fork"):
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver  # it cannot be imported on Windows

    forkserver.set_forkserver_preload(list(preload))
    os.environ.update(SAFE_PATH)
    try:
        forkserver.ensure_running()
    finally:
        for name, value in _BEFORE.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})
    return multiprocessing.get_context("forkserver")  # not "fork", as this process has threads
