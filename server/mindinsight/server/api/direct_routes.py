"""ASGI application of the requests with which a page begins, answered without FastAPI.

FastAPI, the plugins and their routes take four times as long to load as the rest of the server. What is asked
in the plain form of our pages is answered at once, by the functions that FastAPI's routes call, too; any
other request, and every error, is the interface's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, get_args

from starlette._utils import get_route_path
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, State
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.api.run_answers import run_list, tag_list
from mindinsight.server.curves.smoothing import SmoothingKind
from mindinsight.server.errors import ApiError
from mindinsight.server.http import sse
from mindinsight.server.http.plain_queries import (
    NotPlainError,
    Reader,
    choice,
    flag,
    fraction,
    number,
    plain_query,
    whole,
)
from mindinsight.server.http.service import Service
from mindinsight.server.http.sse import EventStream
from mindinsight.server.plugins.scalar.lines import View
from mindinsight.server.plugins.scalar.series_answer import (
    MOST_PIXELS,
    MOST_RUNS,
    MOST_TAGS,
    PIXELS,
    CurveQuery,
    series_answer,
)

_SERIES: Final[Mapping[str, Reader]] = {
    "tag": str,
    "px": whole(MOST_PIXELS),
    "x": str,
    "low": number,
    "high": number,
    "log_x": flag,
    "overwritten": flag,
    "smooth": fraction,
    "kind": choice(*get_args(SmoothingKind)),
    "least": whole(999_999_999),
}
_TAGS: Final[Mapping[str, Reader]] = {"kind": str, "job": str, "brief": flag}
_RUN: Final = ("run",)

Route = Callable[[Service, Headers, bytes], Awaitable[Response]]


class DirectRoutes:
    """Routes by path; ``interface`` answers what they do not."""

    def __init__(self, state: State, interface: ASGIApp) -> None:
        self._state = state
        self._interface = interface
        self._routes: dict[str, Route] = {
            "/v2/alert/list": _alerts,
            "/v2/events": self._events,
            "/v2/runs": _runs,
            "/v2/tags": _tags,
            "/v2/scalar/series": _series,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._answer(scope) or self._interface
        await answer(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response | None:
        route = self._routes.get(get_route_path(scope))
        if route is None or scope["method"] != "GET":
            return None
        try:
            return await route(self._state.service, Headers(scope=scope), scope["query_string"])
        except (NotPlainError, ApiError):
            return None

    async def _events(self, service: Service, headers: Headers, query: bytes) -> Response:
        if query or self._state.hub.streams >= sse.most_streams():
            raise NotPlainError
        return EventStream(self._state.hub, lambda: service.store.snapshot().version)


async def _runs(service: Service, headers: Headers, query: bytes) -> Response:
    if query:
        raise NotPlainError
    accepted = headers.get("if-none-match", ""), headers.get("accept-encoding", "")
    return await run_in_threadpool(run_list, service, *accepted)  # may write the colours of new runs


async def _alerts(service: Service, headers: Headers, query: bytes) -> Response:
    return await run_in_threadpool(_alert_list, service, query)


def _alert_list(service: Service, query: bytes) -> Response:
    from mindinsight.server.plugins.alert import (
        alert_list as alerts,  # loads protobuf; curves need none of it
    )

    readers: Mapping[str, Reader] = {
        "since": number,
        "skip": whole(alerts.MOST_SKIPPED),
        "limit": whole(alerts.MOST),
    }
    values = plain_query(query, readers, several=(*_RUN, "without"))
    if max(len(values.get(name, ())) for name in ("run", "without")) > alerts.MOST_RUNS:
        raise NotPlainError
    return JSONResponse(alerts.alert_list(service, **values))


async def _tags(service: Service, headers: Headers, query: bytes) -> Response:
    values = plain_query(query, _TAGS, several=_RUN)
    if len(values.get("run", ())) > MOST_RUNS:
        raise NotPlainError
    return tag_list(
        service.store.snapshot(),
        values.get("kind", "scalar"),
        values.get("run"),
        values.get("job"),
        values.get("brief", False),
    )


async def _series(service: Service, headers: Headers, query: bytes) -> Response:
    values = plain_query(query, _SERIES, several=("run", "fold", "also"))
    runs, also = values.pop("run", []), values.pop("also", [])
    if "tag" not in values or not 0 < len(runs) <= MOST_RUNS or len(also) > MOST_TAGS:
        raise NotPlainError
    tag, overwritten, fold = values.pop("tag"), values.pop("overwritten", False), values.pop("fold", [])
    view = View(values.pop("px", PIXELS), weight=values.pop("smooth", 0.0), **values)
    wanted = CurveQuery(tag, tuple(runs), view, overwritten, frozenset(fold))
    return await series_answer(service, wanted, headers.get("accept", ""), also)
