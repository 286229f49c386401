"""Dependency of requests: the parts of a running server, injected with ``Depends(service_of)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import Request

from mindinsight.server.compute.bulkhead import Bulkhead
from mindinsight.server.compute.plugin_state import PluginState
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.settings import Settings
from mindinsight.server.workspace import Workspace

if TYPE_CHECKING:
    from mindinsight.server.compute.cluster_executor import ClusterExecutor
    from mindinsight.server.ingest.loader import Loader
    from mindinsight.server.store.store import Store


@dataclass(frozen=True)
class Service:
    """The parts of a running server."""

    settings: Settings
    store: Store
    loader: Loader
    workspace: Workspace
    executor: WorkerPool | ClusterExecutor  # measures and compares in the background
    started: float  # Unix seconds
    parts: PluginState = field(default_factory=PluginState)
    readers: WorkerPool = field(default_factory=lambda: WorkerPool(1))  # read event files
    openers: WorkerPool = field(default_factory=lambda: WorkerPool(1))  # open what a request waits for
    bulkheads: dict[str, Bulkhead] = field(default_factory=dict)

    @property
    def pools(self) -> tuple[WorkerPool | ClusterExecutor, ...]:
        """Apart from each other: no request keeps event files or the work of other requests waiting."""
        return self.executor, self.readers, self.openers

    def bulkhead(self, name: str) -> Bulkhead:
        """The bulkhead of a class of work; for the event loop only."""
        return self.bulkheads.setdefault(name, Bulkhead())

    @property
    def workers_missing(self) -> bool:
        """Whether no worker process could begin."""
        return any(pool.missing for pool in self.pools)


async def service_of(request: Request) -> Service:
    # Not a plain function: those are run in a thread, which costs as much as a small answer.
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
