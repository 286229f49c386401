"""Routes for the default settings of pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from mindinsight.server.errors import ApiError
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.workspace.defaults import ALL_PAGES, MAX_DEFAULT
from mindinsight.server.workspace.storage_errors import storing
from mindinsight.server.workspace.views import QUERY, VIEW

router = APIRouter(prefix="/v2/defaults", tags=["views"])
OneService = Annotated[Service, Depends(service_of)]


class DefaultSettings(BaseModel):
    """Settings with which a page opens."""

    view: str = Field(pattern=VIEW, description="name of the page, such as scalar")
    query: str = Field(
        "", pattern=QUERY, max_length=MAX_DEFAULT, description="without the question mark; empty: none"
    )


@router.get("")
def defaults(service: OneService) -> dict[str, Any]:
    """The settings of every page that has any."""
    return {"defaults": {view: default.query for view, default in service.workspace.defaults.all().items()}}


@router.put("")
def keep(settings: DefaultSettings, request: Request, service: OneService) -> dict[str, Any]:
    """Keep the settings of a page for everybody who opens it without settings of its own.

    Those of the page ``all`` hold for every page: ``n`` significant digits, ``e=1`` for powers of ten, ``r``
    seconds between two refreshes.
    """
    if settings.view != ALL_PAGES and settings.view not in request.app.state.pages:
        raise ApiError(404, "unknown_page", f"There is no page {settings.view!r}.", page=settings.view)
    with storing({}):
        service.workspace.defaults.keep(settings.view, settings.query)
    return defaults(service)
