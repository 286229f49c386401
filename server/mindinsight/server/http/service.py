"""What a request may use: one value, made by ``app`` and reached through ``Depends(service_of)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request

from mindinsight.server.compute.plugin_state import PluginState
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.settings import Settings
from mindinsight.server.workspace import Workspace

if TYPE_CHECKING:
    from mindinsight.server.ingest.loader import Loader
    from mindinsight.server.store.store import Store


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    loader: Loader
    workspace: Workspace
    executor: WorkerPool
    started: float  # Unix seconds
    parts: PluginState = field(default_factory=PluginState)


async def service_of(request: Request) -> Service:
    # Not a plain function: those are run in a thread, which costs as much as a small answer.
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
