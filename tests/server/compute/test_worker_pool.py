import multiprocessing
import os
import signal
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import pytest

from mindinsight.server.compute import worker_pool as pool
from mindinsight.server.compute.worker_pool import TRIES, CannotBegin, Worker, WorkerPool
from tests.waiting import until


@pytest.fixture
def workers() -> Iterator[Any]:
    made = WorkerPool(1)
    yield made
    made.shutdown(cancel_futures=True)


class Odd(Exception):
    """Cannot be made again from its text alone."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__(f"{first} {second}")


def fail_oddly() -> None:
    raise Odd(1, 2)


def gone(pid: Any) -> Any:
    """Whether a process has ended, or only waits to be counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def test_tasks_run_in_another_process(workers: Any) -> None:
    assert workers.submit(os.getpid).result(60) != os.getpid()


def test_a_process_is_kept_for_what_comes_next(workers: Any) -> None:
    assert len({workers.submit(os.getpid).result(60) for _ in range(5)}) == 1


def test_several_work_at_a_time() -> None:
    with WorkerPool(2) as workers:
        slow = workers.submit(time.sleep, 3600)
        until(lambda: workers.running)
        assert workers.submit(int, "7").result(60) == 7
        assert slow.cancel()


def test_every_task_is_done_however_many_there_are(workers: Any) -> None:
    assert [future.result(60) for future in [workers.submit(abs, -n) for n in range(200)]] == list(range(200))


def test_a_task_that_always_ends_its_worker_fails_and_the_next_one_does_not(workers: Any) -> None:
    with pytest.raises(BrokenExecutor):
        workers.submit(os._exit, 3).result(60)
    assert workers.submit(int, "7").result(60) == 7


def test_what_a_killed_worker_was_doing_is_repeated(workers: Any, tmp_path: Path) -> None:
    """The first time it waits to be killed, the second time it finds what it waited for."""
    pid = workers.submit(os.getpid).result(60)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    task = workers.submit(pipe.read_text)
    os.kill(pid, signal.SIGKILL)
    with pipe.open("w") as file:  # opens when the next worker reads
        file.write("done")
    assert task.result(60) == "done"
    assert workers.submit(os.getpid).result(60) != pid


def test_a_worker_that_ends_takes_no_other_task_with_it() -> None:
    with WorkerPool(2) as workers:
        other = threading.Event()
        slow = workers.submit(time.sleep, 0.5)
        slow.add_done_callback(lambda done: other.set())
        with pytest.raises(BrokenExecutor):
            workers.submit(os._exit, 1).result(60)
        assert slow.result(60) is None


@pytest.mark.parametrize("way", ["stopped", "busy"])
def test_a_task_that_hangs_can_be_given_up_and_its_worker_is_ended(workers: Any, way: Any) -> None:
    pid = workers.submit(os.getpid).result(60)
    if way == "stopped":
        os.kill(pid, signal.SIGSTOP)
    task = workers.submit(time.sleep, 3600)
    until(lambda: workers.running)
    after = workers.submit(os.getpid)
    task.cancel()
    with pytest.raises(CancelledError):
        task.result(60)
    assert after.result(60) != pid
    until(lambda: gone(pid))


def test_a_task_given_up_before_its_turn_is_never_done(workers: Any, tmp_path: Path) -> None:
    slow = workers.submit(time.sleep, 0.3)
    late = workers.submit((tmp_path / "made").touch)
    assert late.cancel()
    slow.result(60)
    assert workers.submit(int, "1").result(60) == 1
    assert not (tmp_path / "made").exists()


def test_shutting_down_ends_what_hangs() -> None:
    workers = WorkerPool(1)
    pid = workers.submit(os.getpid).result(60)
    task, waiting = workers.submit(time.sleep, 3600), workers.submit(int, "1")
    workers.shutdown(cancel_futures=True)
    assert task.cancelled()
    assert waiting.cancelled()
    until(lambda: gone(pid))
    with pytest.raises(RuntimeError, match="after shutdown"):
        workers.submit(int, "1")


def test_without_cancelling_shutting_down_waits_for_what_was_given() -> None:
    workers = WorkerPool(1)
    tasks = [workers.submit(int, str(number)) for number in range(5)]
    workers.shutdown()
    assert [task.result(0) for task in tasks] == [0, 1, 2, 3, 4]


def test_an_idle_process_is_put_away_and_another_one_begins() -> None:
    with WorkerPool(1, linger=0.05) as workers:
        pid = workers.submit(os.getpid).result(60)
        until(lambda: gone(pid))
        assert workers.submit(os.getpid).result(60) != pid


def test_errors_come_back_with_where_they_arose(workers: Any) -> None:
    with pytest.raises(ValueError, match="invalid literal") as caught:
        workers.submit(int, "x").result(60)
    assert "in a worker process" in str(caught.value.__cause__)


def test_what_cannot_travel_fails_alone(workers: Any) -> None:
    with pytest.raises(Exception, match=r"pickle|local"):
        workers.submit(lambda: 1).result(60)
    with pytest.raises(Exception, match=r"pickle|local|lock"):
        workers.submit(threading.Lock).result(60)
    with pytest.raises(Exception, match=r"Odd|argument"):
        workers.submit(fail_oddly).result(60)
    assert workers.submit(int, "7").result(60) == 7


def test_interrupts_are_left_to_the_server(workers: Any) -> None:
    assert workers.submit(signal.getsignal, signal.SIGINT).result(60) == signal.SIG_IGN


