"""Dependency of requests: the parts of a running server, injected with ``Depends(service_of)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from mindinsight.server.compute.background_jobs import JOBS, Threads
from mindinsight.server.compute.bulkhead import Bulkhead
from mindinsight.server.compute.memory_budget import MemoryBudget
from mindinsight.server.compute.plugin_modules import PluginState
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.settings import Settings
from mindinsight.server.workspace import Workspace

if TYPE_CHECKING:
    from mindinsight.server.compute.cluster_executor import ClusterExecutor
    from mindinsight.server.ingest.loader import Loader
    from mindinsight.server.store.store import Store

POOLS: Final = ("background", "readers", "openers")  # of processes, as `Service.pools` has them
CLASSES: Final = ("payloads", "dumps", "graphs", "checkpoints")  # of work, each with a bulkhead


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
    jobs: Threads = field(default_factory=lambda: Threads(JOBS, "job"))  # work that is read while it runs
    memory: MemoryBudget = field(default_factory=MemoryBudget)  # of all requests together
    bulkheads: dict[str, Bulkhead] = field(default_factory=dict)

    @property
    def pools(self) -> tuple[WorkerPool | ClusterExecutor, ...]:
        """Apart from each other: no request keeps event files or the work of other requests waiting."""
        return self.executor, self.readers, self.openers

    def bulkhead(self, name: str) -> Bulkhead:
        """Return the bulkhead of a class of work. For the event loop only."""
        if name not in self.bulkheads:
            patience = self.settings.deadline / 2  # what is left is for the work
            self.bulkheads[name] = Bulkhead(name, memory=self.memory, patience=patience)
        return self.bulkheads[name]

    @property
    def threads(self) -> list[Threads]:
        pools = [pool.threads for pool in self.pools if isinstance(pool, WorkerPool)]
        return [*pools, self.jobs, *(self.bulkhead(name).threads for name in CLASSES)]

    def start_threads(self) -> None:
        """Start all threads there will be: later, when memory is short, none may be to be had."""
        for threads in self.threads:
            threads.start()

    def cancel_work(self) -> None:
        """Cancel what requests have begun: the server ends."""
        for bulkhead in self.bulkheads.values():
            bulkhead.cancel()
            bulkhead.threads.stop()
        self.jobs.stop()

    @property
    def workers_missing(self) -> bool:
        """Whether no worker process could begin."""
        return any(pool.missing for pool in self.pools)


async def service_of(request: Request) -> Service:
    # Not a plain function: those are run in a thread, which costs as much as a small answer.
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
