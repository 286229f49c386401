"""Application of the v2 interface."""

import logging
from functools import cache, partial
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.openapi.utils import get_openapi
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp

from mindinsight.server import api
from mindinsight.server.api.direct_routes import ROUTES
from mindinsight.server.api.pages import missing_page
from mindinsight.server.compute.plugin_modules import modules_of
from mindinsight.server.errors import ApiError, Gone, memory_short
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.http import openapi
from mindinsight.server.http.health import installed_version
from mindinsight.server.http.lazy_app import route_path
from mindinsight.server.http.openapi import OURS, ErrorBody, WrongParameters, add_schemas, described_endpoint
from mindinsight.server.http.security import error_response
from mindinsight.server.plugins import Plugin, find_plugin, plugins

_log = logging.getLogger(__name__)

_NOT_ROUTES: Final = ("v2", "pages")
_GONE: Final = ApiError(410, "gone", "The file has been removed, replaced or cut short since it was read.")


def create_interface(state: State) -> FastAPI:
    """Create the application of `/v2` over the state of the server."""
    app = _application(state, "/v2/openapi.json")
    _add_routes(app)
    app.openapi = cache(partial(_description, app))  # type: ignore[method-assign]
    return app


def create_kind_interface(state: State, name: str, interface: ASGIApp) -> FastAPI | None:
    """Create the routes of one kind, or return None if there is no kind of this name. `interface` answers
    paths that the kind does not have."""
    kind = find_plugin(name)
    if kind is None:
        return None
    app = _application(state, None)
    app.router.default = interface
    _add_kind(app, kind)
    return app


def _description(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of `app` and of the routes that are answered before it."""
    direct = APIRouter(responses=OURS)
    for route in ROUTES:
        direct.add_api_route(route.path, described_endpoint(route), tags=[route.tag])
    routes = [*direct.routes, *app.routes]
    description = get_openapi(title=app.title, version=app.version, routes=routes)
    return add_schemas(description, ErrorBody, WrongParameters)


def _application(state: State, description: str | None) -> FastAPI:
    """Create an application without routes, with our error responses. Its OpenAPI description is at
    `description`."""
    app = FastAPI(
        title="MindInsight",
        version=installed_version(),
        docs_url=None,
        redoc_url=None,
        openapi_url=description,
        responses=OURS,
    )
    app.state = state
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(MemoryError, lambda request, error: error_response(memory_short()))
    app.add_exception_handler(Gone, lambda request, error: error_response(_GONE))
    app.add_exception_handler(UnreadableError, _unreadable)
    app.add_exception_handler(404, _missing)
    openapi.install(app)
    return app


def _add_routes(app: FastAPI) -> None:
    for module in modules_of(api.__name__, api.__path__, without=_NOT_ROUTES):
        for router in vars(module).values():
            if isinstance(router, APIRouter):
                app.include_router(router)
        if hasattr(module, "install"):
            module.install(app)
    for kind in plugins():
        _add_kind(app, kind)


def _add_kind(app: FastAPI, kind: Plugin) -> None:
    app.include_router(kind.router, prefix=f"/v2/{kind.name}", tags=[kind.name])


async def _missing(request: Request, error: Exception) -> Response:
    """Respond to an unknown address with a page for browsers and JSON for programs."""
    if "text/html" in request.headers.get("accept", "") and not route_path(request.scope).startswith("/v2/"):
        return HTMLResponse(missing_page(request), 404)
    assert isinstance(error, HTTPException)
    return await http_exception_handler(request, error)


def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_response(error)


def _unreadable(request: Request, error: Exception) -> Response:
    """Respond to an invalid payload. Its detail is only logged, because it may name a file."""
    assert isinstance(error, UnreadableError)
    _log.warning("%s: %s", error.reason, error.detail)
    text = f"The recorded value cannot be read: {error.reason}."
    return error_response(ApiError(422, "unreadable", text, key=error.reason, detail=""))
