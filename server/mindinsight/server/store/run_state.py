"""State of a run: running, quiet, stopped or finished; and its files that end in an unfinished record.

It is derived from the times that the events carry, not from the times of the files, which a copy renews.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from mindinsight.server.store import file_names
from mindinsight.server.store.run import Run
from mindinsight.server.types import FileState

State: TypeAlias = Literal["running", "quiet", "stopped", "finished", "failed"]

QUIET: Final = 120.0  # seconds without an event after which a run is not called running
STOPPED: Final = 3600.0  # seconds without an event after which an unclosed run is called stopped


def state_of(run: Run, now: float) -> State:
    """``finished`` or ``failed`` where the writer closed the files, else by the time since the last event."""
    if run.finished:
        return "failed" if run.failure else "finished"
    age = now - run.last_event
    return "running" if age < QUIET else "quiet" if age < STOPPED else "stopped"


def is_finished(files: Iterable[FileState]) -> bool:
    """Whether the writer closed the newest event file of every rank and left no unfinished record.

    ``files`` are in order, oldest first. Without event files all files count.
    """
    newest = _newest(files).values()
    return bool(newest) and all(file.closed and not file.pending and not file.error for file in newest)


def failure(files: Iterable[FileState]) -> str:
    """The exception that ended the training, from the newest event file of any rank; empty without one."""
    return next((file.failure for file in _newest(files).values() if file.failure), "")


def last_event(files: Iterable[FileState], updated: float) -> float:
    """Unix seconds of the last event; the newest write where no event carries a believable time.

    An event cannot be newer than the write that brought it: ``updated`` is the limit.
    """
    latest = max((file.last_event for file in files), default=0.0)
    return min(latest, updated) if latest else updated


def first_event(files: Iterable[FileState], created: float) -> float:
    """Unix seconds of the first event; ``created`` where no event carries a believable time."""
    return min((file.first_event for file in files if file.first_event), default=created)


def torn_since(run: Run) -> dict[str, float]:
    """Files that end in an unfinished record, by name, and from when on (Unix seconds) nobody completes it.

    At once where the file was closed or a newer one follows it, else when the run is no longer running.
    """
    newest = {file.name for file in _newest(run.files).values()}
    return {
        file.name: run.last_event + QUIET if file.name in newest and not file.closed else 0.0
        for file in run.files
        if file.pending
    }


def torn_files(run: Run, now: float) -> list[FileState]:
    """Files whose unfinished record will not be completed."""
    since = torn_since(run)
    return [file for file in run.files if since.get(file.name, now + 1) <= now]


def _newest(files: Iterable[FileState]) -> dict[int | None, FileState]:
    """The newest event file of each rank; without event files every file, by its number."""
    every = list(files)
    if len(every) < 2:
        return dict(enumerate(every))
    events = {file_names.device(file.name): file for file in every if file_names.role(file.name) == "summary"}
    return events or dict(enumerate(every))
