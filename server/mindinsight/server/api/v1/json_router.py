"""Router and JSON encoder of v1: JSON as MindInsight 2.3.1 writes it, encoded in the thread of the endpoint.

Keys are sorted at every depth and all is ASCII: MindInsight's pages show parts of responses as text and
compare them. Encoding in the endpoint's thread keeps the event loop free while a large response is encoded.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from mindinsight.server.compute.non_finite import non_finite_as_null

_LONG: Final = 100  # items of a list


class JsonRouter(APIRouter):
    """Router that encodes the results of its endpoints as sorted JSON; responses pass unchanged."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Register an endpoint, wrapped so that it returns a JSON response."""
        super().add_api_route(path, _json_endpoint(endpoint), **options)


def json_response(content: Any, status: int = 200) -> Response:
    """JSON response, with null for numbers that are not finite."""
    return Response(json_text(content), status, media_type="application/json")


def json_text(content: Any) -> str:
    """The body of a JSON response."""
    return encode(content) + "\n"


def encode(content: Any) -> str:
    """Encode as ASCII JSON without spaces, keys sorted, null for numbers that are not finite."""
    try:
        return _dumps_in_parts(content)
    except ValueError:
        return _dumps_in_parts(non_finite_as_null(content))


def _dumps_in_parts(content: Any) -> str:
    """Encode long lists item by item: ``json.dumps`` holds the interpreter lock for the whole call."""
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
    """Wrap an endpoint so that it returns a response; FastAPI would encode the result on the event loop."""

    @wraps(endpoint)
    def in_thread(*values: Any, **named: Any) -> Response:
        return _response(endpoint(*values, **named))

    @wraps(endpoint)
    async def on_loop(*values: Any, **named: Any) -> Response:
        return _response(await endpoint(*values, **named))

    return on_loop if inspect.iscoroutinefunction(endpoint) else in_thread


def _response(content: Any) -> Response:
    return content if isinstance(content, Response) else json_response(content)
