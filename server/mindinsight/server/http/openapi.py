"""OpenAPI descriptions of error responses, and the handler of invalid requests (422)."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, Final, TypeAlias

from fastapi import FastAPI, Header, Query, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.responses import JSONResponse, Response

from mindinsight.server.http.query_routes import QueryRoute

Responses: TypeAlias = dict[int | str, dict[str, Any]]
_REFERENCE: Final = "#/components/schemas/{model}"


class ErrorFacts(BaseModel):
    """What was wrong, for a script (``code``) and for a page (``key`` of its texts, ``vars`` in it)."""

    code: str
    message: str
    key: str
    vars: dict[str, Any]


class ErrorBody(BaseModel):
    """The body of an answer that is an error."""

    error: ErrorFacts


class WrongParameters(BaseModel):
    """The body of an answer to parameters of the wrong type: which ones, and why."""

    detail: list[dict[str, Any]] | str


def response(description: str, *models: type[BaseModel]) -> dict[str, Any]:
    """The description of a response whose JSON body is one of ``models``; ``add_schemas`` defines them."""
    references = [{"$ref": _REFERENCE.format(model=model.__name__)} for model in models]
    schema = references[0] if len(references) == 1 else {"anyOf": references}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def described_endpoint(route: QueryRoute) -> Callable[..., Any]:
    """Return a function whose signature and docstring describe ``route`` to FastAPI. It is never called."""

    def endpoint(**parameters: Any) -> None:
        raise NotImplementedError

    kind, header = Parameter.KEYWORD_ONLY, Annotated[str, Header()]
    query = Parameter("query", kind, annotation=Annotated[route.query, Query()])
    headers = [Parameter(name, kind, default="", annotation=header) for name in route.headers]
    parameters = [query, *headers] if route.query.model_fields else headers
    setattr(endpoint, "__signature__", Signature(parameters))  # noqa: B010 - not in its type
    endpoint.__name__, endpoint.__doc__ = route.answer.__name__, route.answer.__doc__
    return endpoint


def add_schemas(description: dict[str, Any], *models: type[BaseModel]) -> dict[str, Any]:
    """Define the models that responses refer to; changes ``description`` and returns it."""
    _, defined = models_json_schema([(model, "serialization") for model in models], ref_template=_REFERENCE)
    description.setdefault("components", {}).setdefault("schemas", {}).update(defined["$defs"])
    return description


DOOR: Final[Responses] = {
    401: response("A token is needed.", ErrorBody),
    403: response("A page of another site may not ask or change anything here.", ErrorBody),
    413: response("The body is too large.", ErrorBody),
    421: response("This host name is not allowed.", ErrorBody),
}
OURS: Final[Responses] = {
    400: response("The request cannot be used.", ErrorBody, WrongParameters),
    404: response("There is no such run, tag, node, dump or tensor.", ErrorBody),
    410: response("The file was removed, replaced or cut short.", ErrorBody),
    422: response("A parameter is wrong, or a file unreadable.", ErrorBody, WrongParameters),
    501: response("An optional package is not installed.", ErrorBody),
    503: response("Too much to do at once, or it took too long: ask again.", ErrorBody),
    507: response("There is no room left to keep it.", ErrorBody),
    **DOOR,
}


def install(app: FastAPI) -> None:
    app.add_exception_handler(RequestValidationError, _unfit)


def _unfit(request: Request, error: Exception) -> Response:
    """Where and why; not what was sent: JSON has no word for an infinity that came as ``1e999``."""
    assert isinstance(error, RequestValidationError)
    details = [{name: detail[name] for name in ("loc", "msg", "type")} for detail in error.errors()]
    return JSONResponse({"detail": jsonable_encoder(details)}, 422)
