"""Routes that are asked all the time: their query is one model, and is read in one step.

FastAPI takes parameters one by one, which lasts longer than a short series takes to be answered. It describes
these routes as any other, and what does not fit is told as it tells it.
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
    """Of ``async endpoint(service, asked, accept)``, where ``asked`` is annotated with the query's model."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        endpoint = self.endpoint
        model: type[BaseModel] = get_type_hints(endpoint)["asked"]
        fields = {name: get_origin(field.annotation) is list for name, field in model.model_fields.items()}

        async def handle(request: Request) -> Response:
            asked = fitting(model, given(request.query_params, fields))
            accept = request.headers.get("accept", "")
            answer: Response = await endpoint(await service_of(request), asked, accept)
            return answer

        return handle


def given(query: QueryParams, fields: Mapping[str, bool]) -> dict[str, str | list[str]]:
    """The parameters of these names that are there, all of a name that may come several times."""
    return {
        name: query.getlist(name) if several else query[name]
        for name, several in fields.items()
        if name in query
    }


def fitting(model: type[Model], parameters: Mapping[str, Any]) -> Model:
    """The parameters as the model has them; raises RequestValidationError where they do not fit."""
    try:
        return model.model_validate(parameters)
    except ValidationError as error:
        wrong = [{**one, "loc": ("query", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(wrong) from error
