"""Routes of reports: documents that users write, and reports of one run made in the background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.markdown_tree import markdown_tree
from mindinsight.server.http.bulkhead_routes import DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.openapi import ErrorBody, response
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.report import Page, Progress, ReportSource, make_report
from mindinsight.server.store.mounts import disk_path
from mindinsight.server.workspace.json_store import Full, storing
from mindinsight.server.workspace.report_documents import (
    END,
    MAX_BLOCKS,
    MAX_REPORTS,
    MAX_TEXT,
    MAX_TITLE,
    Block,
    Outdated,
    Report,
)
from mindinsight.server.workspace.saved_views import MAX_QUERY, QUERY, VIEW

router = APIRouter(
    prefix="/v2/reports",
    tags=["reports"],
    responses={409: response("Somebody else changed the text, or there is no room for more.", ErrorBody)},
)
Uses = Annotated[Service, Depends(service_of)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Anchor = Annotated[str, Field(max_length=40, description='id of a block, "" for the top or "end"')]
Frozen = Annotated[str, Field(description="JSON: the tree of elements and the figures of the card")]
PAGE: Final = "reports"  # a report in a report could contain itself
_UNKNOWN: Final = ApiError(404, "unknown_written_report", "There is no such report, or no such block in it.")
_REFUSALS: Final[dict[type[Exception], ApiError]] = {
    KeyError: _UNKNOWN,
    Outdated: ApiError(409, "block_changed", "Somebody else changed this text meanwhile."),
    Full: ApiError(
        409,
        "many_reports",
        f"There are {MAX_REPORTS} reports, or {MAX_BLOCKS} blocks in this one.",
        reports=MAX_REPORTS,
        blocks=MAX_BLOCKS,
    ),
}


class Name(BaseModel):
    title: Title


class Pin(BaseModel):
    """Card of a page, or with no title the whole page."""

    view: str = Field(pattern=VIEW)
    query: str = Field("", pattern=QUERY, max_length=MAX_QUERY)
    card: str = Field("", max_length=20_000, description="title of the card")
    position: int = Field(0, ge=0, lt=1_000_000, description="of the card among those of its title")
    frozen: Frozen | None = None


class NewBlock(BaseModel):
    """Block: a text, or a pinned card with the text as its caption."""

    after: Anchor = END
    text: Text = ""
    pin: Pin | None = None


class NewText(BaseModel):
    text: Text
    version: int


class Change(BaseModel):
    """Change of a block that is no change of its text."""

    action: Literal["move", "freeze", "thaw"]
    after: Anchor = END
    frozen: Frozen | None = None


@router.get("")
def reports(service: Uses) -> dict[str, Any]:
    """Every report without its blocks, in the order in which they were begun."""
    return {
        "reports": [
            {"id": report_id, "title": report.title, "changed": report.changed, "blocks": len(report.blocks)}
            for report_id, report in service.workspace.reports.all().items()
        ]
    }


@router.post("")
def begin(body: Name, service: Uses) -> dict[str, Any]:
    """Begin a report."""
    with storing(_REFUSALS):
        return read(service.workspace.reports.add(body.title), service)


@router.get("/{report_id}")
def read(report_id: str, service: Uses) -> dict[str, Any]:
    """A report: texts as they were written and as a tree of elements."""
    report: Report | None = service.workspace.reports.all().get(report_id)
    if report is None:
        raise _UNKNOWN
    blocks = [{**asdict(block), "tree": markdown_tree(block.text)} for block in report.blocks]
    return {"id": report_id, "title": report.title, "changed": report.changed, "blocks": blocks}


@router.patch("/{report_id}")
def rename(report_id: str, body: Name, service: Uses) -> dict[str, Any]:
    """Rename a report."""
    with storing(_REFUSALS):
        service.workspace.reports.rename(report_id, body.title)
    return read(report_id, service)


@router.delete("/{report_id}")
def forget(report_id: str, service: Uses) -> dict[str, Any]:
    """Delete a report with its frozen cards."""
    with storing(_REFUSALS):
        service.workspace.reports.forget(report_id)
    return reports(service)


@router.post("/{report_id}/blocks")
def insert(report_id: str, body: NewBlock, request: Request, service: Uses) -> dict[str, Any]:
    """Add a text or a pinned card; the answer is the report and, as ``added``, the block's id."""
    pin = body.pin
    if pin is not None and pin.view not in request.app.state.pages - {PAGE}:
        raise ApiError(404, "unknown_page", f"There is no page {pin.view!r}.", page=pin.view)
    block = Block(text=body.text, **(pin.model_dump(exclude={"frozen"}) if pin else {}))
    with storing(_REFUSALS):
        frozen = pin.frozen if pin else None
        added = service.workspace.reports.insert(report_id, block, body.after, frozen)
    return {**read(report_id, service), "added": added}


