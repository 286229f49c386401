"""Route class for hot endpoints, whose query parameters are one pydantic model, validated in one step.

FastAPI validates parameters one by one, which takes longer than answering with a short series. The OpenAPI
description and the validation errors (422) are those of any other route.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar, get_origin, get_type_hints

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from mindinsight.server.http.service import service_of

Model = TypeVar("Model", bound=BaseModel)


class QueryRoute(APIRoute):
    """Route of ``async endpoint(service, query, accept)``; ``query`` is annotated with the model."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        endpoint = self.endpoint
        model: type[BaseModel] = get_type_hints(endpoint)["query"]
        fields = {name: get_origin(field.annotation) is list for name, field in model.model_fields.items()}

        async def handle(request: Request) -> Response:
            query = validated(model, values_of(request.query_params, fields))
            accept = request.headers.get("accept", "")
            answer: Response = await endpoint(await service_of(request), query, accept)
            return answer

        return handle


def values_of(query: QueryParams, fields: Mapping[str, bool]) -> dict[str, str | list[str]]:
    """The parameters of these names that the query has; a list where a name may come several times (True)."""
    return {
        name: query.getlist(name) if several else query[name]
        for name, several in fields.items()
        if name in query
    }


def validated(model: type[Model], parameters: Mapping[str, Any]) -> Model:
    """``parameters`` as an instance of the model; raises RequestValidationError for invalid ones."""
    try:
        return model.model_validate(parameters)
    except ValidationError as error:
        details = error.errors(include_url=False)
        located = [{**detail, "loc": ("query", *detail["loc"])} for detail in details]
        raise RequestValidationError(located) from error
