"""Long jobs read while they run, and what is kept of them."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from mindinsight.server.cancellation import result_of, watch
from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.compute.threads import Threads

THREADS = Threads(1, "job")


def test_results_are_there_as_they_come() -> None:
    gate = threading.Event()

    def work() -> Iterator[Any]:
        yield 1
        gate.wait(10)
        yield 2

    job = BackgroundJob(THREADS, work, 2)
    while not job.items:
        pass
    assert (job.items, job.done) == ([1], False)
    gate.set()
    assert job.wait(10)
    assert (job.items, job.error) == ([1, 2], "")


def test_a_job_that_is_stopped_ends_and_cleans_up() -> None:
    ended = threading.Event()
    first = threading.Event()
    future = Future[int]()

    def work() -> Iterator[Any]:
        try:
            watch(future)
            first.set()
            yield result_of(future)
        finally:
            ended.set()

    job = BackgroundJob(THREADS, work)
    assert first.wait(10)
    job.stop()
    assert ended.wait(10)
    assert job.wait(10)
    assert future.cancelled()
    assert (job.items, job.error, job.done) == ([], "", False)


def test_a_job_without_a_thread_says_so() -> None:
    job = BackgroundJob(Threads(0, "none"), lambda: iter("abc"))
    assert (job.done, job.error) == (True, "no thread can be started")


def test_what_ends_a_job_early_is_said(caplog: pytest.LogCaptureFixture) -> None:
    def work() -> Iterator[Any]:
        yield 1
        raise OSError("the disk is gone")

    job = BackgroundJob(THREADS, work)
    job.wait(10)
    assert (job.items, job.error, job.done) == ([1], "the disk is gone", True)
    assert "the disk is gone" in caplog.text
