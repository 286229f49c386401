"""Where a server is put together. Nothing is made at import; two servers in one process share nothing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator
from importlib.metadata import version

from anyio import to_thread
from fastapi import FastAPI, Request
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, Response

from mindinsight.server import api, live
from mindinsight.server.assets import Assets
from mindinsight.server.description import OURS
from mindinsight.server.errors import ApiError, Gone
from mindinsight.server.pages import WEB, Pages, ask_for_token
from mindinsight.server.plugins import plugins
from mindinsight.server.security import Security
from mindinsight.server.service import Service
from mindinsight.server.settings import Settings
from mindinsight.server.store.loader import Loader
from mindinsight.server.store.store import Store
from mindinsight.server.walking import modules_of
from mindinsight.server.workers import Workers
from mindinsight.server.workspace import Workspace

THREADS = 8  # that answer at a time: more only take turns, and keep the event loop waiting for its own


def create_app(settings: Settings, service: Service | None = None) -> FastAPI:
    """The whole server as an ASGI application; ``service`` may be given by tests and notebooks."""
    service = service or make_service(settings)
    app = FastAPI(
        title="MindInsight",
        version=version("mindinsight"),
        docs_url=None,
        redoc_url=None,
        openapi_url="/v2/openapi.json",
        responses=OURS,
        lifespan=_lifespan,
        middleware=[
            Middleware(Security, settings=settings, ask_for_token=ask_for_token()),
            Middleware(GZipMiddleware, minimum_size=1000, compresslevel=4),
        ],
    )
    app.state.service = service
    app.state.hub = live.Hub()
    app.add_exception_handler(ApiError, _api_error)
    app.add_exception_handler(Gone, _gone)
    _add_routes(app)
    return app


def make_service(settings: Settings) -> Service:
    store = Store()
    executor = Workers(settings.workers)
    return Service(
        settings=settings,
        store=store,
        loader=Loader(settings, store, executor),
        workspace=Workspace(settings.workspace, settings.summary_base_dir),
        executor=executor,
        started=time.time(),
    )


def _add_routes(app: FastAPI) -> None:
    kinds = plugins()
    app.include_router(live.router)
    for kind in kinds:
        app.include_router(kind.router, prefix=f"/v2/{kind.name}", tags=[kind.name])
    for module in modules_of(api.__name__, api.__path__):
        if hasattr(module, "router"):
            app.include_router(module.router)
        if hasattr(module, "install"):
            module.install(app)
    app.include_router(Pages(Assets(WEB), kinds).router())


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    to_thread.current_default_thread_limiter().total_tokens = THREADS
    async with app.state.hub.listening(service.store):
        service.loader.start()
        try:
            yield
        finally:
            service.loader.stop()
            service.executor.shutdown(wait=True, cancel_futures=True)


def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status)


def _gone(request: Request, error: Exception) -> Response:
    answer = ApiError(410, "gone", "The file has been removed, replaced or cut short since it was read.")
    return JSONResponse(answer.body(), answer.status)