@router.put("/{report_id}/blocks/{block_id}")
def write(report_id: str, block_id: str, body: NewText, service: Uses) -> dict[str, Any]:
    """Change a text that was read at ``version``."""
    with storing(_REFUSALS):
        service.workspace.reports.write(report_id, block_id, body.text, body.version)
    return read(report_id, service)


@router.patch("/{report_id}/blocks/{block_id}")
def change(report_id: str, block_id: str, body: Change, service: Uses) -> dict[str, Any]:
    """Move a block, freeze its card as it is, or make it live again."""
    with storing(_REFUSALS):
        if body.action == "move":
            service.workspace.reports.move(report_id, block_id, body.after)
        else:
            frozen = body.frozen if body.action == "freeze" else None
            service.workspace.reports.freeze(report_id, block_id, frozen)
    return read(report_id, service)


@router.delete("/{report_id}/blocks/{block_id}")
def remove(report_id: str, block_id: str, service: Uses) -> dict[str, Any]:
    """Delete a block."""
    with storing(_REFUSALS):
        service.workspace.reports.remove(report_id, block_id)
    return read(report_id, service)


@router.get("/{report_id}/frozen/{name}")
def frozen_card(report_id: str, name: str, service: Uses) -> Response:
    """What a frozen card shows, as it was sent."""
    with storing(_REFUSALS):
        content = service.workspace.reports.frozen(report_id, name)
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-cache"})


run_report_router = APIRouter(route_class=DumpRoute, prefix="/v2/report", tags=["report"])

Part = Progress | Page


class RunReport(BaseModel):
    """Request of a report."""

    run: str
    language: Literal["en", "zh"]


def _report(service: Service, body: RunReport) -> BackgroundJob[Part]:
    snapshot = service.store.snapshot()
    settings = service.settings
    cache = StatisticsCache(settings.workspace / "cache" / "statistics.sqlite") if settings.cache else None
    source = ReportSource(snapshot.run(body.run), snapshot.runs, _paths(service), service.executor, cache)
    return BackgroundJob[Part](service.jobs, lambda: make_report(source, body.language))


REPORT: Final = NumberedJob("report", RunReport, _report)


@run_report_router.post("")
def start(
    service: Uses,
    run: Annotated[str, Query(description="run id")],
    language: Literal["en", "zh"] = "en",
) -> dict[str, int]:
    """Begin with the report of a run; its progress and page are asked for by the number in the response."""
    return {"report": REPORT.start(service, RunReport(run=run, language=language))}


@run_report_router.get("/{number}")
def progress(service: Uses, number: int) -> dict[str, Any]:
    """How far a report is: ``key`` is a text of the locale files for the work at hand."""
    job = REPORT.find(service, number)
    newest = next((part for part in reversed(list(job.items)) if isinstance(part, Progress)), None)
    return {
        "done": job.done,
        "error": job.error,
        "progress": None if newest is None else newest._asdict(),
    }


@run_report_router.get("/{number}/page")
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
