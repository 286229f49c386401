"""The answers over a store made by hand."""

from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from mindinsight.server.http.service import Service
from mindinsight.server.plugins.answers.answers_routes import PLUGIN
from mindinsight.server.store.run import Run, Snapshot

from .curves import WALL, Ask


@pytest.fixture
def ask() -> Ask:
    """Returns ask(*runs) -> client over a snapshot of these runs."""

    def over(*runs: Run) -> TestClient:
        app = FastAPI()
        app.include_router(PLUGIN.router)
        snapshot = Snapshot(1, {run.id: run for run in runs}, 0, "/x", "polling", WALL)
        store: Any = SimpleNamespace(snapshot=lambda: snapshot)
        loader: Any = SimpleNamespace(want=lambda ids: None)
        absent: Any = None
        app.state.service = Service(absent, store, loader, absent, absent, started=WALL)
        return TestClient(app)

    return over
