"""Response with the server-sent events that tell pages about changes. Does not import FastAPI."""

from starlette.datastructures import Headers, State
from starlette.responses import Response

from mindinsight.server.errors import ApiError
from mindinsight.server.http import sse
from mindinsight.server.http.query_routes import NoQuery
from mindinsight.server.http.security import error_response


async def events(state: State, headers: Headers, query: NoQuery) -> Response:
    """Return a stream of server-sent events: `change` with `{version, runs: {id: [kind]}, list}`."""
    if state.hub.streams >= sse.most_streams():
        error = ApiError(503, "too_many_streams", "Too many pages are open on this server.")
        rejection = error_response(error)
        rejection.headers.update({"Retry-After": str(sse.RETRY_AFTER), "Connection": "close"})
        return rejection
    return sse.EventStream(state.hub, lambda: state.service.store.snapshot().version)
