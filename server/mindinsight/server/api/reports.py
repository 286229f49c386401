"""Routes of reports: one is made in the background, asked after, and downloaded as one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.errors import ApiError
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.report import Page, Progress, ReportSource, make_report
from mindinsight.server.store.mounts import disk_path

router = APIRouter(route_class=DumpRoute, prefix="/v2/report", tags=["report"])

Uses = Annotated[Service, Depends(service_of)]
Part = Progress | Page


@router.post("")
def start(
    service: Uses,
    run: Annotated[str, Query(description="run id")],
    language: Literal["en", "zh"] = "en",
) -> dict[str, int]:
    """Begin with the report of a run; its progress and page are asked for by the number in the response."""
    snapshot = service.store.snapshot()
    settings = service.settings
    cache = StatisticsCache(settings.workspace / "cache" / "statistics.sqlite") if settings.cache else None
    source = ReportSource(snapshot.run(run), snapshot.runs, _paths(service), service.executor, cache)
    job = BackgroundJob[Part](lambda: make_report(source, language))
    return {"report": service.parts.of(SessionCache).add(job)}


@router.get("/{number}")
def progress(service: Uses, number: int) -> dict[str, Any]:
    """How far a report is: ``key`` is a text of the locale files for the work at hand."""
    job = _job(service, number)
    newest = next((part for part in reversed(list(job.items)) if isinstance(part, Progress)), None)
    return {
        "done": job.done,
        "error": job.error,
        "progress": None if newest is None else newest._asdict(),
    }


@router.get("/{number}/page")
def page(service: Uses, number: int, name: Annotated[str, Query(max_length=200)] = "report") -> Response:
    """The finished report, as a download of this name."""
    job = _job(service, number)
    made = next((part for part in reversed(list(job.items)) if isinstance(part, Page)), None)
    if made is None:
        raise ApiError(409, "report_not_done", "The report is not ready yet.")
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}.html"
    body = made.html.encode("utf-8", "backslashreplace")
    return Response(body, media_type="text/html", headers={"Content-Disposition": disposition})


def _job(service: Service, number: int) -> BackgroundJob[Part]:
    job: BackgroundJob[Part] | None = service.parts.of(SessionCache).find(number, BackgroundJob)
    if job is None or (job.items and not isinstance(job.items[0], (Progress, Page))):
        raise ApiError(404, "unknown_report", f"There is no report {number} any more.", number=number)
    return job


def _paths(service: Service) -> Callable[[str], Path]:
    known = {dump for run in service.store.snapshot().runs.values() for dump in run.dumps}

    def path_of(dump: str) -> Path:
        if dump not in known:
            raise KeyError(dump)
        return disk_path(service.settings.summary_base_dir, dump)

    return path_of
