"""Ids of dumps from the relative paths that alerts carry."""

from __future__ import annotations

import posixpath
from collections.abc import Container

from mindinsight.server.store.mounts import BASE
from mindinsight.server.store.run import Run


def dump_id(run: Run, relative: str, known: Container[str]) -> str | None:
    """Id of the dump at a path relative to the directory of a run's event files.

    None where ``known``, the discovered dumps, have no such id: nothing outside the base is ever named. Ranks
    whose files lie in one folder have ids of folders that do not exist; their folder is that of the job.
    """
    if not relative:
        return None
    for folder in (run.id, run.job):
        path = posixpath.normpath(posixpath.join(folder.removeprefix(BASE), relative))
        if BASE + path in known:
            return BASE + path
    return None