def test_where_no_process_begins_the_work_is_done_here_and_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def none() -> NoReturn:
        raise CannotBegin("Resource temporarily unavailable")

    monkeypatch.setattr(pool, "Worker", none)
    with WorkerPool(2) as workers:
        assert [workers.submit(os.getpid).result(60) for _ in range(3)] == [os.getpid()] * 3
        assert workers.missing
        with pytest.raises(ValueError, match="invalid literal"):
            workers.submit(int, "x").result(60)
    assert caplog.text.count("no worker process can begin") == 1


def test_a_process_that_can_begin_again_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = [True]

    def sometimes() -> Any:
        if refused:
            raise CannotBegin(refused.pop())
        return Worker()

    monkeypatch.setattr(pool, "Worker", sometimes)
    with WorkerPool(1) as workers:
        assert workers.submit(os.getpid).result(60) == os.getpid()
        assert workers.submit(os.getpid).result(60) != os.getpid()
        assert not workers.missing


def test_that_no_process_begins_is_tried_again_without_work(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = [True]

    def sometimes() -> Any:
        if refused:
            raise CannotBegin(refused.pop())
        return Worker()

    monkeypatch.setattr(pool, "Worker", sometimes)
    with WorkerPool(1, linger=0.1) as workers:
        assert workers.submit(os.getpid).result(60) == os.getpid()
        until(lambda: not workers.missing)


def test_what_ended_a_process_is_not_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would end the server."""
    left = [1]

    def once() -> Any:
        if not left:
            raise CannotBegin("none")
        left.pop()
        return Worker()

    monkeypatch.setattr(pool, "Worker", once)
    with WorkerPool(1) as workers, pytest.raises(BrokenExecutor):
        workers.submit(os._exit, 3).result(60)


def test_where_no_thread_begins_the_work_is_done_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Any) -> None:
        raise RuntimeError("can't start new thread")

    workers = WorkerPool(1)
    monkeypatch.setattr(threading.Thread, "start", none)
    assert workers.submit(os.getpid).result(0) == os.getpid()


@pytest.fixture
def worker() -> Iterator[Any]:
    worker = Worker()
    yield worker
    worker.end()


def soon() -> float:
    return time.monotonic() + 60


def test_a_call_is_answered_by_the_child(worker: Any) -> None:
    pid, error, trace = worker.call((os.getpid, (), {}), soon())
    assert (error, trace) == (None, "")
    assert pid != os.getpid()


def test_an_error_comes_back_with_its_traceback(worker: Any) -> None:
    result, error, trace = worker.call((int, ("x",), {}), soon())
    assert result is None
    assert isinstance(error, ValueError)
    assert "invalid literal" in trace
    assert worker.call((int, ("7",), {}), soon()) == (7, None, "")


def test_a_child_that_exits_answers_nothing(worker: Any) -> None:
    assert worker.call((os._exit, (3,), {}), soon()) is None
    assert worker.call((int, ("7",), {}), soon()) is None


def test_a_call_that_is_late_gives_nothing(worker: Any) -> None:
    assert worker.call((signal.pause, (), {}), time.monotonic()) is None
    worker.kill()


def stop_within_the_answer() -> bytes:
    """Have this process send half of its answer, and then stop."""

    def half(pipe: Any, content: Any) -> None:
        pipe._send(struct.pack("!i", len(content)) + bytes(content[: len(content) // 2]))
        os.kill(os.getpid(), signal.SIGSTOP)

    Connection._send_bytes = half  # type: ignore[attr-defined]
    return bytes(10)


def test_a_process_that_stops_within_its_answer_is_ended_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_STALL", 1)
    with WorkerPool(1) as workers:
        with pytest.raises(BrokenExecutor):
            workers.submit(stop_within_the_answer).result(60)
        assert workers.submit(int, "7").result(60) == 7
        assert workers.killed == TRIES


def test_a_process_that_takes_no_call_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_STALL", 1)
    stopped = Worker()
    os.kill(stopped._process.pid, signal.SIGSTOP)
    assert stopped.call((len, (bytes(8 << 20),), {}), soon()) is None
    stopped.end()


def stop_here(note: Path) -> None:
    note.write_text(str(os.getpid()))
    os.kill(os.getpid(), signal.SIGSTOP)


def test_a_process_that_stops_while_it_begins_ends_with_its_pool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    note = tmp_path / "process"
    workers = WorkerPool(1, partial(stop_here, note))
    workers.submit(os.getpid)
    until(lambda: note.exists() and note.read_text())
    process = int(note.read_text())
    assert not gone(process)
    workers.shutdown(wait=False, cancel_futures=True)
    until(lambda: gone(process))
    assert "can begin" not in caplog.text


def fail() -> NoReturn:
    raise ValueError("no workspace")


def test_a_child_whose_beginning_fails_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(CannotBegin, match="before it began"):
        Worker().begin(fail)
    worker = Worker()
    worker.begin((tmp_path / "begun").touch)
    worker.end()
    assert (tmp_path / "begun").exists()


def test_a_system_that_makes_no_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Context:
        def set_forkserver_preload(self, names: list[str]) -> None:
            pass

        def Pipe(self) -> None:
            raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing, "get_context", lambda method: Context())
    with pytest.raises(CannotBegin, match="temporarily unavailable"):
        Worker()
