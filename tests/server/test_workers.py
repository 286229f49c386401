import os
import signal
import time
from concurrent.futures import BrokenExecutor

import pytest

from mindinsight.server.workers import Workers


@pytest.fixture
def workers():
    made = Workers(1)
    yield made
    made.shutdown()


def test_tasks_run_in_another_process(workers):
    assert workers.submit(os.getpid).result(30) != os.getpid()


def test_a_task_that_always_ends_its_worker_fails_and_the_next_one_does_not(workers):
    with pytest.raises(BrokenExecutor):
        workers.submit(os._exit, 3).result(30)
    assert workers.submit(int, "7").result(30) == 7


def test_what_a_killed_worker_was_doing_is_repeated(workers):
    pid = workers.submit(os.getpid).result(30)
    task = workers.submit(time.sleep, 0.3)
    os.kill(pid, signal.SIGKILL)
    assert task.result(30) is None
    assert workers.submit(os.getpid).result(30) != pid


def test_errors_come_back(workers):
    with pytest.raises(ValueError, match="invalid literal"):
        workers.submit(int, "x").result(30)


def test_interrupts_are_left_to_the_server(workers):
    assert workers.submit(signal.getsignal, signal.SIGINT).result(30) == signal.SIG_IGN
