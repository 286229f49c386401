"""Routes of reports: one is made in the background, asked after, and downloaded as one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel
from starlette.responses import Response

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.errors import ApiError
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.report import Page, Progress, ReportSource, make_report
from mindinsight.server.store.mounts import disk_path

router = APIRouter(route_class=DumpRoute, prefix="/v2/report", tags=["report"])

Uses = Annotated[Service, Depends(service_of)]
Part = Progress | Page


class Report(BaseModel):
    """Request of a report."""

    run: str
    language: Literal["en", "zh"]


def _report(service: Service, body: Report) -> BackgroundJob[Part]:
    snapshot = service.store.snapshot()
    settings = service.settings
    cache = StatisticsCache(settings.workspace / "cache" / "statistics.sqlite") if settings.cache else None
    source = ReportSource(snapshot.run(body.run), snapshot.runs, _paths(service), service.executor, cache)
    return BackgroundJob[Part](service.jobs, lambda: make_report(source, body.language))


REPORT: Final = NumberedJob("report", Report, _report)


@router.post("")
def start(
    service: Uses,
    run: Annotated[str, Query(description="run id")],
    language: Literal["en", "zh"] = "en",
) -> dict[str, int]:
    """Begin with the report of a run; its progress and page are asked for by the number in the response."""
    return {"report": REPORT.start(service, Report(run=run, language=language))}


@router.get("/{number}")
def progress(service: Uses, number: int) -> dict[str, Any]:
    """How far a report is: ``key`` is a text of the locale files for the work at hand."""
    job = REPORT.find(service, number)
    newest = next((part for part in reversed(list(job.items)) if isinstance(part, Progress)), None)
    return {
        "done": job.done,
        "error": job.error,
        "progress": None if newest is None else newest._asdict(),
    }


@router.get("/{number}/page")
def page(service: Uses, number: int, name: Annotated[str, Query(max_length=200)] = "report") -> Response:
    """The finished report, as a download of this name."""
    job = REPORT.find(service, number)
    made = next((part for part in reversed(list(job.items)) if isinstance(part, Page)), None)
    if made is None:
        raise ApiError(409, "report_not_done", "The report is not ready yet.")
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}.html"
    body = made.html.encode("utf-8", "backslashreplace")
    return Response(body, media_type="text/html", headers={"Content-Disposition": disposition})


def _paths(service: Service) -> Callable[[str], Path]:
    known = {dump for run in service.store.snapshot().runs.values() for dump in run.dumps}

    def path_of(dump: str) -> Path:
        if dump not in known:
            raise KeyError(dump)
        return disk_path(service.settings.summary_base_dir, dump)

    return path_of
