"""HTTP interface of MindInsight 2.3.1, `/v1/mindinsight`, over the same store and readers as v2.

It is a mounted application, because it has different rules: error bodies, allowed methods, one error at a
time.
"""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.errors import ApiError, Gone, memory_short
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.graph.encoders.v1_graph import MOST_EDGES, TooManyEdges, UnknownNode
from mindinsight.server.http.openapi import add_schemas
from mindinsight.server.v1 import debugger, graphs, jobs, lineages, payload_routes, scalars
from mindinsight.server.v1.v1_parameters import REQUIRED
from mindinsight.server.v1.v1_responses import RESPONSES, Fault, FaultBody, JsonRouter, V1Error, v1_error


def complete(description: dict[str, Any]) -> dict[str, Any]:
    """Remove status 422, which v1 never returns, from `description`, mark required parameters, and return
    `description`. Parameters are optional to FastAPI if their absence is an error of v1."""
    for path in description["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
            for parameter in operation.get("parameters", ()):
                if parameter["schema"].pop(REQUIRED, False):
                    parameter["required"] = True
    return description


absent_features = JsonRouter(tags=["config"])  # so that MindInsight's pages hide them or say so


@absent_features.get("/ui-config")
def ui_config() -> dict[str, bool]:
    """Return the configuration of MindInsight's pages, with online debugging disabled."""
    return {"enable_debugger": False}


@absent_features.get("/profile/{path:path}", include_in_schema=False)
@absent_features.post("/profile/{path:path}", include_in_schema=False)
def profile(path: str) -> dict[str, bool]:
    """Raise the error that the profiler's pages show, because they stay blank without one."""
    raise V1Error(Fault.PROFILE, "This server shows no profiles; open the folder with MindStudio Insight.")


_METHODS = ("GET", "POST", "PUT", "DELETE")  # MindInsight's own list, sent with every response
_ALLOW = "Access-Control-Allow-Methods"


def create_v1(state: State) -> FastAPI:
    """Return the v1 application, to be mounted. It shares the state of the server's application."""
    v1 = FastAPI(title="MindInsight v1", version="2.3.1", docs_url=None, redoc_url=None, responses=RESPONSES)
    v1.state = state
    for part in (jobs, scalars, payload_routes, graphs, lineages, debugger):
        v1.include_router(part.router)
    v1.include_router(absent_features)
    v1.add_exception_handler(V1Error, _api_error)
    v1.add_exception_handler(ApiError, _api_error)
    v1.add_exception_handler(MemoryError, lambda request, error: v1_error(memory_short()))
    v1.add_exception_handler(HTTPException, _http_error)
    for kind, error in _RESPONSES.items():
        v1.add_exception_handler(kind, lambda request, _, error=error: error.response())
    v1.add_middleware(MethodsMiddleware)
    described = v1.openapi
    v1.openapi = lambda: add_schemas(complete(described()), FaultBody)  # type: ignore[method-assign]
    return v1


_METHOD_ERROR = V1Error(Fault.METHOD, "This method is not allowed.")
_BODY_ERROR = V1Error(Fault.MISSING, "The body is missing or is not JSON.")
_FILE_ERROR = V1Error(Fault.JOB, "The file of this value was removed, replaced or damaged.")
_RESPONSES: dict[type[Exception], V1Error] = {
    RequestValidationError: _BODY_ERROR,  # routes validate all parameters themselves, except the body
    UnknownNode: V1Error(Fault.NODE, "Parameter name does not match any node of this graph."),
    TooManyEdges: V1Error(
        Fault.TENSOR_ANSWER,
        f"The scope has more than {MOST_EDGES} edges; request a scope inside it (parameter name).",
    ),
    Gone: _FILE_ERROR,
    UnreadableError: _FILE_ERROR,
}


class MethodsMiddleware:
    """Middleware that rejects methods v1 does not have, on every path, and adds v1's response headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _METHODS:
            answer = _METHOD_ERROR.response()
            answer.headers[_ALLOW] = ", ".join(_METHODS)
            await answer(scope, receive, send)
            return

        async def with_headers(message: dict[str, object]) -> None:
            if message["type"] == "http.response.start":
                extra = [(_ALLOW.lower().encode(), ", ".join(_METHODS).encode()), (b"pragma", b"no-cache")]
                extra += [(b"x-download-options", b"noopen"), (b"x-xss-protection", b"1; mode=block")]
                message = {**message, "headers": [*message["headers"], *extra]}  # type: ignore[misc]
            await send(message)

        await self.app(scope, receive, with_headers)  # type: ignore[arg-type]


def _api_error(request: Request, error: Exception) -> Response:
    """Return v1's response to an error of v1 or of the server."""
    assert isinstance(error, V1Error | ApiError)
    return error.response() if isinstance(error, V1Error) else v1_error(error)


def _http_error(request: Request, error: Exception) -> Response:
    """Return v1's response to errors of the framework: unknown path or method, or an undecodable
    body (400)."""
    status = getattr(error, "status_code", 404)
    errors = {405: _METHOD_ERROR, 404: V1Error(Fault.UNKNOWN_PATH, "There is no such endpoint.")}
    return errors.get(status, _BODY_ERROR).response()
