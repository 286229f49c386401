"""Routes that list dumps, with their ranks, steps, graphs and log files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mindinsight.server.errors import ApiError
from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.plugins.dump.dump_requests import (
    DumpId,
    Rank,
    Step,
    damage_json,
    open_known_dump,
    unreadable_error,
)

router = APIRouter(route_class=DumpRoute)


@router.get("/list")
def dumps(service: CurrentService) -> dict[str, Any]:
    """List the dumps below the base directories with their runs."""
    snapshot = service.store.snapshot()
    rows = [{"id": dump, "run": run.id} for run in snapshot.runs.values() for dump in run.dumps]
    return {"version": snapshot.version, "dumps": sorted(rows, key=lambda row: row["id"])}


@router.get("/summary")
def summary(service: CurrentService, dump: DumpId) -> dict[str, Any]:
    """Return the summary of a dump: the tool that wrote it, its ranks, steps and graphs.

    No tensor is listed.
    """
    opened = open_known_dump(service, dump)
    names = ("layout", "framework", "version", "device", "level", "task", "config")
    return {
        "id": dump,
        **{name: getattr(opened, name) for name in names},
        "ranks": [
            {"rank": rank, "name": name, "steps": opened.steps(rank)} for rank, name in opened.rank_names
        ],
        "graphs": opened.graphs(),
        "logs": len(opened.logs),
        "damage": [damage_json(damage) for damage in opened.damage],
    }


@router.get("/overflows")
def overflows(service: CurrentService, dump: DumpId, rank: Rank = 0, step: Step = 0) -> dict[str, Any]:
    """Return the overflows that the device reported at a rank and step, with their operators."""
    listing = list_overflows(open_known_dump(service, dump), rank, step)
    names = ("graph", "unit", "status", "task", "stream", "operator")
    rows = [{name: getattr(overflow, name) for name in names} for overflow in listing.items]
    return {"overflows": rows, "damage": [damage_json(damage) for damage in listing.damage]}


_SECTION: Final = 256_000  # bytes of text in one response
_MAX_OFFSET: Final = 1 << 53  # bytes; beyond the limits of file systems


@router.get("/logs")
def logs(service: CurrentService, dump: DumpId) -> dict[str, Any]:
    """Return the log files of a dump."""
    files = open_known_dump(service, dump).logs
    names = ("rank", "module", "name", "graph", "time", "sequence", "kind", "size")
    rows = [
        {"file": Path(log_file.path).name, **{name: getattr(log_file, name) for name in names}}
        for log_file in files
    ]
    return {"logs": rows}


@router.get("/log")
def log(
    service: CurrentService,
    dump: DumpId,
    file: Annotated[str, Query(description="name as listed")],
    rank: Annotated[int, Query(ge=0)] = 0,
    offset: Annotated[int, Query(ge=0, le=_MAX_OFFSET, description="bytes")] = 0,
) -> dict[str, Any]:
    """Return a section of a log file as text. `next` is the offset of the next section, null at the end."""
    matches = [
        log_file
        for log_file in open_known_dump(service, dump).logs
        if log_file.rank == rank and Path(log_file.path).name == file
    ]
    if not matches or matches[0].kind == "pb":
        raise ApiError(404, "unknown_log", f"There is no text {file!r}.", file=file)
    try:
        with opened(Path(matches[0].path)) as stream:
            stream.seek(offset)
            content = stream.read(_SECTION)
    except UnreadableError as error:
        raise unreadable_error(error) from None
    end = offset + len(content)
    return {"text": content.decode("utf-8", "replace"), "next": end if len(content) == _SECTION else None}
