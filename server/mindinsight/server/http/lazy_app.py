"""ASGI applications that are created on their first request, for the whole interface and for each kind."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.compute.lru_cache import LruCache


def route_path(scope: Scope) -> str:
    """Return the path of a request below the prefix (`root_path`) of the application."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    inside = path == root or path.startswith(f"{root}/")
    return path[len(root) :] if inside else path


class LazyApp:
    """ASGI application that is created on its first request, in a thread, so that other requests do not
    wait.
    """

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._made: ASGIApp | None = None
        self._making = LruCache[ASGIApp](1)
        self._ending: AsyncExitStack | None = None
        self._living = False

    def app(self) -> ASGIApp:
        """Return the application, creating it on first use."""
        self._made = self._making.get("app", self._make)
        return self._made

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """Shut the application down at the end of the block, if it was created."""
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


_PREFIX = "/v2/"


class KindRoutes:
    """Dispatcher of requests to the routes of each kind of data. `interface` answers everything else, and
    names of unknown kinds."""

    def __init__(self, make: Callable[[str], ASGIApp | None], interface: ASGIApp) -> None:
        """Create the dispatcher, where `make` returns the routes of a kind by name, or None for an unknown
        kind."""
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
        if app is None:  # not cached, because clients can send any number of names
            return self._interface
        return self._made.setdefault(kind, app)
