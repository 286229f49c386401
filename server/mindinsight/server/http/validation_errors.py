"""Exception handler for requests whose parameters or body are invalid (422)."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse, Response


def install(app: FastAPI) -> None:
    app.add_exception_handler(RequestValidationError, _unfit)


def _unfit(request: Request, error: Exception) -> Response:
    """Where and why; not what was sent: JSON has no word for an infinity that came as ``1e999``."""
    assert isinstance(error, RequestValidationError)
    details = [{name: detail[name] for name in ("loc", "msg", "type")} for detail in error.errors()]
    return JSONResponse({"detail": jsonable_encoder(details)}, 422)
