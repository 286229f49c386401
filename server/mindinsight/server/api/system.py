"""How the server is: for people, for health checks, for Prometheus."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import PlainTextResponse

from mindinsight.server.service import Service, service_of
from mindinsight.server.store.run import Snapshot

router = APIRouter(tags=["system"])
OneService = Annotated[Service, Depends(service_of)]


@router.get("/health")
def health(request: Request, service: OneService) -> dict[str, Any]:
    """Whether the server works, and what of the data is not shown. Names no file and no run."""
    snapshot = service.store.snapshot()
    return {
        "status": "ok",
        "service": "mindinsight",
        "version": request.app.version,
        "base_missing": snapshot.base_missing,
        **_counts(snapshot),
    }


def _counts(snapshot: Snapshot) -> dict[str, int]:
    runs = snapshot.runs.values()
    files = [file for run in runs for file in run.files]
    return {
        "runs": len(runs),
        "runs_left_out": snapshot.left_out,
        "files": len(files),
        "files_unreadable": sum(bool(file.error) for file in files),
        "damaged_stretches": sum(len(file.damage) for file in files),
        "damaged_bytes": sum(one.size for file in files for one in file.damage),
        "records_skipped": sum(count for file in files for _, count in file.skipped),
        "bytes_read": sum(run.read for run in runs),
        "bytes_total": sum(run.total for run in runs),
        "points": sum(series.count for run in runs for series in run.scalars.values()),
    }


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(request: Request, service: OneService) -> str:
    """The same figures as Prometheus text (exposition format 0.0.4)."""
    snapshot = service.store.snapshot()
    hub = request.app.state.hub
    gauges = {
        **_counts(snapshot),
        "base_missing": int(snapshot.base_missing),
        "snapshot_version": snapshot.version,
        "streams_open": hub.streams,
        "streams_dropped": hub.dropped,
        "uptime_seconds": time.time() - service.started,
    }
    lines = [f"# TYPE mindinsight_{name} gauge\nmindinsight_{name} {value}" for name, value in gauges.items()]
    return "\n".join(lines) + "\n"
