"""Routes of saved views and of the default settings of pages."""

from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, FastAPI, Query, Request
from pydantic import BaseModel, Field, StringConstraints

from mindinsight.server.api.pages import WEB, names_of
from mindinsight.server.errors import ApiError
from mindinsight.server.http.bulkhead_routes import CurrentService
from mindinsight.server.http.openapi import ErrorBody, response
from mindinsight.server.http.static_files import Assets, view_entries
from mindinsight.server.workspace import saved_views
from mindinsight.server.workspace.json_store import Full, Taken, storing
from mindinsight.server.workspace.saved_views import View

_CONFLICT: Final = response("The name is taken, or there are too many views.", ErrorBody)
router = APIRouter(prefix="/v2/views", tags=["views"], responses={409: _CONFLICT})
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=saved_views.MAX_NAME)]


def install(app: FastAPI) -> None:
    """Store the names of all pages in the application's state."""
    app.state.pages = frozenset(names_of(view_entries(Assets(WEB))))


class SavedView(BaseModel):
    """Saved view: a page of this server and its query."""

    name: Name
    view: str = Field(pattern=saved_views.VIEW, description="name of the page, such as scalar")
    query: str = Field(
        "",
        pattern=saved_views.QUERY,
        max_length=saved_views.MAX_QUERY,
        description="without the question mark",
    )


class NewName(BaseModel):
    """Body that renames a saved view."""

    name: str
    to: Name


@router.get("")
def views(service: CurrentService) -> dict[str, Any]:
    """Return every saved view, in the order of creation."""
    return {"views": [{"name": name, **asdict(view)} for name, view in service.workspace.views.all().items()]}


@router.put("")
def save(saved: SavedView, request: Request, service: CurrentService) -> dict[str, Any]:
    """Save a view, replacing one of the same name, and return all views. Returns 404 for an unknown page, and
    409 if there are too many views."""
    if saved.view not in request.app.state.pages:
        raise ApiError(404, "unknown_page", f"There is no page {saved.view!r}.", page=saved.view)
    with storing(_errors(saved.name)):
        service.workspace.views.keep(saved.name, View(saved.view, saved.query))
    return views(service)


@router.patch("")
def rename(change: NewName, service: CurrentService) -> dict[str, Any]:
    """Rename a saved view, and return all views. Returns 404 for an unknown name, and 409 if the new one is
    taken."""
    with storing(_errors(change.name, change.to)):
        service.workspace.views.rename(change.name, change.to)
    return views(service)


@router.delete("")
def forget(service: CurrentService, name: Annotated[str, Query()]) -> dict[str, Any]:
    """Delete a saved view, and return the remaining views. Returns 404 for an unknown name."""
    with storing(_errors(name)):
        service.workspace.views.forget(name)
    return views(service)


def _errors(name: str, to: str = "") -> dict[type[Exception], ApiError]:
    """Return the responses to errors of a change of the view `name`."""
    return {
        KeyError: ApiError(404, "unknown_view", f"There is no saved view {name!r}.", view=name),
        Taken: ApiError(409, "view_taken", f"There is a saved view {to!r} already.", view=to),
        Full: ApiError(
            409, "many_views", f"There are {saved_views.MAX_VIEWS} saved views.", n=saved_views.MAX_VIEWS
        ),
    }


defaults_router = APIRouter(prefix="/v2/defaults", tags=["views"])


class DefaultSettings(BaseModel):
    """Settings with which a page opens."""

    view: str = Field(pattern=saved_views.VIEW, description="name of the page, such as scalar")
    query: str = Field(
        "",
        pattern=saved_views.QUERY,
        max_length=saved_views.MAX_DEFAULT,
        description="without the question mark; empty to remove",
    )


@defaults_router.get("")
def defaults(service: CurrentService) -> dict[str, Any]:
    """Return the settings of every page that has any."""
    return {"defaults": {view: default.query for view, default in service.workspace.defaults.all().items()}}


@defaults_router.put("")
def keep(settings: DefaultSettings, request: Request, service: CurrentService) -> dict[str, Any]:
    """Store default settings of a page, used if it is opened without settings, and return those of all pages.
    Returns 404 for an unknown page.

    An empty query removes them. The settings of the page `all` apply to every page: `n` significant digits,
    `e=1` for powers of ten, `r` seconds between two refreshes.
    """
    if settings.view != saved_views.ALL_PAGES and settings.view not in request.app.state.pages:
        raise ApiError(404, "unknown_page", f"There is no page {settings.view!r}.", page=settings.view)
    with storing({}):
        service.workspace.defaults.keep(settings.view, settings.query)
    return defaults(service)
