"""Executor over a Dask cluster, behind the standard ``Executor`` interface.

Calls are pure functions of paths and numbers, so a call whose worker died, or that a restarted scheduler
forgot, is submitted again. Files are read where the call runs: the base directories must have the same path
on every worker, and every worker the same version of MindInsight and of Python; both are checked once, when
the cluster is reached.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, InvalidStateError
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

from mindinsight.server.cancellation import LONGEST, watch
from mindinsight.server.compute.lru_cache import LruCache

P = ParamSpec("P")
T = TypeVar("T")

_TRIES: Final = 3
_PATIENCE: Final = 10.0  # seconds to wait for the scheduler
_AHEAD: Final = 4  # calls under way per thread of the cluster


class ClusterError(BrokenExecutor):
    """Error: the cluster cannot do the work, and why."""


def _begun(begin: Callable[[], None] | None, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    if begin is not None:
        begin()
    return fn(*args, **kwargs)


@dataclass(slots=True, eq=False)
class _Task:
    """A submitted call, its future, and Dask's future of it."""

    future: Future[Any]
    call: Callable[[Any], Any]  # with a client: Dask's future
    tries: int = _TRIES
    remote: Any = None

    def settle(self, result: Any, error: BaseException | None) -> None:
        with contextlib.suppress(InvalidStateError):  # cancelled
            if error is None:
                self.future.set_result(result)
            else:
                self.future.set_exception(error)


class ClusterExecutor(Executor):
    """Executor that submits calls to a Dask scheduler; it connects with the first call.

    Where the cluster cannot be reached, has no worker, or its workers differ from this process, every future
    fails with ``ClusterError``, which says so; the next call tries again. A future may be cancelled at any
    time: Dask then drops the call, though one that runs is not ended.
    """

    isolated = True  # nothing is done in this process, as in a pool whose calls may hang
    missing = False
    killed = 0

    def __init__(
        self,
        address: str,
        folders: Iterable[str | os.PathLike[str]] = (),
        begin: Callable[[], None] | None = None,
    ) -> None:
        """``address`` as ``scheduler_address`` gives it; every worker must see the ``folders``.

        A worker calls ``begin`` before each call.
        """
        self._begin = begin
        self._address = address
        self._folders = tuple(os.fspath(folder) for folder in folders)
        self._connecting = LruCache[Any](0)
        self._client: Any = None
        self._threads = 1
        self._tasks: set[_Task] = set()
        self._closed = False

    @property
    def ahead(self) -> int:
        """How many calls keep all threads of the cluster busy."""
        return _AHEAD * self._threads

    @property
    def running(self) -> int:
        """Number of calls that the cluster has and has not answered."""
        return len(self._tasks)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: Future[T] = Future()
        task = _Task(
            future, lambda client: client.submit(_begun, self._begin, fn, *args, pure=False, **kwargs)
        )
        self._tasks.add(task)
        future.add_done_callback(lambda done: self._drop(task))
        watch(future)
        self._send(task)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._closed = True
        for task in self._tasks.copy():
            if cancel_futures:
                task.future.cancel()
            elif wait:
                with contextlib.suppress(BaseException):
                    task.future.exception(LONGEST)
        client, self._client = self._client, None
        if client is not None:
            client.close(timeout=_PATIENCE)

    def _send(self, task: _Task) -> None:
        try:
            task.remote = task.call(self._connected())
        except Exception as error:  # what cannot be sent, or a cluster that is not there
            task.settle(None, error)
        else:
            task.remote.add_done_callback(lambda remote: self._receive(task, remote))

    def _receive(self, task: _Task, remote: Any) -> None:
        """Hand over a result, or submit the call again where the scheduler forgot it."""
        if task.future.cancelled():
            return
        status = remote.status
        if status == "finished":
            try:
                task.settle(remote.result(timeout=_PATIENCE), None)
                return
            except Exception:  # its worker died after it was done, before it was fetched
                status = "lost"
        if status == "error":
            task.settle(None, _error_of(remote))
            return
        task.tries -= 1
        if self._closed or not task.tries:
            task.settle(None, ClusterError(f"the scheduler at {self._address} lost it {_TRIES} times"))
        else:
            self._send(task)

    def _drop(self, task: _Task) -> None:
        self._tasks.discard(task)
        if task.future.cancelled() and task.remote is not None:
            with contextlib.suppress(Exception):  # the scheduler is gone; in its loop, so that nobody waits
                client = self._client
                client.loop.add_callback(client.cancel, [task.remote], asynchronous=True)

    def _connected(self) -> Any:
        """The client of the cluster, connected and checked. Raises ClusterError."""
        client = self._client
        if client is None or client.status not in ("running", "connecting"):
            return self._connecting.get("client", self._connect)
        return client

    def _connect(self) -> Any:
        from distributed import Client

        try:
            client = Client(
                self._address,
                timeout=_PATIENCE,
                set_as_default=False,
                name="mindinsight",
                heartbeat_interval="5s",
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(f"the Dask scheduler at {self._address} cannot be reached: {error}") from error
        try:
            self._threads = self._checked(client)
        except BaseException:
            client.close(timeout=_PATIENCE)
            raise
        self._client = client
        return client

    def _checked(self, client: Any) -> int:
        """The number of threads of all workers. Raises ClusterError where a worker is no equal of ours."""
        threads: Mapping[str, int] = client.nthreads()
        if not threads:
            raise ClusterError(f"the Dask scheduler at {self._address} has no worker: start dask worker")
        ours = importlib.metadata.version("mindinsight")
        for call, expected, about in (
            ((importlib.metadata.version, "mindinsight"), ours, "MindInsight"),
            ((platform.python_version,), platform.python_version(), "Python"),
        ):
            for worker, version in client.run(*call, on_error="return").items():
                if _release(version) != _release(expected):
                    raise ClusterError(f"worker {worker} has {about} {version}, and this server {expected}")
        for folder in self._folders:
            for worker, seen in client.run(os.path.isdir, folder, on_error="return").items():
                if seen is not True:
                    raise ClusterError(f"worker {worker} does not see the directory {folder}")
        return sum(threads.values())


def _release(version: object) -> object:
    """The first two numbers of a version: those in which what is sent may differ."""
    return version.split(".")[:2] if isinstance(version, str) else version


def _error_of(remote: Any) -> BaseException:
    error = remote.exception(timeout=_PATIENCE)
    if type(error).__name__ == "KilledWorker":
        return ClusterError(f"workers of the cluster died over it: {error}")
    return error if isinstance(error, BaseException) else ClusterError(str(error))
