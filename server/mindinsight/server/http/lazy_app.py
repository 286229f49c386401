"""Lazy ASGI applications, made on their first request.

What is not asked for costs nothing: a server that only reads files starts in a third of the time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.compute.lru_cache import LruCache


def route_path(scope: Scope) -> str:
    """Return the path of a request below the prefix (``root_path``) that the application has."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    inside = path == root or path.startswith(f"{root}/")
    return path[len(root) :] if inside else path


class LazyApp:
    """ASGI application that is made on its first request, in a thread, so that other requests do not wait."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._made: ASGIApp | None = None
        self._making = LruCache[ASGIApp](1)
        self._ending: AsyncExitStack | None = None
        self._living = False

    def app(self) -> ASGIApp:
        """The application, made by the first who asks."""
        self._made = self._making.get("app", self._make)
        return self._made

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """At the end of the block the application's lifespan ends, if it was made."""
        async with AsyncExitStack() as self._ending:
            yield
        self._ending = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = await run_in_threadpool(self.app) if self._made is None else self._made
        if self._ending is not None and not self._living:
            self._living = True
            if isinstance(app, Starlette):  # others have no lifespan
                await self._ending.enter_async_context(app.router.lifespan_context(app))
        await app(scope, receive, send)
