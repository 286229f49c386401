"""Routes that move runs to the trash beside their base directory, and back."""

import posixpath
import time
from collections.abc import Callable, Collection
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter
from pydantic import BaseModel, Field

from mindinsight.server.api.run_answers import MOST_RUNS
from mindinsight.server.errors import ApiError, unknown_run
from mindinsight.server.files import trash
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.service import Service
from mindinsight.server.settings.base_dirs import is_url
from mindinsight.server.store.mounts import mount_of, mounts_of
from mindinsight.server.store.run import QUIET, Run

router = APIRouter(tags=["runs"])
Runs = Annotated[list[str], Field(min_length=1, max_length=MOST_RUNS)]
Reason: TypeAlias = dict[str, str]


class Discarded(BaseModel):
    """Runs to move to the trash."""

    runs: Runs


class Restored(BaseModel):
    """Runs to move back from the folder `stamp` of the trash."""

    runs: Runs
    stamp: str = Field(pattern=trash.STAMP)


@router.get("/v2/runs/trash")
def listing(service: CurrentService) -> dict[str, Any]:
    """Return the directories in the trash, the last moved first, at most 1000 of them. Each has its
    `stamp`, and as `deleted` the time of the move in Unix seconds. The list is empty if the server does
    not allow moving runs."""
    if not _may_move(service):
        return {"runs": []}
    mounts = [mount for mount in mounts_of(service.settings.summary_base_dir) if not is_url(mount.path)]
    entries: list[dict[str, Any]] = [
        {"run": posixpath.join(mount.id, entry.below), "stamp": entry.stamp, "deleted": entry.deleted}
        for mount in mounts
        for entry in islice(trash.discarded(Path(mount.real)), MOST_RUNS)
    ]
    return {"runs": sorted(entries, key=lambda entry: entry["stamp"], reverse=True)[:MOST_RUNS]}


@router.post("/v2/runs/trash")
def discard(request: Discarded, service: CurrentService) -> dict[str, Any]:
    """Move the directories of runs into the trash folder `stamp` beside their base directory. Returns 404 for
    an unknown run, and 403 if the server does not allow moving runs.

    `moved` lists the moved runs. `refused` gives for each run that stays the reason: a key of the locale
    files, and the error if there is one. A run inside another one of the request moves with it and is not
    listed.
    """
    runs, stamp, now = service.store.snapshot().runs, trash.new_stamp(), time.time()
    for run in request.runs:
        if run not in runs:
            raise unknown_run(run)
    wanted = frozenset(request.runs)

    def move(run: str) -> Reason | None:
        inside = {other for other in runs if _is_inside(other, run)}
        if inside - wanted:
            return {"key": "trash.holds_runs"}
        if any(_is_growing(runs[other], now) for other in (run, *inside)):
            return {"key": "trash.running"}
        return _moved(service, run, lambda base, below: trash.discard(base, below, stamp))

    outer = [run for run in request.runs if not any(_is_inside(run, other) for other in wanted)]
    return {"stamp": stamp, **_each(service, outer, move)}


@router.post("/v2/runs/trash/restore")
def restore(request: Restored, service: CurrentService) -> dict[str, Any]:
    """Move runs back from the trash, and return those moved and the reasons for the others, as `discard`
    does. Returns 403 if the server does not allow moving runs."""

    def move(run: str) -> Reason | None:
        return _moved(service, run, lambda base, below: trash.restore(base, below, request.stamp))

    return _each(service, request.runs, move)


def _each(service: Service, runs: Collection[str], move: Callable[[str], Reason | None]) -> dict[str, Any]:
    """Call `move` for each run, and return the moved runs, and the reasons for those that stay. Raises
    ApiError if moving is not allowed."""
    if not _may_move(service):
        text = "Start the server with --allow-delete, and with a token if others can reach it."
        raise ApiError(403, "may_not_delete", text)
    reasons = {run: move(run) for run in runs}
    return {
        "moved": [run for run, reason in reasons.items() if not reason],
        "refused": {run: reason for run, reason in reasons.items() if reason},
    }


def _may_move(service: Service) -> bool:
    """Return True if the server may move runs: deletion is enabled, and only authorized clients reach it."""
    return service.settings.allow_delete and service.settings.guarded


def _moved(service: Service, run: str, move: Callable[[Path, str], None]) -> Reason | None:
    """Move a run's directory by ``move(base directory, path below it)``, and return the reason if it stays,
    or None."""
    try:
        mount = mount_of(service.settings.summary_base_dir, run)
        below = run.removeprefix(mount.id).strip("/")
        if is_url(mount.path):
            return {"key": "trash.store"}
        if not below:
            return {"key": "trash.base"}
        move(Path(mount.real), below)
    except KeyError:
        return {"key": "trash.failed", "why": "the base directory was removed"}
    except OSError as error:
        return {"key": "trash.failed", "why": error.strerror or type(error).__name__}
    return None


def _is_inside(run: str, other: str) -> bool:
    """Return True if the directory of a run is below that of another one."""
    return run.startswith(f"{other.rstrip('/')}/") and run != other


def _is_growing(run: Run, now: float) -> bool:
    """Return True if a run has no recorded end and its files or dumps were written shortly before ``now``."""
    return not run.finished and now - run.last_event < QUIET
