"""The scalar routes over a store made by hand: what a page and a script get."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from mindinsight.server.api.direct_routes import DirectRoutes
from mindinsight.server.errors import ApiError
from mindinsight.server.http.service import Service
from mindinsight.server.plugins.scalar.scalar_routes import PLUGIN
from mindinsight.server.store.run import Snapshot

from .runs import WALL


@pytest.fixture
def ask() -> Callable[..., Any]:
    """Returns ask(*runs) -> client over a snapshot of these runs."""

    def over(*runs: Any) -> TestClient:
        app = FastAPI()
        app.include_router(PLUGIN.router, prefix="/v2/scalar")
        snapshot = Snapshot(1, {run.id: run for run in runs}, 0, "/x", "polling", WALL)
        wanted: list[Any] = []
        store: Any = SimpleNamespace(snapshot=lambda: snapshot)
        loader: Any = SimpleNamespace(want=wanted.extend)
        settings: Any = SimpleNamespace(deadline=60.0)
        absent: Any = None
        app.state.service = Service(settings, store, loader, absent, absent, started=WALL)

        @app.exception_handler(ApiError)
        def answer_error(request: Any, error: Any) -> Any:
            from starlette.responses import JSONResponse

            return JSONResponse(error.body(), error.status)

        return TestClient(DirectRoutes(app.state, app), "http://testserver/v2/scalar")

    return over
