"""Routes of explanations: what is wrong with a run, found in the background."""

import time
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel

from mindinsight.server.api.explanation import Part, explain_run, in_order
from mindinsight.server.api.report_routes import report_source
from mindinsight.server.api.run_differences import differences
from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.http.bulkhead_routes import CurrentService, DumpRoute
from mindinsight.server.http.numbered_jobs import NumberedJob
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.dump.dump_requests import DumpId, unknown_dump
from mindinsight.server.report import Progress

RunId = Annotated[str, Query(description="run id")]

router = APIRouter(route_class=DumpRoute, prefix="/v2/explanation", tags=["explanation"])


class Explained(BaseModel):
    """Request of an explanation."""

    run: str
    dump: str = ""


def _explanation(service: Service, body: Explained) -> BackgroundJob[Progress | Part]:
    source = replace(report_source(service, body.run), dump=body.dump)
    if body.dump and body.dump not in source.dumps:
        raise unknown_dump(body.dump)
    return BackgroundJob[Progress | Part](service.jobs, lambda: explain_run(source, time.time()))


EXPLANATION: Final = NumberedJob("explanation", Explained, _explanation)


@router.post("")
def start(service: CurrentService, run: RunId, dump: DumpId = "") -> dict[str, int]:
    """Start the explanation of a run in the background, and return its number as `explanation`. Returns
    404 for an unknown run, or if the run has no such dump. With `dump` it searches this dump alone. `GET
    /{number}` returns the parts found so far."""
    service.loader.want([run])
    return {"explanation": EXPLANATION.start(service, Explained(run=run, dump=dump))}


@router.get("/difference")
def difference(service: CurrentService, run: RunId, baseline: RunId) -> dict[str, Any]:
    """Return claims about settings, code and packages of a run and a baseline, last those about what was not
    recorded.
    """
    service.loader.want([run, baseline])
    snapshot = service.store.snapshot()
    ours, theirs = snapshot.run(run), snapshot.run(baseline)
    claims = chain(*differences(ours, theirs))
    return {"claims": [claim.as_json() for claim in claims]}


@router.get("/{number}")
def parts(service: CurrentService, number: int) -> dict[str, Any]:
    """Return the parts of an explanation that are known so far, and its progress. Returns 404 for an unknown
    or expired number.

    The topic of a part is one of summary, tensors, growth, checks, checkpoints, ranks, curves, end,
    difference, unknown. The summary comes first once everything was searched. Claims with the verdict "found"
    are faults, except those of `difference`. `after` of a part is True if all of its faults are at or after
    the first fault of the tensors. `links` are pages that show the faults, and `curves` are drawn in a frame
    of 320 by 120 pixels.
    """
    job = EXPLANATION.find(service, number)
    done, items = job.done, list(job.items)
    newest = next((item for item in reversed(items) if isinstance(item, Progress)), None)
    return {
        "done": done,
        "error": job.error,
        "progress": None if newest is None else newest._asdict(),
        "parts": [part.as_json() for part in in_order(items)],
    }
