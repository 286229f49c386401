"""Response with the list of alerts, newest first. Does not import FastAPI."""

from __future__ import annotations

from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import JSONResponse, Response

from mindinsight.server.plugins.alert.alert_cache import LIMIT, MOST, MOST_RUNS, MOST_SKIPPED, alert_list
from mindinsight.server.types import Level


class AlertsQuery(BaseModel):
    """Query of alerts: runs, levels, time and page."""

    run: list[str] | None = Field(None, description="run ids; default: all", max_length=MOST_RUNS)
    level: list[Level] | None = Field(None, description="default: all")
    since: float | None = Field(None, description="Unix seconds: only later alerts")
    skip: int = Field(0, ge=0, le=MOST_SKIPPED)
    limit: int = Field(LIMIT, ge=0, le=MOST)
    without: list[str] | None = Field(None, description="run ids to exclude", max_length=MOST_RUNS)


async def alerts(state: State, headers: Headers, query: AlertsQuery) -> Response:
    """Return alerts of the training code and of rules, newest first. `total` is their number.

    An alert of a rule over scalars stands for an interval of `count` points from `step` on, and `value` is
    the first of them. `ongoing` is true if it includes the newest point. Non-finite values are text. `dump`
    is the dump of this step that the training code recorded with the alert, of rank `dump_rank`. `left_out`
    counts recorded alerts of any level that are not included because they cannot be read, or because their
    run has too many newer ones.
    """
    selection = query.run, query.level, query.since, query.skip, query.limit, query.without or ()
    return JSONResponse(await run_in_threadpool(alert_list, state.service, *selection))
