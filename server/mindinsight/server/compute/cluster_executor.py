"""Executor over a Dask cluster.

Calls are pure functions, so a call that the scheduler lost is submitted again. Files are read where the call
runs: every worker must see the base directories at the same path, and have the same version of MindInsight
and of Python. Both are checked when the executor connects.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor
from functools import partial
from typing import Any, Final

from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.compute.worker_pool import TRIES, Call, Task, TaskExecutor
from mindinsight.server.errors import problem

_PATIENCE: Final = 10.0  # seconds to wait for the scheduler: Dask's own limit is 30, half of a usual deadline
_AHEAD: Final = 4  # calls under way for each thread of the cluster, so that none waits for the next one


class ClusterError(BrokenExecutor):
    """Error: the cluster cannot run the calls. The text says why."""


class ClusterExecutor(TaskExecutor):
    """Executor that submits calls to a Dask scheduler, to which it connects with the first call.

    If the cluster cannot be reached or cannot do the work, every future fails with `ClusterError`, and the
    next call tries again. When a future is cancelled Dask drops the call, but does not end one that runs.
    """

    def __init__(
        self,
        address: str,
        folders: Iterable[str | os.PathLike[str]] = (),
        begin: Callable[[], None] | None = None,
    ) -> None:
        """Make an executor for the scheduler at `address`, whose workers must all see the `folders`. A
        worker calls `begin` before each call."""
        super().__init__()
        self._begin = begin
        self._address = address
        self._folders = tuple(os.fspath(folder) for folder in folders)
        self._connecting = LruCache[Any](0)
        self._client: Any = None
        self._threads = 1

    @property
    def ahead(self) -> int:
        """Return the number of calls to submit in advance, so that all threads of the cluster stay busy."""
        return _AHEAD * self._threads

    def _start(self, task: Task, tries: int = TRIES) -> None:
        try:
            remote = self._connected().submit(_perform, self._begin, task.call, pure=False)
        except Exception as error:  # a call that cannot be pickled, or a cluster that cannot be reached
            task.settle(None, error)
            return
        self._performers[task] = remote
        if task.cancelled():  # before Dask had it
            self._settled(task)
        remote.add_done_callback(partial(self._receive, task, tries - 1))

    def _receive(self, task: Task, tries: int, remote: Any) -> None:
        """Set the result or error of a finished task, or submit its call again if the scheduler lost it."""
        self._performers.pop(task, None)
        if task.cancelled():
            return
        if remote.status == "error":
            task.settle(None, _error_of(remote))
            return
        if remote.status == "finished":
            with contextlib.suppress(Exception):  # the worker that held the result died
                task.settle(remote.result(timeout=_PATIENCE), None)
                return
        if tries and not self._closed:
            self._start(task, tries)
        else:
            task.settle(None, ClusterError(problem("cluster_lost", address=self._address, n=TRIES)))

    def _end(self, performer: Any) -> None:
        with contextlib.suppress(Exception):  # the scheduler is gone
            client = self._client  # cancels in its own loop, so that nobody waits
            client.loop.add_callback(client.cancel, [performer], asynchronous=True)

    def _close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=_PATIENCE)

    def _connected(self) -> Any:
        """Return the client of the cluster, connected and checked. Raises ClusterError."""
        client = self._client
        if client is None or client.status not in ("running", "connecting"):
            return self._connecting.get("client", self._connect)
        return client

    def _connect(self) -> Any:
        from distributed import Client

        options = {"set_as_default": False, "name": "mindinsight", "heartbeat_interval": "5s"}
        try:
            client = Client(self._address, timeout=_PATIENCE, **options)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(problem("cluster_away", address=self._address, why=error)) from error
        try:
            self._threads = self._checked(client)
        except BaseException:
            client.close(timeout=_PATIENCE)
            raise
        self._client = client
        return client

    def _checked(self, client: Any) -> int:
        """Return the number of threads of all workers. Raises ClusterError if a worker differs from us."""
        threads: Mapping[str, int] = client.nthreads()
        if not threads:
            raise ClusterError(problem("cluster_idle", address=self._address))
        version = partial(importlib.metadata.version, "mindinsight")
        for about, ask in (("MindInsight", version), ("Python", platform.python_version)):
            ours = ask()
            for worker, theirs in client.run(ask, on_error="return").items():
                if str(theirs).split(".")[:2] != ours.split(".")[:2]:  # what is sent may differ then
                    words = {"worker": worker, "about": f"{about} {theirs}", "ours": ours}
                    raise ClusterError(problem("cluster_old", **words))
        for folder in self._folders:
            for worker, seen in client.run(os.path.isdir, folder, on_error="return").items():
                if seen is not True:
                    raise ClusterError(problem("cluster_blind", worker=worker, path=folder))
        return sum(threads.values())


def _perform(begin: Callable[[], None] | None, call: Call) -> Any:
    function, args, kwargs = call
    if begin is not None:
        begin()
    return function(*args, **kwargs)


def _error_of(remote: Any) -> BaseException:
    """Return the error of a remote call: a ClusterError if its workers died, otherwise the call's own."""
    error = remote.exception(timeout=_PATIENCE)
    if type(error).__name__ == "KilledWorker":
        return ClusterError(problem("cluster_died", why=error))
    return error if isinstance(error, BaseException) else ClusterError(str(error))
