import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from mindinsight.server.compute.worker_process import CannotBegin, Worker


@pytest.fixture
def worker() -> Iterator[Any]:
    worker = Worker()
    yield worker
    worker.end()


def wanted() -> bool:
    return True


def test_a_call_is_answered_by_the_child(worker: Any) -> None:
    pid, error, trace = worker.call((os.getpid, (), {}), wanted)
    assert (error, trace) == (None, "")
    assert pid != os.getpid()


def test_an_error_comes_back_with_its_traceback(worker: Any) -> None:
    result, error, trace = worker.call((int, ("x",), {}), wanted)
    assert result is None
    assert isinstance(error, ValueError)
    assert "invalid literal" in trace
    assert worker.call((int, ("7",), {}), wanted) == (7, None, "")


def test_a_child_that_exits_answers_nothing(worker: Any) -> None:
    assert worker.call((os._exit, (3,), {}), wanted) is None
    assert worker.call((int, ("7",), {}), wanted) is None


def test_a_caller_that_no_longer_waits_gets_nothing(worker: Any) -> None:
    assert worker.call((signal.pause, (), {}), lambda: False) is None
    worker.kill()


def test_a_system_that_makes_no_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        def Pipe(self) -> None:
            raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("mindinsight.server.compute.worker_process._context", Context)
    with pytest.raises(CannotBegin, match="temporarily unavailable"):
        Worker()
