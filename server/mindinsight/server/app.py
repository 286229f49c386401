"""Application factory. Nothing is created at import, so that two servers in one process share nothing."""

import asyncio
import contextlib
import logging
import math
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial

from anyio import to_thread
from starlette.applications import Starlette
from starlette.datastructures import State
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mindinsight.server.compute.background_jobs import START_SECONDS, start_within_limit
from mindinsight.server.compute.worker_pool import TaskExecutor, WorkerPool
from mindinsight.server.errors import ApiError
from mindinsight.server.files.own_files import trust_copies
from mindinsight.server.http.health import health_report
from mindinsight.server.http.lazy_app import KindRoutes, LazyApp, route_path
from mindinsight.server.http.security import BodyLimit, Security, error_response
from mindinsight.server.http.service import Service
from mindinsight.server.http.sse import Hub
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import LOCAL, Settings
from mindinsight.server.settings.base_dirs import MIRRORS, stores
from mindinsight.server.store.mounts import mounts_of
from mindinsight.server.store.store import Store
from mindinsight.server.workspace import Workspace

V1 = "/v1/mindinsight"
INTERFACE = ("/v2/", "/data/")
THREADS = 8  # for light requests; more only compete for the interpreter lock and delay the event loop

LONGEST = 10  # deadlines of a request that one task in the background may take


_log = logging.getLogger(__name__)


def create_app(settings: Settings, service: Service | None = None) -> Starlette:
    """Return the server as an ASGI application. Tests and notebooks may pass a `service`. Pages need no
    FastAPI. The interfaces that do are imported on their first request."""
    service = service or make_service(settings)
    state = State({"service": service, "hub": Hub()})
    v1, interface = LazyApp(lambda: _v1(state)), LazyApp(lambda: _interface(state))
    direct = LazyApp(lambda: _direct(state, KindRoutes(partial(_kind, state, interface), interface)))
    pages = LazyApp(lambda: _pages(interface))
    app = Starlette(
        routes=[Route("/health", _health), _below(V1, v1), _below("", _pages_or_interface(pages, direct))],
        middleware=[
            Middleware(Security, settings=settings, ask_for_token=_token_page, error_of=_error_of),
            Middleware(BodyLimit, error_of=_error_of),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=4),
        ],
        lifespan=lambda app: _running(state, (v1, interface, pages)),
    )
    state.interfaces = {V1: v1, "": interface}  # by the prefix of their paths
    app.state = state
    return app


def make_service(settings: Settings) -> Service:
    """Return the parts of a server. None is started."""
    store = Store()
    begin = _trust_copies(settings)
    readers = WorkerPool(settings.workers, begin)
    return Service(
        settings=settings,
        store=store,
        loader=Loader(settings, store, readers),
        workspace=Workspace(settings.workspace, settings.summary_base_dir, lambda: store.snapshot().bases),
        executor=_executor(settings, begin),
        started=time.time(),
        readers=readers,
        openers=WorkerPool(settings.workers, begin, isolated=True),
    )


def _trust_copies(settings: Settings) -> Callable[[], None] | None:
    """Trust the local copies of remote stores, and return a function that does so in a worker process, or
    None without stores."""
    if not stores(settings.summary_base_dir):
        return None
    begin = partial(trust_copies, settings.workspace / MIRRORS, settings.allow_redirects_to)
    begin()
    return begin


def _executor(settings: Settings, begin: Callable[[], None] | None) -> TaskExecutor:
    if settings.executor != LOCAL:
        from mindinsight.server.compute.cluster_executor import ClusterExecutor

        mounts = mounts_of(settings.summary_base_dir)
        return ClusterExecutor(settings.executor, [mount.real for mount in mounts], begin)
    return WorkerPool(settings.workers, begin, isolated=True, limit=LONGEST * settings.deadline)


def _below(path: str, part: ASGIApp) -> Mount:
    """Mount an application below `path`, also for paths with line breaks, which Starlette's pattern
    excludes."""
    mount = Mount(path, part)
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return mount


