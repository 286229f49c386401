"""Runs, their files and tags, and what people write on them."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from mindinsight.server.api.facts import finite, hyper_of, metrics_of
from mindinsight.server.errors import ApiError, unknown_run
from mindinsight.server.service import Service, service_of
from mindinsight.server.store.run import Run
from mindinsight.server.types import FileState
from mindinsight.server.workspace import MAX_LABELS, MAX_NOTE, Note

router = APIRouter(tags=["runs"])
OneService = Annotated[Service, Depends(service_of)]
Label = Annotated[str, Field(min_length=1, max_length=100)]
SomeRuns = Annotated[list[str] | None, Query(max_length=1000)]


@router.get("/v2/runs")
def runs(service: OneService, run: SomeRuns = None, if_none_match: Annotated[str, Header()] = "") -> Response:
    """Every run (or the asked ones) with what a list shows of it."""
    snapshot = service.store.snapshot()
    etag = f'"{snapshot.version}-{service.workspace.version}"'
    if etag == if_none_match:
        return Response(status_code=304, headers={"ETag": etag})
    every = snapshot.runs
    chosen = every.values() if run is None else [every[one] for one in run if one in every]
    notes = service.workspace.notes()
    body = {
        "version": snapshot.version,
        "base": snapshot.base,
        "base_missing": snapshot.base_missing,
        "left_out": snapshot.left_out,
        "watch": snapshot.watch,
        "scanned": snapshot.scanned,
        "now": time.time(),
        "errors": [{"path": trouble.path, "reason": trouble.reason} for trouble in snapshot.errors],
        "runs": [_summary(one, notes.get(one.id, Note())) for one in chosen],
    }
    return JSONResponse(body, headers={"ETag": etag})


def _summary(run: Run, note: Note) -> dict[str, Any]:
    kinds = {kind: len(tags) for kind, tags in run.references.items() if tags}
    return {
        "id": run.id,
        "name": run.name,
        "job": run.job,
        "rank": run.rank,
        "created": run.created,
        "updated": run.updated,
        "size": run.size,
        "read": run.read,
        "total": run.total,
        "damage": sum(len(file.damage) + bool(file.error) for file in run.files),
        "step": max((series.last_step for series in run.scalars.values()), default=-1),
        "kinds": {"scalar": len(run.scalars), **kinds} if run.scalars else kinds,
        "lineage": run.lineage is not None,
        "hyper": finite(hyper_of(run.lineage)),
        "metrics": finite(metrics_of(run.lineage)),
        "dumps": list(run.dumps),
        "hidden": note.hidden,
        "pinned": note.pinned,
        "note": note.note,
        "labels": note.labels,
        "chosen": note.colour,
    }


@router.get("/v2/runs/files")
def files(service: OneService, run: str) -> dict[str, Any]:
    """The files of one run: how far each has been read, and every stretch that could not be."""
    found = service.store.snapshot().runs.get(run)
    if found is None:
        raise unknown_run(run)
    service.loader.want([run])
    return {"run": run, "files": [_file(file) for file in found.files]}


def _file(file: FileState) -> dict[str, Any]:
    return {
        "name": file.name,
        "size": file.size,
        "modified": file.modified,
        "read": file.read,
        "pending": file.pending,
        "error": file.error,
        "skipped": dict(file.skipped),
        "damage": [{"offset": one.offset, "size": one.size, "reason": one.reason} for one in file.damage],
    }


@router.get("/v2/tags")
def tags(
    service: OneService, kind: str = "scalar", run: SomeRuns = None, brief: bool = False
) -> dict[str, Any]:
    """The tags of a kind with the runs that have them, or (``brief``) how many; ``run`` narrows it."""
    snapshot = service.store.snapshot()
    found: dict[str, list[str]] = {}
    for one in snapshot.runs.values():
        if run is None or one.id in run:
            for tag in tags_of(one, kind):
                found.setdefault(tag, []).append(one.id)
    rows = [
        {"tag": tag, "count": len(having), **({} if brief else {"runs": having})}
        for tag, having in sorted(found.items())
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
        if fields.get("pinned"):
            for other in [run for run, note in service.workspace.notes().items() if note.pinned]:
                service.workspace.change(other, pinned=False)
        note = service.workspace.change(change.run, **fields)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ApiError(507, "not_kept", f"The note could not be kept: {why}.", why=why) from error
    return {"run": change.run, **asdict(note)}
