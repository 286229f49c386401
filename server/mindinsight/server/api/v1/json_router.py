"""Router of v1: JSON as MindInsight 2.3.1 writes it, encoded in the thread that computed it.

Keys are sorted at every depth and all is ASCII: the pages of MindInsight show parts of answers as text and
compare them. A large answer is encoded where it was made, so that the event loop goes on meanwhile.
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
    """Router whose endpoints return what becomes sorted JSON; a response is passed on as it is."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().add_api_route(path, _responding(endpoint), **options)


def json_response(content: Any, status: int = 200) -> Response:
    """``content`` as a response, with null for numbers that are not finite."""
    return Response(encode(content) + "\n", status, media_type="application/json")


def encode(content: Any) -> str:
    """ASCII JSON without spaces, keys sorted, null for numbers that are not finite."""
    try:
        return _dumps_in_parts(content)
    except ValueError:
        return _dumps_in_parts(non_finite_as_null(content))


def _dumps_in_parts(content: Any) -> str:
    """JSON whose long lists are encoded item by item: encoding is one call that lets no other thread run."""
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


def _responding(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """``endpoint`` with its result made a response; FastAPI by itself would encode on the event loop."""

    @wraps(endpoint)
    def in_thread(*values: Any, **named: Any) -> Response:
        return _response(endpoint(*values, **named))

    @wraps(endpoint)
    async def on_loop(*values: Any, **named: Any) -> Response:
        return _response(await endpoint(*values, **named))

    return on_loop if inspect.iscoroutinefunction(endpoint) else in_thread


def _response(content: Any) -> Response:
    return content if isinstance(content, Response) else json_response(content)
