"""Routes of reports: documents that users write, and reports of one run created in the background."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from mindinsight.server.api.explanation import explained_report
from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.errors import ApiError
from mindinsight.server.formats.markdown_tree import markdown_tree
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.openapi import ErrorBody, Responses, response
from mindinsight.server.http.responses import attachment
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.dump_requests import cache_of
from mindinsight.server.report import Page, Progress, ReportSource
from mindinsight.server.store.mounts import disk_path
from mindinsight.server.workspace import report_documents
from mindinsight.server.workspace.json_store import Full, storing
from mindinsight.server.workspace.report_documents import Block, Report
from mindinsight.server.workspace.saved_views import MAX_QUERY, QUERY, VIEW

_CONFLICT: Final = "Another user changed the text, or there are too many reports or blocks."
_RESPONSES: Final[Responses] = {409: response(_CONFLICT, ErrorBody)}
router = APIRouter(prefix="/v2/reports", tags=["reports"], responses=_RESPONSES)
_TITLE: Final = report_documents.MAX_TITLE
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_TITLE)]
Text = Annotated[str, StringConstraints(max_length=report_documents.MAX_TEXT)]
Anchor = Annotated[str, Field(max_length=40, description='id of a block, "" for the top or "end"')]
Frozen = Annotated[str, Field(description="JSON: the tree of elements and the figures of the card")]
_REPORTS, _BLOCKS = report_documents.MAX_REPORTS, report_documents.MAX_BLOCKS
PAGE: Final = "reports"  # cannot be pinned, because a report could contain itself
_UNKNOWN: Final = ApiError(404, "unknown_written_report", "There is no such report, or no such block in it.")
_STALE: Final = "Another user has changed this text. Load it again."
_FULL: Final = f"There are {_REPORTS} reports, or {_BLOCKS} blocks in this one."
_ERRORS: Final[dict[type[Exception], ApiError]] = {
    KeyError: _UNKNOWN,
    report_documents.Stale: ApiError(409, "block_changed", _STALE),
    Full: ApiError(409, "many_reports", _FULL, reports=_REPORTS, blocks=_BLOCKS),
}


class Name(BaseModel):
    """Body with the title of a report."""

    title: Title


class Pin(BaseModel):
    """Pin of a card, or of the whole page if `card` is empty, with live content unless `frozen`."""

    view: str = Field(pattern=VIEW)
    query: str = Field("", pattern=QUERY, max_length=MAX_QUERY)
    card: str = Field("", max_length=20_000, description="title of the card")
    position: int = Field(0, ge=0, lt=1_000_000, description="of the card among those of its title")
    frozen: Frozen | None = None


class NewBlock(BaseModel):
    """Block: a text, or a pinned card with the text as its caption."""

    after: Anchor = report_documents.END
    text: Text = ""
    pin: Pin | None = None


class NewText(BaseModel):
    """Body that changes a text which was read at `version`."""

    text: Text
    version: int


class Change(BaseModel):
    """Change of a block other than its text."""

    action: Literal["move", "freeze", "thaw"]
    after: Anchor = report_documents.END
    frozen: Frozen | None = None


@router.get("")
def reports(service: CurrentService) -> dict[str, Any]:
    """Return every report without its blocks, in the order of creation."""
    return {
        "reports": [
            {"id": report_id, "title": report.title, "changed": report.changed, "blocks": len(report.blocks)}
            for report_id, report in service.workspace.reports.all().items()
        ]
    }


@router.post("")
def begin(body: Name, service: CurrentService) -> dict[str, Any]:
    """Create a report and return it. Returns 409 if there are too many reports."""
    with storing(_ERRORS):
        return read(service.workspace.reports.add(body.title), service)


@router.get("/{report_id}")
def read(report_id: str, service: CurrentService) -> dict[str, Any]:
    """Return a report, with texts as written and as a tree of elements. Returns 404 for an unknown report."""
    report: Report | None = service.workspace.reports.all().get(report_id)
    if report is None:
        raise _UNKNOWN
    blocks = [{**asdict(block), "tree": markdown_tree(block.text)} for block in report.blocks]
    return {"id": report_id, "title": report.title, "changed": report.changed, "blocks": blocks}


@router.patch("/{report_id}")
def rename(report_id: str, body: Name, service: CurrentService) -> dict[str, Any]:
    """Rename a report and return it. Returns 404 for an unknown report."""
    with storing(_ERRORS):
        service.workspace.reports.rename(report_id, body.title)
    return read(report_id, service)


@router.delete("/{report_id}")
def forget(report_id: str, service: CurrentService) -> dict[str, Any]:
    """Delete a report with its frozen cards, and return all other reports. Returns 404 for an
    unknown report."""
    with storing(_ERRORS):
        service.workspace.reports.forget(report_id)
    return reports(service)


@router.post("/{report_id}/blocks")
def insert(report_id: str, body: NewBlock, request: Request, service: CurrentService) -> dict[str, Any]:
    """Add a text or a pinned card, and return the report and, as `added`, the id of the block. Returns 404
    for an unknown report, block or page, and 409 if there are too many blocks."""
    pin = body.pin
    if pin is not None and pin.view not in request.app.state.pages - {PAGE}:
        raise ApiError(404, "unknown_page", f"There is no page {pin.view!r}.", page=pin.view)
    block = Block(text=body.text, **(pin.model_dump(exclude={"frozen"}) if pin else {}))
    with storing(_ERRORS):
        frozen = pin.frozen if pin else None
        added = service.workspace.reports.insert(report_id, block, body.after, frozen)
    return {**read(report_id, service), "added": added}


@router.put("/{report_id}/blocks/{block_id}")
def write(report_id: str, block_id: str, body: NewText, service: CurrentService) -> dict[str, Any]:
    """Change a text that was read at `version`, and return the report. Returns 404 for an unknown report or
    block, and 409 if another user has changed the text since."""
    with storing(_ERRORS):
        service.workspace.reports.write(report_id, block_id, body.text, body.version)
    return read(report_id, service)


@router.patch("/{report_id}/blocks/{block_id}")
def change(report_id: str, block_id: str, body: Change, service: CurrentService) -> dict[str, Any]:
    """Move a block, freeze its card with the content in `body`, or make it live again, and return the
    report. Returns 404 for an unknown report or block. Freezing without content also makes the card live."""
    with storing(_ERRORS):
        if body.action == "move":
            service.workspace.reports.move(report_id, block_id, body.after)
        else:
            frozen = body.frozen if body.action == "freeze" else None
            service.workspace.reports.freeze(report_id, block_id, frozen)
    return read(report_id, service)


@router.delete("/{report_id}/blocks/{block_id}")
def remove(report_id: str, block_id: str, service: CurrentService) -> dict[str, Any]:
    """Delete a block, and return the report. Returns 404 for an unknown report or block."""
    with storing(_ERRORS):
        service.workspace.reports.remove(report_id, block_id)
    return read(report_id, service)


@router.get("/{report_id}/frozen/{name}")
def frozen_card(report_id: str, name: str, service: CurrentService) -> Response:
    """Return the content of a frozen card as it was sent. Returns 404 for an unknown report or card."""
    with storing(_ERRORS):
        content = service.workspace.reports.frozen(report_id, name)
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-cache"})


run_report_router = APIRouter(route_class=DumpRoute, prefix="/v2/report", tags=["report"])

Part = Progress | Page
FileName = Annotated[str, Query(max_length=200)]


class RunReport(BaseModel):
    """Request of a run's report."""

    run: str
    language: Literal["en", "zh"]


