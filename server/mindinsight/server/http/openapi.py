"""OpenAPI descriptions of error responses, and the handler of invalid requests (422)."""

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
    """Error for a script (`code`) and for a page (`key` of its texts, `vars` in the text)."""

    code: str
    message: str
    key: str
    vars: dict[str, Any]


class ErrorBody(BaseModel):
    """Body of an error response."""

    error: ErrorFacts


class WrongParameters(BaseModel):
    """Body of a response to invalid parameters: their names, and the reasons."""

    detail: list[dict[str, Any]] | str


def response(description: str, *models: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a response with one of `models` as its JSON body. Define them with
    `add_schemas`."""
    references = [{"$ref": _REFERENCE.format(model=model.__name__)} for model in models]
    schema = references[0] if len(references) == 1 else {"anyOf": references}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def described_endpoint(route: QueryRoute) -> Callable[..., Any]:
    """Return a function with the signature and docstring that describe `route` to FastAPI. It is never
    called."""

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
    """Add the models that responses refer to to an OpenAPI `description`, in place, and return it."""
    _, defined = models_json_schema([(model, "serialization") for model in models], ref_template=_REFERENCE)
    description.setdefault("components", {}).setdefault("schemas", {}).update(defined["$defs"])
    return description


DOOR: Final[Responses] = {
    401: response("A token is required.", ErrorBody),
    403: response("Requests from pages of other sites are not allowed.", ErrorBody),
    413: response("The body is too large.", ErrorBody),
    421: response("This host name is not allowed.", ErrorBody),
}
OURS: Final[Responses] = {
    400: response("The request is invalid.", ErrorBody, WrongParameters),
    404: response("Unknown run, tag, node, dump or tensor.", ErrorBody),
    410: response("The file was removed, replaced or cut short.", ErrorBody),
    422: response("A parameter is invalid, or a file unreadable.", ErrorBody, WrongParameters),
    501: response("An optional package is not installed.", ErrorBody),
    503: response("The server is busy, or the request took too long. Try again.", ErrorBody),
    507: response("The disk of the workspace is full.", ErrorBody),
    **DOOR,
}


def install(app: FastAPI) -> None:
    """Add the handler of invalid requests."""
    app.add_exception_handler(RequestValidationError, _invalid_request)


def _invalid_request(request: Request, error: Exception) -> Response:
    """Respond with the location and reason of each error. The input is omitted, because JSON cannot
    express an infinity sent as `1e999`."""
    assert isinstance(error, RequestValidationError)
    details = [{name: detail[name] for name in ("loc", "msg", "type")} for detail in error.errors()]
    return JSONResponse({"detail": jsonable_encoder(details)}, 422)
