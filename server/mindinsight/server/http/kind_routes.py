"""ASGI application of requests below ``/v2/<kind>/``, each kind's routes made on the first request for one.

All routes together take three times as long to load as those of one kind, and a page asks for one.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.http.lazy_app import route_path

_PREFIX = "/v2/"


class KindRoutes:
    """Routes by kind; ``interface`` answers everything else, and names that are no kind's."""

    def __init__(self, make: Callable[[str], ASGIApp | None], interface: ASGIApp) -> None:
        """``make`` gives the routes of a kind by its name, None where there is none."""
        self._make = make
        self._interface = interface
        self._made: dict[str, ASGIApp] = {}
        self._making = LruCache[ASGIApp | None](0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind, below, _ = route_path(scope).removeprefix(_PREFIX).partition("/")
        app = self._interface
        if below and kind.isidentifier():
            made = self._made.get(kind)
            app = await run_in_threadpool(self._app, kind) if made is None else made
        await app(scope, receive, send)

    def _app(self, kind: str) -> ASGIApp:
        app = self._making.get(kind, lambda: self._made.get(kind) or self._make(kind))
        if app is None:  # not kept: there is no end of names
            return self._interface
        return self._made.setdefault(kind, app)
