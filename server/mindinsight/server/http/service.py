"""Parts of a running server, which requests receive by `Depends(service_of)`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from mindinsight.server.compute.background_jobs import JOBS, Threads
from mindinsight.server.compute.bulkhead import Bulkhead
from mindinsight.server.compute.memory_budget import MemoryBudget
from mindinsight.server.compute.plugin_modules import PluginState
from mindinsight.server.compute.worker_pool import TaskExecutor, WorkerPool
from mindinsight.server.settings import Settings
from mindinsight.server.workspace import Workspace

if TYPE_CHECKING:
    from mindinsight.server.ingest.loader import Loader
    from mindinsight.server.store.store import Store

POOLS: Final = ("background", "readers", "openers")  # names of the process pools in `Service.pools`
CLASSES: Final = ("payloads", "dumps", "graphs", "checkpoints")  # classes of work, each with a bulkhead


@dataclass(frozen=True)
class Service:
    """Parts of a running server."""

    settings: Settings
    store: Store
    loader: Loader
    workspace: Workspace
    executor: TaskExecutor  # for measurements and comparisons in the background
    started: float  # Unix seconds
    parts: PluginState = field(default_factory=PluginState)
    readers: WorkerPool = field(default_factory=lambda: WorkerPool(1))  # for reading event files
    openers: WorkerPool = field(default_factory=lambda: WorkerPool(1))  # for opening files during a request
    jobs: Threads = field(
        default_factory=lambda: Threads(JOBS, "job")
    )  # for jobs with results that are read while they run
    memory: MemoryBudget = field(default_factory=MemoryBudget)  # shared by all requests
    bulkheads: dict[str, Bulkhead] = field(default_factory=dict)

    @property
    def pools(self) -> tuple[TaskExecutor, ...]:
        """Return the process pools. They are separate, so that a slow request delays neither event files
        nor other requests."""
        return self.executor, self.readers, self.openers

    def bulkhead(self, name: str) -> Bulkhead:
        """Return the bulkhead of a class of work. Call it only in the event loop."""
        if name not in self.bulkheads:
            patience = self.settings.deadline / 2  # the other half of the deadline is for the work
            self.bulkheads[name] = Bulkhead(name, memory=self.memory, patience=patience)
        return self.bulkheads[name]

    @property
    def threads(self) -> list[Threads]:
        """Return all thread pools."""
        pools = [pool.threads for pool in self.pools if isinstance(pool, WorkerPool)]
        return [*pools, self.jobs, *(self.bulkhead(name).threads for name in CLASSES)]

    def start_threads(self) -> None:
        """Start all threads, because starting one later may fail if memory is short."""
        for threads in self.threads:
            threads.start()

    @property
    def workers_missing(self) -> bool:
        """Return True if the workers of a process pool could not be started."""
        return any(pool.missing for pool in self.pools)


async def service_of(request: Request) -> Service:
    """Return the service of a request."""
    # A coroutine, because FastAPI runs plain functions in a thread, which costs as much as a small response.
    service = request.app.state.service
    assert isinstance(service, Service)
    return service
