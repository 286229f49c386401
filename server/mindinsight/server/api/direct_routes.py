"""ASGI application for the first requests of a page, answered without FastAPI.

FastAPI, the plugins and their routes take four times as long to import as the rest of the server.
"""

from typing import Final

from starlette.datastructures import Headers, State
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.api import run_answers
from mindinsight.server.errors import ApiError
from mindinsight.server.http import sse
from mindinsight.server.http.lazy_app import route_path
from mindinsight.server.http.query_routes import NoQuery, QueryRoute
from mindinsight.server.http.security import error_response
from mindinsight.server.plugins.alert import alert_cache
from mindinsight.server.plugins.scalar import curve_routes


async def events(state: State, headers: Headers, query: NoQuery) -> Response:
    """Return a stream of server-sent events: first `hello` with `{version}`, then `change` with `{version,
    runs: {id: [kind]}, list}`.

    `runs` has the kinds of new data of each run that was added, removed or changed. `list` is true if runs
    were added or removed, or facts about all runs changed. Returns 503 if too many streams are open.
    """
    if state.hub.streams >= sse.most_streams():
        error = ApiError(503, "too_many_streams", "Too many pages are open on this server.")
        rejection = error_response(error)
        rejection.headers.update({"Retry-After": str(sse.RETRY_AFTER), "Connection": "close"})
        return rejection
    return sse.EventStream(state.hub, lambda: state.service.store.snapshot().version)


ROUTES: Final = (
    QueryRoute("/v2/events", NoQuery, events, "system"),
    QueryRoute(
        "/v2/runs", run_answers.RunsQuery, run_answers.runs, "runs", ("if_none_match", "accept_encoding")
    ),
    QueryRoute("/v2/tags", run_answers.TagsQuery, run_answers.tags, "runs"),
    QueryRoute("/v2/alert/list", alert_cache.AlertsQuery, alert_cache.alerts, "alert"),
    QueryRoute("/v2/scalar/series", curve_routes.Curves, curve_routes.series, "scalar", ("accept",)),
    QueryRoute("/v2/scalar/tail", curve_routes.Tail, curve_routes.tail, "scalar", ("accept",)),
)


class DirectRoutes:
    """Dispatcher of requests to `ROUTES`. `interface` answers all other requests."""

    def __init__(self, state: State, interface: ASGIApp) -> None:
        self._state = state
        self._interface = interface
        self._routes = {route.path: route for route in ROUTES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._routes.get(route_path(scope)) if scope["type"] == "http" else None
        answer = self._interface if route is None else await route.response(self._state, scope)
        await answer(scope, receive, send)
