"""Threads that are started once."""

import gc
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from mindinsight.server.cancellation import result_of, watch
from mindinsight.server.compute import background_jobs as threads_of
from mindinsight.server.compute.background_jobs import BackgroundJob, Threads, start_within_limit
from tests.waiting import until


def named(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_all_start_together_and_go_on_after_a_call_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    threads, done = Threads(3, "three"), threading.Event()
    assert threads.start()
    assert len(named("three")) == 3
    for _ in range(3):
        assert threads.run(lambda: 1 / 0)
    assert threads.run(done.set)
    assert done.wait(60)
    assert len(named("three")) == 3
    threads.stop()
    until(lambda: not named("three"))
    assert caplog.text.count("a call failed") == 3


def test_they_end_with_the_object_or_by_stop_and_take_no_more() -> None:
    threads, done = Threads(2, "gone"), threading.Event()
    threads.start()
    del threads
    gc.collect()
    until(lambda: not named("gone"))
    threads = Threads(2, "stopped")
    assert threads.run(done.set)
    threads.stop()
    assert done.wait(60)  # what was given before
    assert not threads.run(done.clear)
    until(lambda: not named("stopped"))


def test_where_the_system_gives_fewer_those_work(monkeypatch: pytest.MonkeyPatch) -> None:
    start, left = threading.Thread.start, [1]

    def some(self: Any) -> None:
        if not left:
            raise RuntimeError("can't start new thread")
        left.pop()
        start(self)

    monkeypatch.setattr(threading.Thread, "start", some)
    threads, done = Threads(3, "few"), threading.Event()
    assert threads.run(done.set)
    assert done.wait(60)
    assert not Threads(3, "none").run(done.set)


def test_a_thread_that_ends_before_it_begins_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does that gets a stack, and then no memory for its first call."""
    monkeypatch.setattr(threads_of, "START_SECONDS", 0.05)
    monkeypatch.setattr(threading.Thread, "_bootstrap", lambda self: None)
    with pytest.raises(RuntimeError, match="does not begin"):
        start_within_limit(threading.Thread())
    assert not Threads(3, "dead").start()
    monkeypatch.undo()
    assert Threads(1, "alive").start()


def test_who_has_nothing_to_do_for_a_while_says_so() -> None:
    idle = threading.Event()
    threads = Threads(1, "idle", idle.set, 0.01)
    threads.start()
    assert idle.wait(60)
    threads.stop()


THREADS = Threads(1, "job")


def test_results_are_there_as_they_come() -> None:
    gate = threading.Event()

    def work() -> Iterator[Any]:
        yield 1
        gate.wait(60)
        yield 2

    job = BackgroundJob(THREADS, work, 2)
    while not job.items:
        pass
    assert (job.items, job.done) == ([1], False)
    gate.set()
    assert job.wait(60)
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
    assert first.wait(60)
    job.stop()
    assert ended.wait(60)
    assert job.wait(60)
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
    job.wait(60)
    assert (job.items, job.error, job.done) == ([1], "the disk is gone", True)
    assert "the disk is gone" in caplog.text
