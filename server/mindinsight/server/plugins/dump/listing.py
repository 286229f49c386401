"""Which dumps there are, and what one holds: ranks, steps, graphs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from mindinsight.server.formats.dumps import list_overflows
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.plugins.dump.facts import damage_facts
from mindinsight.server.plugins.dump.lookup import DumpId, Rank, Step, Uses, opened

router = APIRouter(route_class=DumpRoute)


@router.get("/list")
def dumps(service: Uses) -> dict[str, Any]:
    """Every dump below the base directory with the run it belongs to."""
    snapshot = service.store.snapshot()
    found = [{"id": dump, "run": run.id} for run in snapshot.runs.values() for dump in run.dumps]
    return {"version": snapshot.version, "dumps": sorted(found, key=lambda each: each["id"])}


@router.get("/summary")
def summary(service: Uses, dump: DumpId) -> dict[str, Any]:
    """Who wrote a dump, and its ranks, steps and graphs. No tensor is listed."""
    found = opened(service, dump)
    return {
        "id": dump,
        "layout": found.layout,
        "framework": found.framework,
        "version": found.version,
        "device": found.device,
        "level": found.level,
        "task": found.task,
        "config": found.config,
        "ranks": [
            {"rank": rank, "name": name, "steps": found.steps(rank)} for rank, name in found.rank_names
        ],
        "graphs": found.graphs(),
        "logs": len(found.logs),
        "damage": [damage_facts(each) for each in found.damage],
    }


@router.get("/overflows")
def overflows(service: Uses, dump: DumpId, rank: Rank = 0, step: Step = 0) -> dict[str, Any]:
    """Overflows the device reported in a step, with the operators they name."""
    found = list_overflows(opened(service, dump), rank, step)
    rows = [
        {
            "graph": e.graph,
            "unit": e.unit,
            "status": e.status,
            "task": e.task,
            "stream": e.stream,
            "operator": e.operator,
        }
        for e in found.items
    ]
    return {"overflows": rows, "damage": [damage_facts(each) for each in found.damage]}