def _pages_or_interface(pages: ASGIApp, interface: ASGIApp) -> ASGIApp:
    """Return an application that passes requests to the interface or to the pages, by the beginning of the
    path. The pages pass on requests that they do not know, such as `/metrics`."""

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        app = interface if route_path(scope).startswith(INTERFACE) else pages
        await app(scope, receive, send)

    return route


async def _health(request: Request) -> JSONResponse:  # in the event loop, because it needs no free thread
    return JSONResponse(health_report(request.app.state.service))


def _token_page(request: Request) -> str:
    from mindinsight.server.api.pages import token_page

    return token_page(request)


def _error_of(path: str, error: ApiError) -> Response:
    """Return an error as a response of the API, v1 or v2, that serves a path."""
    if not path.startswith(f"{V1}/"):
        return error_response(error)
    from mindinsight.server.v1.v1_responses import v1_error

    return v1_error(error)


def _v1(state: State) -> Starlette:
    from mindinsight.server.v1 import create_v1

    return create_v1(state)


def _pages(interface: ASGIApp) -> Starlette:
    from mindinsight.server import extensions
    from mindinsight.server.api.pages import WEB, Pages
    from mindinsight.server.http.static_files import BUNDLE, Assets

    assets = Assets(WEB, views=extensions.views())
    if assets.scripts != BUNDLE:
        _log.info("The scripts of the pages are not bundled. A first visit takes about 130 requests.")
    app = Starlette(routes=Pages(assets).routes())
    app.router.default = interface
    return app


def _direct(state: State, interface: ASGIApp) -> ASGIApp:
    from mindinsight.server.api.direct_routes import DirectRoutes

    return DirectRoutes(state, interface)


def _kind(state: State, interface: ASGIApp, name: str) -> Starlette | None:
    from mindinsight.server.api.v2 import create_kind_interface

    return create_kind_interface(state, name, interface)


def _interface(state: State) -> Starlette:
    from mindinsight.server.api.v2 import create_interface

    return create_interface(state)


@contextlib.asynccontextmanager
async def _running(state: State, parts: Iterable[LazyApp]) -> AsyncIterator[None]:
    """Start the server's threads and stop them, in the reverse order, at the end of the block."""
    service: Service = state.service
    service.start_threads()
    await _start_light_threads()
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(state.hub.listening(service.store))
        service.loader.start()
        for threads in service.threads:
            stack.callback(threads.stop)
        for pool in service.pools:
            stack.callback(pool.shutdown, cancel_futures=True)
        stack.callback(service.loader.stop)
        stack.callback(service.parts.stop)  # before the pools that it uses stop
        if service.settings.webhooks:
            stack.callback(_post_alerts(service))
        for part in parts:
            await stack.enter_async_context(part.living())
        yield


async def _start_light_threads() -> None:
    """Start the threads of light requests at once, and keep them. The system may give fewer. Anyio would
    wait for a new thread without a limit, and end idle threads. It has no option for either."""
    limiter = to_thread.current_default_thread_limiter()  # loads the class of anyio's threads
    limiter.total_tokens = THREADS
    for kind in threading.Thread.__subclasses__():
        if kind.__module__.startswith("anyio."):
            for name, value in (("start", start_within_limit), ("MAX_IDLE_TIME", math.inf)):
                setattr(kind, name, value)
    together = threading.Barrier(THREADS)

    async def start() -> bool:
        try:
            if not together.broken:
                await to_thread.run_sync(together.wait, START_SECONDS)
        except threading.BrokenBarrierError:  # in a thread that has begun
            return True
        except (RuntimeError, MemoryError) as error:
            _log.warning("Cannot start a thread: %s", error)
            together.abort()
        return not together.broken

    limiter.total_tokens = max(1, sum(await asyncio.gather(*(start() for _ in range(THREADS)))))


def _post_alerts(service: Service) -> Callable[[], None]:
    """Start posting alerts to the webhooks, and return a function that stops it."""
    from mindinsight.server.plugins.alert.webhook_sender import sender_of

    sender = sender_of(service)
    sender.start()
    return sender.stop
