"""Answers about runs that pages ask for first: the list of runs, and the tags of a kind. Without FastAPI."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import Response

from mindinsight.server.api.listing import Listing, Marks
from mindinsight.server.http.service import Service
from mindinsight.server.store.run import Run, Snapshot, Trouble
from mindinsight.server.workspace.slots import jobs_by_age

MOST_RUNS: Final = 1000


class RunsQuery(BaseModel):
    """Query of runs."""

    run: list[str] | None = Field(None, max_length=MOST_RUNS)


class TagsQuery(BaseModel):
    """Query of the tags of one kind."""

    kind: str = "scalar"
    run: list[str] | None = Field(None, max_length=MOST_RUNS)
    job: str | None = Field(None, description="only the ranks of this job")
    brief: bool = False


async def runs(state: State, headers: Headers, query: RunsQuery) -> Response:
    """Every run (or the asked ones) with what a list shows of it."""
    accepted = headers.get("if-none-match", ""), headers.get("accept-encoding", "")
    # in a thread: it may write the colours of new runs
    return await run_in_threadpool(run_list, state.service, *accepted, query.run)


async def tags(state: State, headers: Headers, query: TagsQuery) -> Response:
    """The tags of a kind with the runs that have them, or (``brief``) how many; of some runs or a job."""
    return tag_list(state.service.store.snapshot(), query.kind, query.run, query.job, query.brief)


def run_list(
    service: Service, if_none_match: str, accept_encoding: str, runs: Collection[str] | None = None
) -> Response:
    """Every run (or those of ``runs``) as JSON; 304 where it is what the client has."""
    snapshot, listing = service.store.snapshot(), service.parts.of(Listing)
    troubles = [Trouble("", "workers.missing")] if service.workers_missing else []
    notes, defaults = service.workspace.notes, service.workspace.defaults
    etag = f'"{snapshot.version}-{notes.version}-{defaults.version}-{len(troubles)}"'
    headers = {"ETag": etag}
    if etag == if_none_match:
        return Response(status_code=304, headers=headers)
    every, slots = snapshot.runs, service.workspace.slots.of(jobs_by_age(snapshot.runs.values()))
    marks = Marks(notes.all(), slots, defaults.all())
    if runs is not None:
        body = listing.some(snapshot, marks, [every[run_id] for run_id in runs if run_id in every], troubles)
    else:
        whole = listing.whole(snapshot, marks, etag, troubles)
        packed = "gzip" in accept_encoding
        body = whole.packed if packed else whole.plain
        headers |= {"Vary": "Accept-Encoding", **({"Content-Encoding": "gzip"} if packed else {})}
    return Response(body, media_type="application/json", headers=headers)


def tag_list(
    snapshot: Snapshot, kind: str, runs: Collection[str] | None, job: str | None, brief: bool
) -> Response:
    """The tags of a kind with the runs that have them, or (``brief``) how many; of some runs or a job."""
    chosen = None if runs is None else frozenset(runs)
    holders: dict[str, list[str]] = {}
    for run in snapshot.runs.values():
        if (chosen is None or run.id in chosen) and job in (None, run.job):
            for tag in _tags_of(run, kind):
                holders.setdefault(tag, []).append(run.id)
    rows = [
        {"tag": tag, "count": len(having), **({} if brief else {"runs": having})}
        for tag, having in sorted(holders.items())
    ]
    content = {"version": snapshot.version, "tags": rows}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8", "backslashreplace"), media_type="application/json")


def _tags_of(run: Run, kind: str) -> Any:
    """The tags of one kind in one run."""
    return run.scalars.keys() if kind == "scalar" else run.references.get(kind, {}).keys()