def _report(service: Service, body: RunReport) -> BackgroundJob[Part]:
    source = report_source(service, body.run)
    return BackgroundJob[Part](service.jobs, lambda: explained_report(source, body.language, time.time()))


REPORT: Final = NumberedJob("report", RunReport, _report)


@run_report_router.post("")
def start(
    service: CurrentService,
    run: Annotated[str, Query(description="run id")],
    language: Literal["en", "zh"] = "en",
) -> dict[str, int]:
    """Start the report of a run in the background, and return its number as `report`. Returns 404 for an
    unknown run."""
    return {"report": REPORT.start(service, RunReport(run=run, language=language))}


@run_report_router.get("/{number}")
def progress(service: CurrentService, number: int) -> dict[str, Any]:
    """Return the progress of a report. `key` is a text of the locale files for the current work. Returns
    404 for an unknown or expired number. `progress` is null before the first work."""
    job = REPORT.find(service, number)
    newest = next((part for part in reversed(list(job.items)) if isinstance(part, Progress)), None)
    return {"done": job.done, "error": job.error, "progress": None if newest is None else newest._asdict()}


@run_report_router.get("/{number}/page")
def page(service: CurrentService, number: int, name: FileName = "report") -> Response:
    """Return the finished report, as a download of this name. Returns 404 for an unknown or expired number,
    and 409 until the report is finished."""
    job = REPORT.find(service, number)
    made = next((part for part in reversed(list(job.items)) if isinstance(part, Page)), None)
    if made is None:
        raise ApiError(409, "report_not_done", "The report is not ready yet.")
    body = made.html.encode("utf-8", "backslashreplace")
    return Response(body, media_type="text/html", headers=attachment(f"{name}.html"))


def report_source(service: Service, run: str) -> ReportSource:
    """Return a run with everything that its explanation or report needs. Raises ApiError if it is unknown."""
    snapshot = service.store.snapshot()
    paths, cache = _dump_paths(service), cache_of(service)
    return ReportSource(
        snapshot.run(run), snapshot.runs, paths, service.executor, cache, left_out=snapshot.left_out
    )


def _dump_paths(service: Service) -> Callable[[str], Path]:
    """Return a function from the id of a dump or a run to its directory. It raises KeyError if unknown."""
    runs = service.store.snapshot().runs
    known = {*runs, *(dump for run in runs.values() for dump in run.dumps)}

    def path_of(dump: str) -> Path:
        try:
            if dump in known:
                return disk_path(service.settings.summary_base_dir, dump)
        except KeyError:
            pass  # the base directory was removed
        raise FileNotFoundError(dump)

    return path_of
