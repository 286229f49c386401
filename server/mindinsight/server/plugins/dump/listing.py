"""Routes that list dumps, and the ranks, steps and graphs of one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.dependencies import DumpId, Rank, Step, Uses, open_known_dump
from mindinsight.server.plugins.dump.encoders import damage_json

router = APIRouter(route_class=DumpRoute)


@router.get("/list")
def dumps(service: Uses) -> dict[str, Any]:
    """List the dumps below the base directories with the runs they belong to."""
    snapshot = service.store.snapshot()
    rows = [{"id": dump, "run": run.id} for run in snapshot.runs.values() for dump in run.dumps]
    return {"version": snapshot.version, "dumps": sorted(rows, key=lambda row: row["id"])}


@router.get("/summary")
def summary(service: Uses, dump: DumpId) -> dict[str, Any]:
    """Summary of a dump: the tool that wrote it, its ranks, steps and graphs. No tensor is listed."""
    opened = open_known_dump(service, dump)
    return {
        "id": dump,
        "layout": opened.layout,
        "framework": opened.framework,
        "version": opened.version,
        "device": opened.device,
        "level": opened.level,
        "task": opened.task,
        "config": opened.config,
        "ranks": [
            {"rank": rank, "name": name, "steps": opened.steps(rank)} for rank, name in opened.rank_names
        ],
        "graphs": opened.graphs(),
        "logs": len(opened.logs),
        "damage": [damage_json(damage) for damage in opened.damage],
    }


@router.get("/overflows")
def overflows(service: Uses, dump: DumpId, rank: Rank = 0, step: Step = 0) -> dict[str, Any]:
    """Overflows that the device reported at a rank and step, with their operators."""
    listing = list_overflows(open_known_dump(service, dump), rank, step)
    rows = [
        {
            "graph": overflow.graph,
            "unit": overflow.unit,
            "status": overflow.status,
            "task": overflow.task,
            "stream": overflow.stream,
            "operator": overflow.operator,
        }
        for overflow in listing.items
    ]
    return {"overflows": rows, "damage": [damage_json(damage) for damage in listing.damage]}
