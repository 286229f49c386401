"""Route for the list of alerts, newest first."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from mindinsight.server.http.service import Service, service_of
from mindinsight.server.plugins.alert.alert_list import LIMIT, MOST, MOST_RUNS, MOST_SKIPPED, alert_list
from mindinsight.server.types import Level

router = APIRouter()


@router.get("/list")
def alerts(
    service: Annotated[Service, Depends(service_of)],
    run: Annotated[
        list[str] | None, Query(description="run ids; all when left out", max_length=MOST_RUNS)
    ] = None,
    level: Annotated[list[Level] | None, Query(description="all when left out")] = None,
    since: Annotated[float | None, Query(description="Unix seconds: only what is later")] = None,
    skip: Annotated[int, Query(ge=0, le=MOST_SKIPPED)] = 0,
    limit: Annotated[int, Query(ge=0, le=MOST)] = LIMIT,
    without: Annotated[
        list[str] | None, Query(description="run ids that are left out", max_length=MOST_RUNS)
    ] = None,
) -> dict[str, Any]:
    """Alerts of the training code and of rules, newest first; ``total`` says how many there are.

    One of a rule over scalars stands for a stretch of ``count`` points from ``step`` on, ``ongoing`` when the
    newest point is one of them; ``value`` is that of the first. A value that is not finite is text.
    ``dump`` is the dump of this step that the training code recorded with it, of rank ``dump_rank``.
    ``left_out`` counts recorded ones that are none of these, whatever their level: they cannot be read, or
    there are too many newer ones of their run.
    """
    return alert_list(service, run, level, since, skip, limit, without or ())
