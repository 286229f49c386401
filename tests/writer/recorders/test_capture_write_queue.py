"""Writes that a thread carries out: their order, the bound, and what is lost when one fails."""

import logging
import os
import threading
from functools import partial
from pathlib import Path

import pytest

from mindinsight.writer.files import event_queue
from mindinsight.writer.recorders import capture
from mindinsight.writer.recorders.capture import WriteQueue


def test_writes_happen_in_order_and_before_close_returns() -> None:
    queue = WriteQueue()
    done: list[int | None] = []
    for number in range(100):
        queue.put(partial(done.append, number), 10)
    queue.close()
    assert done == list(range(100))
    queue.put(lambda: done.append(None))
    assert (done[-1], queue.dropped) == (99, 1)


def test_a_full_queue_makes_the_caller_wait() -> None:
    queue = WriteQueue(capacity=100)
    gate, second = threading.Event(), threading.Event()

    def wait() -> None:
        gate.wait()

    queue.put(wait, 80)
    caller = threading.Thread(target=lambda: (queue.put(lambda: None, 80), second.set()))
    caller.start()
    assert not second.wait(0.2)
    gate.set()
    assert second.wait(60)
    caller.join()
    queue.close()


def test_a_write_larger_than_the_queue_is_taken_alone() -> None:
    queue = WriteQueue(capacity=10)
    done = []
    queue.put(lambda: done.append(1), 1000)
    queue.put(lambda: done.append(2), 1000)
    queue.close()
    assert done == [1, 2]


def test_a_write_that_fails_ends_the_queue_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    queue = WriteQueue()
    gate, done = threading.Event(), []

    def fail() -> None:
        gate.wait()
        raise OSError("No space left on device")

    with caplog.at_level(logging.ERROR):
        queue.put(lambda: done.append(1))
        queue.put(fail, 10)
        queue.put(lambda: done.append(2), 10)
        gate.set()
        queue.flush()
        queue.put(lambda: done.append(3), 10)
        queue.close()
    assert done == [1]
    assert queue.dropped == 3
    assert len(caplog.records) == 1
    assert "the training continues: OSError: No space left on device" in caplog.text


def test_no_lock_is_held_while_the_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, held = WriteQueue(), []
    start = threading.Thread.start

    def watched(thread: threading.Thread) -> None:
        held.append(queue._changed._is_owned())  # type: ignore[attr-defined]
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", watched)
    queue.put(lambda: None)
    queue.close()
    assert held == [False]


def test_where_no_thread_begins_the_training_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    queue = WriteQueue()
    monkeypatch.setattr(event_queue, "_START", 0.05)
    monkeypatch.setattr(threading.Thread, "_bootstrap", lambda self: None)
    queue.put(lambda: None, 10)
    monkeypatch.undo()
    queue.put(lambda: None, 10)
    queue.close()
    assert queue.dropped == 3
    assert "the training continues: RuntimeError: a new thread does not begin" in caplog.text


@pytest.mark.parametrize("waits", ["put", "flush", "close"])
def test_a_write_that_hangs_is_waited_for_within_a_limit(
    waits: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(event_queue, "STALLED", 0.2)
    monkeypatch.setattr(capture, "_END", 0.1)
    queue, gate, done = WriteQueue(capacity=100), threading.Event(), threading.Event()

    def hang() -> None:
        gate.wait()
        done.set()

    queue.put(hang, 80)
    if waits == "put":
        queue.put(lambda: None, 80)
    elif waits == "flush":
        queue.flush()
    queue.close()
    assert isinstance(queue.error, TimeoutError)
    assert "the training continues: TimeoutError: the disk has taken nothing" in caplog.text
    gate.set()
    assert done.wait(60)
    queue._thread.join(60)
    assert not queue._thread.is_alive()


def test_a_forked_process_writes_nothing(tmp_path: Path) -> None:
    queue = WriteQueue()
    queue.put(lambda: None)
    queue.flush()
    child = os.fork()
    if child == 0:
        queue.put((tmp_path / "written").touch)
        queue.flush()
        queue.close()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    queue.close()
    assert status == 0
    assert not (tmp_path / "written").exists()
