"""OpenAPI descriptions of error responses."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pydantic import BaseModel

Responses: TypeAlias = dict[int | str, dict[str, Any]]


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


DOOR: Final[Responses] = {
    401: {"model": ErrorBody, "description": "A token is needed."},
    403: {"model": ErrorBody, "description": "A page of another site may not ask or change anything here."},
    413: {"model": ErrorBody, "description": "The body is too large."},
    421: {"model": ErrorBody, "description": "This host name is not allowed."},
}
OURS: Final[Responses] = {
    400: {"model": ErrorBody | WrongParameters, "description": "The request cannot be used."},
    404: {"model": ErrorBody, "description": "There is no such run, tag, node, dump or tensor."},
    410: {"model": ErrorBody, "description": "The file was removed, replaced or cut short."},
    422: {"model": ErrorBody | WrongParameters, "description": "A parameter is wrong, or a file unreadable."},
    501: {"model": ErrorBody, "description": "An optional package is not installed."},
    503: {"model": ErrorBody, "description": "Too much to do at once, or it took too long: ask again."},
    507: {"model": ErrorBody, "description": "There is no room left to keep it."},
    **DOOR,
}
