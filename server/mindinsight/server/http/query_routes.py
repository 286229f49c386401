"""Routes without FastAPI. The query is one pydantic model, validated in one step.

Importing FastAPI takes as long as importing the rest of the server. FastAPI validates parameters one by one,
which takes longer than answering with a short series. Errors (422) and the OpenAPI description are the same
as for other routes.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers, QueryParams, State
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from mindinsight.server.errors import ApiError, memory_short
from mindinsight.server.http.security import error_response


class NoQuery(BaseModel):
    """Query of a route without parameters."""


@dataclass(frozen=True)
class QueryRoute:
    """Route of GET requests for one path: the model of its query, and the function that answers it.

    The docstring of `answer` describes the route.
    """

    path: str
    query: type[BaseModel]
    answer: Callable[[State, Headers, Any], Awaitable[Response]]
    tag: str  # group in the OpenAPI description
    headers: tuple[str, ...] = ()  # that the answer depends on

    async def response(self, state: State, scope: Scope) -> Response:
        """Return the response to one request. ApiError and MemoryError become error responses."""
        if scope["method"] != "GET":
            return JSONResponse({"detail": "Method Not Allowed"}, 405, {"Allow": "GET"})
        try:
            query = self.query.model_validate(self._values(scope["query_string"]))
        except ValidationError as error:
            return invalid("query", error)
        try:
            return await self.answer(state, Headers(scope=scope), query)
        except ApiError as error:
            return error_response(error)
        except MemoryError:
            return error_response(memory_short())

    def _values(self, query_string: bytes) -> dict[str, str | list[str]]:
        """Return the parameters that the model has. Of repeated ones the last counts, unless the field is
        a list."""
        query = QueryParams(query_string)
        named = {name: several for name, several in self._fields.items() if name in query}
        return {name: query.getlist(name) if several else query[name] for name, several in named.items()}

    @cached_property
    def _fields(self) -> dict[str, bool]:
        return {name: _is_list(field.annotation) for name, field in self.query.model_fields.items()}


def _is_list(annotation: Any) -> bool:
    """Return True for `list[...]` and `list[...] | None`."""
    return get_origin(annotation) is list or any(get_origin(part) is list for part in get_args(annotation))


def invalid(location: str, error: ValidationError) -> Response:
    """Return the response (422) that names the invalid parameters and the reasons."""
    details = [
        {"loc": (location, *detail["loc"]), "msg": detail["msg"], "type": detail["type"]}
        for detail in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return JSONResponse({"detail": details}, 422)
