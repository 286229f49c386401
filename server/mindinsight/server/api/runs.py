"""Routes of runs: files and notes. The list and the tags are in ``run_answers``."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from mindinsight.server.errors import not_kept, unknown_run
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.store.run_state import torn_files
from mindinsight.server.types import FileState
from mindinsight.server.workspace.notes import MAX_LABELS, MAX_NOTE

router = APIRouter(tags=["runs"])
OneService = Annotated[Service, Depends(service_of)]
Label = Annotated[str, Field(min_length=1, max_length=100)]
SomeRuns = Annotated[list[str] | None, Query(max_length=1000)]


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
