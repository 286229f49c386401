"""Routes for saved views: a name for a page and its query."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from pydantic import BaseModel, Field, StringConstraints

from mindinsight.server.api.pages import WEB, names_of
from mindinsight.server.errors import ApiError
from mindinsight.server.http.openapi import ErrorBody, response
from mindinsight.server.http.service import Service, service_of
from mindinsight.server.http.static.assets import Assets
from mindinsight.server.http.static.view_entries import view_entries
from mindinsight.server.workspace.json_store import Full, Taken
from mindinsight.server.workspace.storage_errors import storing
from mindinsight.server.workspace.views import MAX_NAME, MAX_QUERY, MAX_VIEWS, QUERY, VIEW, View

router = APIRouter(
    prefix="/v2/views",
    tags=["views"],
    responses={409: response("The name is taken, or there is no room for more.", ErrorBody)},
)
OneService = Annotated[Service, Depends(service_of)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME)]


def install(app: FastAPI) -> None:
    app.state.pages = frozenset(names_of(view_entries(Assets(WEB))))


class SavedView(BaseModel):
    """Saved view: a page of this server and its query."""

    name: Name
    view: str = Field(pattern=VIEW, description="name of the page, such as scalar")
    query: str = Field("", pattern=QUERY, max_length=MAX_QUERY, description="without the question mark")


class NewName(BaseModel):
    name: str
    to: Name


@router.get("")
def views(service: OneService) -> dict[str, Any]:
    """Every saved view, in the order in which they were saved."""
    return {"views": [{"name": name, **asdict(view)} for name, view in service.workspace.views.all().items()]}


@router.put("")
def save(saved: SavedView, request: Request, service: OneService) -> dict[str, Any]:
    """Save a view; one of the same name is overwritten."""
    if saved.view not in request.app.state.pages:
        raise ApiError(404, "unknown_page", f"There is no page {saved.view!r}.", page=saved.view)
    with storing(_refusals(saved.name)):
        service.workspace.views.keep(saved.name, View(saved.view, saved.query))
    return views(service)


@router.patch("")
def rename(change: NewName, service: OneService) -> dict[str, Any]:
    """Rename a saved view."""
    with storing(_refusals(change.name, change.to)):
        service.workspace.views.rename(change.name, change.to)
    return views(service)


@router.delete("")
def forget(service: OneService, name: Annotated[str, Query()]) -> dict[str, Any]:
    """Delete a saved view."""
    with storing(_refusals(name)):
        service.workspace.views.forget(name)
    return views(service)


def _refusals(name: str, to: str = "") -> dict[type[Exception], ApiError]:
    return {
        KeyError: ApiError(404, "unknown_view", f"There is no saved view {name!r}.", view=name),
        Taken: ApiError(409, "view_taken", f"There is a saved view {to!r} already.", view=to),
        Full: ApiError(409, "many_views", f"There are {MAX_VIEWS} saved views.", n=MAX_VIEWS),
    }
