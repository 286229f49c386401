"""Answer with the list of alerts, newest first. Without FastAPI."""

from __future__ import annotations

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import JSONResponse, Response

from mindinsight.server.plugins.alert.alert_cache import LIMIT, MOST, MOST_RUNS, MOST_SKIPPED, alert_list
from mindinsight.server.types import Level


class AlertsQuery(BaseModel):
    """Query of alerts: runs, levels, time and which of them."""

    run: list[str] | None = Field(None, description="run ids; all when left out", max_length=MOST_RUNS)
    level: list[Level] | None = Field(None, description="all when left out")
    since: float | None = Field(None, description="Unix seconds: only what is later")
    skip: int = Field(0, ge=0, le=MOST_SKIPPED)
    limit: int = Field(LIMIT, ge=0, le=MOST)
    without: list[str] | None = Field(None, description="run ids that are left out", max_length=MOST_RUNS)


async def alerts(state: State, headers: Headers, query: AlertsQuery) -> Response:
    """Alerts of the training code and of rules, newest first; ``total`` says how many there are.

    One of a rule over scalars stands for a stretch of ``count`` points from ``step`` on, ``ongoing`` when the
    newest point is one of them; ``value`` is that of the first. A value that is not finite is text.
    ``dump`` is the dump of this step that the training code recorded with it, of rank ``dump_rank``.
    ``left_out`` counts recorded ones that are none of these, whatever their level: they cannot be read, or
    there are too many newer ones of their run.
    """
    selection = query.run, query.level, query.since, query.skip, query.limit, query.without or ()
    return JSONResponse(await run_in_threadpool(alert_list, state.service, *selection))
