"""Routes of runs: the list, files, tags and notes."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from mindinsight.server.api.listing import Listing
from mindinsight.server.errors import not_kept, unknown_run
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.store.run import Run, Trouble
from mindinsight.server.store.run_state import torn_files
from mindinsight.server.types import FileState
from mindinsight.server.workspace.notes import MAX_LABELS, MAX_NOTE

router = APIRouter(tags=["runs"])
OneService = Annotated[Service, Depends(service_of)]
Label = Annotated[str, Field(min_length=1, max_length=100)]
SomeRuns = Annotated[list[str] | None, Query(max_length=1000)]


def install(app: FastAPI) -> None:
    app.state.listing = Listing()


@router.get("/v2/runs", response_class=JSONResponse)
def runs(
    request: Request,
    service: OneService,
    run: SomeRuns = None,
    if_none_match: Annotated[str, Header()] = "",
    accept_encoding: Annotated[str, Header()] = "",
) -> Response:
    """Every run (or the asked ones) with what a list shows of it."""
    snapshot, listing = service.store.snapshot(), request.app.state.listing
    troubles = [Trouble("", "workers.missing")] if service.workers_missing else []
    etag = f'"{snapshot.version}-{service.workspace.notes.version}-{len(troubles)}"'
    headers = {"ETag": etag}
    if etag == if_none_match:
        return Response(status_code=304, headers=headers)
    every, notes = snapshot.runs, service.workspace.notes.all()
    if run is not None:
        body = listing.some(snapshot, notes, [every[run_id] for run_id in run if run_id in every], troubles)
    else:
        whole = listing.whole(snapshot, notes, etag, troubles)
        packed = "gzip" in accept_encoding
        body = whole.packed if packed else whole.plain
        headers |= {"Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if packed else {})}
    return Response(body, media_type="application/json", headers=headers)


@router.get("/v2/runs/files")
def files(service: OneService, run: str) -> dict[str, Any]:
    """The files of one run: how far each has been read, and every stretch that could not be."""
    record = service.store.snapshot().run(run)
    service.loader.want([run])
    torn = {file.name for file in torn_files(record, time.time())}
    return {"run": run, "files": [_file(file) | {"torn": file.name in torn} for file in record.files]}


def _file(file: FileState) -> dict[str, Any]:
    return {
        "name": file.name,
        "size": file.size,
        "modified": file.modified,
        "read": file.read,
        "pending": file.pending,
        "error": file.error,
        "closed": file.closed,
        "skipped": dict(file.skipped),
        "damage": [
            {"offset": stretch.offset, "size": stretch.size, "reason": stretch.reason}
            for stretch in file.damage
        ],
    }


@router.get("/v2/tags")
def tags(
    service: OneService,
    kind: str = "scalar",
    run: SomeRuns = None,
    job: Annotated[str | None, Query(description="only the ranks of this job")] = None,
    brief: bool = False,
) -> dict[str, Any]:
    """The tags of a kind with the runs that have them, or (``brief``) how many; of some runs or a job."""
    snapshot = service.store.snapshot()
    holders: dict[str, list[str]] = {}
    for candidate in snapshot.runs.values():
        if (run is None or candidate.id in run) and job in (None, candidate.job):
            for tag in tags_of(candidate, kind):
                holders.setdefault(tag, []).append(candidate.id)
    rows = [
        {"tag": tag, "count": len(having), **({} if brief else {"runs": having})}
        for tag, having in sorted(holders.items())
    ]
    return {"version": snapshot.version, "tags": rows}


def tags_of(run: Run, kind: str) -> Any:
    """The tags of one kind in one run."""
    if kind == "scalar":
        return run.scalars.keys()
    return next((tags.keys() for known, tags in run.references.items() if known == kind), ())


class NoteChange(BaseModel):
    """What to change in a run's note; what is left out stays."""

    run: str
    note: str | None = Field(None, max_length=MAX_NOTE)
    labels: list[Label] | None = Field(None, max_length=MAX_LABELS)
    hidden: bool | None = None
    pinned: bool | None = None
    colour: str | None = Field(None, pattern="^(#[0-9a-fA-F]{6})?$")


@router.patch("/v2/runs/notes")
def annotate(change: NoteChange, service: OneService) -> dict[str, Any]:
    """Keep a note, labels, colour, hidden or pinned (the baseline: one run at most)."""
    if change.run not in service.store.snapshot().runs:
        raise unknown_run(change.run)
    fields = change.model_dump(exclude={"run"}, exclude_none=True)
    if "labels" in fields:
        fields["labels"] = tuple(dict.fromkeys(fields["labels"]))
    try:
        note = service.workspace.notes.change(change.run, **fields)
    except OSError as error:
        raise not_kept(error) from error
    return {"run": change.run, **asdict(note)}
