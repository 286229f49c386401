"""What a request may use: one value, made by ``app`` and reached through ``Depends(service_of)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request

from mindinsight.server.parts import Parts
from mindinsight.server.settings import Settings
from mindinsight.server.workers import Workers
from mindinsight.server.workspace import Workspace

if TYPE_CHECKING:
    from mindinsight.server.store.loader import Loader
    from mindinsight.server.store.store import Store


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    loader: Loader
    workspace: Workspace
    executor: Workers
    started: float  # Unix seconds
    parts: Parts = field(default_factory=Parts)


async def service_of(request: Request) -> Service:
    # Not a plain function: those are run in a thread, which costs as much as a small answer.
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
