"""The executor of a cluster, over a client that loses, fails and forgets.

``tests/remote/on_dask.py`` has a real cluster.
"""

from __future__ import annotations

import importlib.metadata
import platform
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mindinsight.server.compute.cluster_executor import ClusterError, ClusterExecutor
from mindinsight.server.compute.parallel_map import spread


class KilledWorker(Exception):
    """Dask's error of this name."""


class RemoteFuture:
    """Dask's future: it has an outcome from the start."""

    def __init__(self, status: str, outcome: Any) -> None:
        self.status, self._outcome = status, outcome
        self.is_cancelled = False

    def add_done_callback(self, function: Callable[[RemoteFuture], None]) -> None:
        if self.status != "pending":
            function(self)

    def result(self, timeout: float) -> Any:
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    def exception(self, timeout: float) -> Any:
        return self._outcome


class Client:
    """Dask's client: what becomes of calls is in ``plan``, then they are performed."""

    workers: dict[str, int] = {"tcp://w1": 3}  # noqa: RUF012
    about: dict[str, object] = {}  # noqa: RUF012
    plan: list[RemoteFuture] = []  # noqa: RUF012
    made: list[Client] = []  # noqa: RUF012

    def __init__(self, address: str, **options: object) -> None:
        if address.endswith(":9"):
            raise OSError("nobody there")
        self.status = "running"
        self.made.append(self)
        self.loop = self

    def add_callback(self, function: Callable[..., Any], *args: Any, **options: Any) -> None:
        function(*args, **options)

    def cancel(self, futures: list[RemoteFuture], asynchronous: bool) -> None:
        assert asynchronous  # whoever cancels does not wait
        for future in futures:
            future.is_cancelled = True

    def nthreads(self) -> dict[str, int]:
        return self.workers

    def run(self, function: Callable[..., Any], *args: Any, on_error: str) -> dict[str, Any]:
        return {
            name: self.about.get(getattr(function, "func", function).__name__, function(*args))
            for name in self.workers
        }

    def submit(self, function: Callable[..., Any], *args: Any, pure: bool) -> RemoteFuture:
        if self.plan:
            return self.plan.pop(0)
        try:
            return RemoteFuture("finished", function(*args))
        except Exception as error:
            return RemoteFuture("error", error)

    def close(self, timeout: float) -> None:
        self.status = "closed"


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Client]]:
    """The class of clients of this test."""
    own = type("OwnClient", (Client,), {"workers": {"tcp://w1": 3}, "about": {}, "plan": [], "made": []})
    module: Any = types.ModuleType("distributed")
    module.Client = own
    monkeypatch.setitem(sys.modules, "distributed", module)
    yield own


def test_calls_are_performed_and_their_errors_come_back(client: type[Client]) -> None:
    with ClusterExecutor("tcp://a:1") as executor:
        assert list(spread(abs, range(-70, 0), executor)) == list(range(70, 0, -1))
        assert executor.ahead == 12
        with pytest.raises(ValueError, match="invalid literal"):
            executor.submit(int, "x").result(1)
        assert len(client.made) == 1
    assert client.made[0].status == "closed"
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(abs, 1)


def test_what_the_scheduler_forgot_is_submitted_again(client: type[Client]) -> None:
    gone = RemoteFuture("finished", OSError("the worker that held the result is gone"))
    client.plan += [RemoteFuture("lost", None), gone]
    with ClusterExecutor("tcp://a:1") as executor:
        assert executor.submit(abs, -1).result(1) == 1
    with ClusterExecutor("tcp://a:1") as executor, pytest.raises(ClusterError, match="lost the work 3 times"):
        client.plan[:] = [RemoteFuture("lost", None)] * 3
        executor.submit(abs, -1).result(1)


def test_a_client_that_was_closed_is_made_anew(client: type[Client]) -> None:
    with ClusterExecutor("tcp://a:1") as executor:
        executor.submit(abs, -1).result(1)
        client.made[0].status = "closed"
        assert executor.submit(abs, -2).result(1) == 2
    assert len(client.made) == 2


def test_a_call_that_kills_workers_is_an_error_of_the_cluster(client: type[Client]) -> None:
    client.plan.append(RemoteFuture("error", KilledWorker("after 4 tries")))
    with ClusterExecutor("tcp://a:1") as executor, pytest.raises(ClusterError, match="died of it: after 4"):
        executor.submit(abs, -1).result(1)


def test_cancelling_a_future_cancels_what_the_cluster_holds(client: type[Client]) -> None:
    pending = RemoteFuture("pending", None)
    client.plan.append(pending)
    with ClusterExecutor("tcp://a:1") as executor:
        assert executor.submit(abs, -1).cancel()
        assert pending.is_cancelled


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workers": {}}, "has no worker"),
        ({"about": {"version": "1.0.0"}}, "has MindInsight 1.0.0"),
        ({"about": {"version": importlib.metadata.PackageNotFoundError("mindinsight")}}, "has MindInsight"),
        (
            {"about": {"python_version": "3.2.1"}},
            f"Python 3.2.1, and this server {platform.python_version()}",
        ),
        ({"about": {"isdir": False}}, "does not see the directory /base"),
    ],
)
def test_a_cluster_that_cannot_do_the_work_says_why(
    client: type[Client], changes: dict[str, Any], message: str
) -> None:
    for name, value in changes.items():
        setattr(client, name, value)
    client.about = {"isdir": True, **client.about}
    with ClusterExecutor("tcp://a:1", ["/base"]) as executor, pytest.raises(ClusterError, match=message):
        executor.submit(abs, -1).result(1)


def test_a_scheduler_that_is_not_there_is_named(client: type[Client]) -> None:
    with (
        ClusterExecutor("tcp://a:9") as executor,
        pytest.raises(ClusterError, match="tcp://a:9 cannot be reached"),
    ):
        executor.submit(abs, -1).result(1)
