"""Route of the server-sent events that tell pages what changed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from mindinsight.server.errors import ApiError
from mindinsight.server.http import sse
from mindinsight.server.http.security import error_response
from mindinsight.server.http.service import Service, service_of

router = APIRouter(tags=["system"])


@router.get("/v2/events")
async def events(request: Request, service: Annotated[Service, Depends(service_of)]) -> Response:
    """A stream of server-sent events: ``change`` with ``{version, runs: {id: [kind]}, list}``."""
    hub: sse.Hub = request.app.state.hub
    if hub.streams >= sse.most_streams():
        refusal = error_response(ApiError(503, "too_many_streams", "Too many pages are open on this server."))
        refusal.headers.update({"Retry-After": str(sse.RETRY_AFTER), "Connection": "close"})
        return refusal
    return sse.EventStream(hub, lambda: service.store.snapshot().version)
