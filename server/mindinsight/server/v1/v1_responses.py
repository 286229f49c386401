"""Responses of the v1 interface: JSON as MindInsight 2.3.1 writes it, and errors with their codes."""

import inspect
import json
from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any, Final, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from mindinsight.server.compute.json_values import non_finite_as_null
from mindinsight.server.errors import ApiError
from mindinsight.server.http.openapi import DOOR, Responses, response

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_LONG: Final = 100  # items of a list from which it is encoded item by item


class JsonRouter(APIRouter):
    """Router that encodes the results of its endpoints as sorted JSON. Responses pass unchanged."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Register an endpoint, wrapped so that it returns a JSON response."""
        super().add_api_route(path, _json_endpoint(endpoint), **options)

    def post_json(self, path: str, body: str) -> Callable[[Endpoint], Endpoint]:
        """Return the decorator of a POST route that parses its JSON body itself. `body` describes it."""
        content = {"application/json": {"schema": {"type": "object"}}}
        return self.post(path, openapi_extra={"requestBody": {"description": body, "content": content}})


def json_response(content: Any, status: int = 200) -> Response:
    """Return a JSON response, with null for non-finite numbers."""
    return Response(json_text(content), status, media_type="application/json")


def json_text(content: Any) -> str:
    """Return the body of a JSON response."""
    return encode(content) + "\n"


def encode(content: Any) -> str:
    """Return content as ASCII JSON without spaces, keys sorted, null for non-finite numbers."""
    try:
        return _dumps_in_parts(content)
    except ValueError:
        return _dumps_in_parts(non_finite_as_null(content))


def _dumps_in_parts(content: Any) -> str:
    """Encode content as JSON, long lists item by item, because `json.dumps` holds the interpreter lock for
    the whole call.
    """
    if not isinstance(content, dict) or not any(_is_long(value) for value in content.values()):
        return _dumps(content)
    members = (f"{_dumps(key)}:{_dumps_list(value)}" for key, value in sorted(content.items()))
    return f"{{{','.join(members)}}}"


def _dumps_list(value: Any) -> str:
    return f"[{','.join(map(_dumps, value))}]" if _is_long(value) else _dumps(value)


def _is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > _LONG


def _dumps(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _json_endpoint(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an endpoint so that it returns a response. FastAPI would encode the result on the event loop."""

    @wraps(endpoint)
    def in_thread(*values: Any, **named: Any) -> Response:
        return _response(endpoint(*values, **named))

    @wraps(endpoint)
    async def on_loop(*values: Any, **named: Any) -> Response:
        return _response(await endpoint(*values, **named))

    return on_loop if inspect.iscoroutinefunction(endpoint) else in_thread


def _response(content: Any) -> Response:
    return content if isinstance(content, Response) else json_response(content)


_MODULES = {"general": 0, "lineage": 2, "datavisual": 5, "profiler": 6, "debugger": 11}


class Fault(Enum):
    """Error codes of MindInsight: (module, number, HTTP status)."""

    UNEXPECTED = ("general", 0x000, 500)
    TYPE = ("general", 0x001, 400)
    VALUE = ("general", 0x002, 400)
    MISSING = ("general", 0x003, 400)
    PERMISSION = ("general", 0x008, 400)
    UNKNOWN_PATH = ("datavisual", 0x001, 404)
    METHOD = ("datavisual", 0x002, 405)
    JOB = ("datavisual", 0x005, 400)
    NODE = ("datavisual", 0x009, 400)
    PLUGIN = ("datavisual", 0x00B, 400)
    GRAPH = ("datavisual", 0x00C, 400)
    IMAGE = ("datavisual", 0x00D, 400)
    SCALAR = ("datavisual", 0x00E, 400)
    HISTOGRAM = ("datavisual", 0x00F, 400)
    NULL_BYTE = ("datavisual", 0x011, 400)
    TENSOR = ("datavisual", 0x012, 400)
    TENSOR_ANSWER = ("datavisual", 0x013, 400)
    TENSOR_STEP = ("datavisual", 0x014, 400)

    LANDSCAPE = ("datavisual", 0x017, 400)
    PROFILE = ("profiler", 0x083, 400)
    LINEAGE_VALUE = ("lineage", 0x081, 400)
    LINEAGE_SEARCH = ("lineage", 0x218, 400)
    DEBUGGER_TYPE = ("debugger", 0x080, 400)
    DEBUGGER_VALUE = ("debugger", 0x081, 400)
    DEBUGGER_STEP = ("debugger", 0x082, 400)
    DEBUGGER_CONDITION = ("debugger", 0x083, 400)
    DEBUGGER_NODE = ("debugger", 0x100, 400)
    DEBUGGER_GRAPH = ("debugger", 0x101, 400)
    DEBUGGER_CREATE = ("debugger", 0x180, 400)
    DEBUGGER_UPDATE = ("debugger", 0x181, 400)
    DEBUGGER_DELETE = ("debugger", 0x182, 400)
    DEBUGGER_CONTINUE = ("debugger", 0x183, 400)
    DEBUGGER_PAUSE = ("debugger", 0x184, 400)
    DEBUGGER_RECHECK = ("debugger", 0x186, 400)
    DEBUGGER_TENSOR_GRAPH = ("debugger", 0x187, 400)
    DEBUGGER_HITS = ("debugger", 0x188, 400)
    DEBUGGER_RECOMMENDED = ("debugger", 0x189, 400)
    DEBUGGER_SESSIONS = ("debugger", 0x280, 400)
    DEBUGGER_SESSION = ("debugger", 0x281, 400)
    DEBUGGER_ONLINE = ("debugger", 0x282, 400)
    DEBUGGER_DOWNLOAD = ("debugger", 0x284, 400)
    DEBUGGER_RANKS = ("debugger", 0x285, 400)

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return self.value[2]

    @property
    def code(self) -> str:
        """Return the error code, eight hexadecimal digits."""
        module, number, _ = self.value
        return f"{1 << 30 | 1 << 28 | 42 << 17 | _MODULES[module] << 12 | number:08X}"


class V1Error(Exception):
    """Error of a v1 request, with its code and message. `str()` is the message for the client."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def response(self, status: int | None = None) -> Response:
        """Return the error response. `status` overrides the fault's status."""
        body = {"error_code": self.fault.code, "error_msg": str(self)}
        return json_response(body, status or self.fault.status)


def v1_error(error: ApiError) -> Response:
    """Convert an error of the server to a response of v1, with the status and headers of the original."""
    faults = {401: Fault.PERMISSION, 403: Fault.PERMISSION, 404: Fault.UNKNOWN_PATH, 421: Fault.PERMISSION}
    fault = Fault.VALUE if error.status < Fault.UNEXPECTED.status else Fault.UNEXPECTED
    response = V1Error(faults.get(error.status, fault), error.message).response(error.status)
    response.headers.update(error.headers)
    return response


class FaultBody(BaseModel):
    """Schema of the body of every error response."""

    error_code: str
    error_msg: str


RESPONSES: Final[Responses] = {
    400: response("A parameter is invalid or does not match anything.", FaultBody),
    404: response("There is no such endpoint.", FaultBody),
    405: response("The method is not allowed.", FaultBody),
    503: response("Too many requests, or the request took too long; try again.", FaultBody),
    **{status: response(door["description"], FaultBody) for status, door in DOOR.items()},
}
