"""Writes that a thread carries out: their order, the bound, and what is lost when one fails."""

import logging
import os
import threading
from functools import partial
from pathlib import Path

import pytest

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
    assert second.wait(10)
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
