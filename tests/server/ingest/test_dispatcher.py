"""Reading through an executor: order, crashes, and what becomes of answers that come too late."""

import os
import signal
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

import pytest

from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.ingest import catalogue, dispatcher
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.ingest.piece_reader import PieceRequest, read_piece
from mindinsight.server.ingest.staging.staged_columns import ScalarTable
from tests.narrowing import require


class Held(Executor):
    """Keeps what it is given until it is told to work, or to fail."""

    def __init__(self) -> None:
        self.held: list[Any] = []
        self.log: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        future: Future[Any] = Future()
        self.held.append((future, fn, args))
        self.log.append([request.path.split("/")[-2] for request in args[0]])
        return future

    def work(self, failure: Any = None) -> None:
        held, self.held = self.held, []
        for future, fn, args in held:
            if failure is None:
                future.set_result(fn(*args))
            else:
                future.set_exception(failure)


@pytest.fixture
def executor() -> Any:
    return Held()


@pytest.fixture
def rounds(settings: Any, store: Any, executor: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One round of the loader at a time, with everything handed to the executor."""
    monkeypatch.setattr(dispatcher, "INLINE", -1)
    monkeypatch.setattr(dispatcher, "PIECE", 1)
    loader = Loader(settings, store, executor)

    class PollSchedule:
        want = staticmethod(loader.want)

        def scan(self) -> None:
            loader._scanner.scan()
            self.next()

        def next(self) -> None:
            loader._work()

        def finish(self) -> None:
            while loader._work():
                executor.work()

    return PollSchedule()


def aged(path: Any, seconds: Any) -> None:
    os.utime(path, (seconds, seconds))


def test_the_newest_run_is_read_first_and_then_what_is_looked_at(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any
) -> None:
    for number in range(6):
        aged(events.file(base / f"run{number}", events.records(number)), 1000 + number)
    rounds.scan()
    assert executor.log == [["run5"], ["run4"]]
    rounds.want(["./run1"])
    executor.work()
    rounds.next()
    assert executor.log[2:] == [["run1"], ["run3"]]
    rounds.finish()
    assert [steps(f"./run{number}") for number in range(6)] == [[number] for number in range(6)]


def test_to_look_at_a_run_wakes_no_loader(
    base: Any, events: Any, executor: Any, settings: Any, store: Any
) -> None:
    events.file(base / "a", events.records(1))
    loader = Loader(settings, store, executor)
    loader.load()
    loader._wake.clear()
    loader.want(["./a"])
    assert not loader._wake.is_set()


def test_small_files_travel_together(
    base: Any, events: Any, executor: Any, settings: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "INLINE", -1)
    for number in range(20):
        events.file(base / f"run{number}", events.records(number))
    loader = Loader(settings, store, executor)
    loader._scanner.scan()
    loader._work()
    assert sorted(executor.log[0]) == sorted(f"run{number}" for number in range(20))


def test_a_little_is_read_here_and_much_by_workers(
    base: Any,
    events: Any,
    executor: Any,
    settings: Any,
    store: Any,
    steps: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events.file(base / "a", events.records(1, 2))
    loader = Loader(settings, store, executor)
    loader.load()
    assert (steps(), executor.log) == ([1, 2], [])
    monkeypatch.setattr(dispatcher, "INLINE", len(events.records(3)))
    events.file(base / "b", events.records(3))
    loader._scanner.scan()
    loader._work()
    assert (steps("./b"), executor.log) == ([3], [])
    events.file(base / "c", events.records(4, 5))
    loader._scanner.scan()
    loader._work()
    assert (steps("./c"), executor.log) == (None, [["c"]])


def test_a_file_of_which_a_worker_died_is_never_read_here(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.file(base / "a", events.records(1))
    rounds.scan()
    monkeypatch.setattr(dispatcher, "INLINE", 1 << 30)
    executor.work(BrokenExecutor())
    rounds.next()
    assert (steps(), executor.log) == (None, [["a"], ["a"]])
    executor.work()
    rounds.finish()
    assert steps() == [1]


def test_readers_see_the_list_of_runs_while_they_are_read(
    base: Any, events: Any, rounds: Any, store: Any
) -> None:
    events.file(base / "a", events.records(1))
    rounds.scan()
    run = store.snapshot().runs["./a"]
    assert (dict(run.scalars), run.read) == ({}, 0)
    assert run.total > 0
    rounds.finish()
    run = store.snapshot().runs["./a"]
    assert (run.read, run.read) == (run.total, run.size)


def test_a_file_is_not_read_twice_at_once_and_again_when_it_grew_meanwhile(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any
) -> None:
    path = events.file(base / "a", events.records(1))
    rounds.scan()
    events.append(path, events.records(2))
    rounds.scan()
    assert executor.log == [["a"]]
    rounds.finish()
    assert executor.log == [["a"], ["a"]]
    assert steps() == [1, 2]


def test_an_answer_about_a_file_that_went_away_or_was_replaced_is_dropped(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any, store: Any
) -> None:
    gone, cut = (events.file(base / name, events.records(1, 2)) for name in ("gone", "cut"))
    rounds.scan()
    rounds.finish()
    for path in (gone, cut):
        events.append(path, events.records(3))
    rounds.scan()
    executor.work()
    gone.unlink()
    cut.write_bytes(events.records(8))
    rounds.scan()
    rounds.finish()
    assert (steps("./gone"), steps("./cut")) == (None, [8])


def test_a_worker_that_dies_costs_nothing_but_time(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1))
    rounds.scan()
    executor.work(BrokenExecutor())
    rounds.finish()
    assert steps() == [1]


def test_a_file_that_kills_workers_is_named_and_left(
    base: Any,
    events: Any,
    executor: Any,
    settings: Any,
    store: Any,
    steps: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatcher, "INLINE", -1)
    bad = events.file(base / "a", events.records(1))
    events.file(base / "b", events.records(1))
    loader = Loader(settings, store, executor)
    loader._scanner.scan()
    while loader._work():
        for future, fn, (requests,) in executor.held:
            if str(bad) in [request.path for request in requests]:
                future.set_exception(BrokenExecutor())
            else:
                future.set_result(fn(requests))
        executor.held = []
    assert [file.error for file in store.snapshot().runs["./a"].files] == ["file.crashes"]
    assert steps("./b") == [1]
    assert executor.log[1:] == [["a"], ["b"]] or executor.log[1:] == [["b"], ["a"]]
    read = len(executor.log)
    events.append(bad, events.records(2))
    loader._scanner.scan()
    loader._work()
    assert len(executor.log) == read  # it is left alone for a while, however fast it grows
    bad.unlink()
    events.file(base / "a", events.records(8, 9, 10))
    loader._scanner.scan()
    loader._work()
    assert executor.log[-1] == ["a"]  # another file is another matter


def test_a_file_of_which_workers_died_is_read_a_while_later(
    base: Any,
    events: Any,
    executor: Any,
    rounds: Any,
    store: Any,
    steps: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Perhaps the machine had no memory left, or somebody killed them."""
    monkeypatch.setattr("mindinsight.server.ingest.catalogue.RISK", -1.0)
    events.file(base / "a", events.records(1))
    rounds.scan()
    for _ in range(2):
        executor.work(BrokenExecutor())
        rounds.next()
    assert [file.error for file in store.snapshot().runs["./a"].files] == ["file.crashes"]
    rounds.finish()
    assert (steps(), store.snapshot().runs["./a"].files[0].error) == ([1], "")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> Any:
        return self.now

    def time(self) -> Any:
        return 1.7e9 + self.now

    def __getattr__(self, name: Any) -> Any:
        return getattr(time, name)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The time as the store's modules see it."""
    clock = Clock()
    for module in ("dispatcher", "catalogue", "loader"):
        monkeypatch.setattr(f"mindinsight.server.ingest.{module}.time", clock)
    return clock


def test_a_worker_that_hangs_is_given_up_and_its_file_tried_again(
    base: Any, events: Any, executor: Any, clock: Any, rounds: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1))
    rounds.scan()
    for _ in range(2):
        assert not executor.held[-1][0].cancelled()
        clock.now += dispatcher.PATIENCE + 1
        rounds.next()
    assert all(future.cancelled() for future, _, _ in executor.held)
    assert [file.error for file in store.snapshot().runs["./a"].files] == ["file.hangs"]
    executor.held = []
    clock.now += catalogue.HANG - 1
    rounds.next()
    assert not executor.held
    clock.now += 2
    rounds.next()
    rounds.finish()
    assert (steps(), store.snapshot().runs["./a"].files[0].error) == ([1], "")


def test_what_waits_behind_a_hanging_worker_is_not_given_up_with_it(
    base: Any, events: Any, executor: Any, clock: Any, rounds: Any, steps: Any
) -> None:
    """One worker, two batches: the second one's time begins when the first one's is over."""
    for number in range(2):
        aged(events.file(base / f"run{number}", events.records(number)), 1000 + number)
    rounds.scan()
    clock.now += dispatcher.PATIENCE + 1
    rounds.next()
    (hung, *_), (waiting, *_) = executor.held[:2]
    assert (hung.cancelled(), waiting.cancelled()) == (True, False)
    executor.held = executor.held[1:2]
    executor.work()
    rounds.next()
    assert steps("./run0") == [0]


def test_each_time_workers_die_the_file_waits_longer(
    base: Any, events: Any, executor: Any, clock: Any, rounds: Any
) -> None:
    events.file(base / "a", events.records(1))
    rounds.scan()
    executor.work(BrokenExecutor())
    rounds.next()
    waits = []
    for _ in range(15):
        executor.work(BrokenExecutor())
        rounds.next()
        began = clock.now
        while not executor.held:
            clock.now += 0.25
            rounds.next()
        waits.append(clock.now - began)
    assert waits[:4] == pytest.approx([0.5, 1, 2, 4], abs=0.3)
    assert max(waits) == pytest.approx(3600, abs=0.3)


def test_a_file_that_was_read_after_all_counts_as_good_again(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any
) -> None:
    path = events.file(base / "a", events.records(1))
    rounds.scan()
    executor.work(BrokenExecutor())
    rounds.finish()
    assert steps() == [1]
    events.file(base / "b", events.records(5))
    events.append(path, events.records(2))
    rounds.scan()
    rounds.finish()
    assert (steps("./a"), steps("./b")) == ([1, 2], [5])


def test_what_workers_died_of_is_never_read_in_the_server(
    base: Any, events: Any, executor: Any, settings: Any, store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However small it is: it could end the server."""
    events.file(base / "a", events.records(1))
    loader = Loader(settings, store, executor)
    monkeypatch.setattr(dispatcher, "INLINE", -1)
    loader._scanner.scan()
    loader._work()
    monkeypatch.undo()
    executor.work(BrokenExecutor())
    loader._work()
    assert [len(executor.held), executor.log] == [1, [["a"], ["a"]]]


@pytest.mark.parametrize("signal_sent", [signal.SIGSTOP, signal.SIGKILL])
def test_a_real_worker_that_is_stopped_or_killed_costs_nothing_but_time(
    base: Any,
    events: Any,
    settings: Any,
    store: Any,
    steps: Any,
    clock: Any,
    monkeypatch: pytest.MonkeyPatch,
    signal_sent: Any,
) -> None:
    monkeypatch.setattr(dispatcher, "INLINE", -1)
    events.file(base / "a", events.records(1))
    with WorkerPool(1) as workers:
        os.kill(workers.submit(os.getpid).result(60), signal_sent)
        loader = Loader(settings, store, workers)
        loader._scanner.scan()
        while loader._work():
            loader._wake.wait(0.2)
            loader._wake.clear()
            clock.now = min(clock.now + 10, 1010 + dispatcher.PATIENCE)  # for the first one's time only
        assert steps() == [1]


def test_a_piece_is_read_only_where_the_file_is_still_the_same(base: Any, events: Any) -> None:
    first = events.records(1, 2)
    path = events.file(base, first + events.records(3))
    known = read_piece(PieceRequest(str(path), 0, len(first))).fingerprint
    answer = read_piece(PieceRequest(str(path), len(first), 1000, known))
    assert require(answer.stretch).blocks[0].steps.tolist() == [3]
    path.write_bytes(events.records(7, 8, 9))
    assert read_piece(PieceRequest(str(path), len(first), 1000, known)).replaced


def test_reasons_why_a_piece_cannot_be_read(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(base / "nothing")
    assert read_piece(PieceRequest(path, 0, 10)).reason == "file.gone"
    (base / "nothing").touch()
    for failure, reason in [
        (OSError(5, "Input/output error"), "file.unreadable"),
        (MemoryError(), "file.memory"),
        (ValueError("ours"), "file.undecodable"),
    ]:

        def fail(*args: Any, failure: Any = failure) -> None:
            raise failure

        monkeypatch.setattr("mindinsight.server.formats.events.read_stretch", fail)
        answer = read_piece(PieceRequest(path, 0, 10))
        assert answer.reason == reason
    assert "ValueError: ours" in answer.detail


def test_a_fault_of_ours_is_said_once_and_not_tried_again_until_the_file_changes(
    base: Any,
    events: Any,
    settings: Any,
    store: Any,
    steps: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*args: Any) -> None:
        tried.append(args)
        raise ValueError("ours")

    tried: list[Any] = []
    paths = [events.file(base / name, events.records(1)) for name in "abc"]
    loader = Loader(settings, store)
    monkeypatch.setattr("mindinsight.server.formats.events.read_stretch", fail)
    monkeypatch.setattr("mindinsight.server.ingest.catalogue.RETRY", 0.0)
    for _ in range(3):
        loader.load()
    assert len(tried) == 3
    assert caplog.text.count("ValueError: ours") == 1
    monkeypatch.undo()
    events.append(paths[0], events.records(2))
    loader.load()
    assert (steps("./a"), steps("./b")) == ([1, 2], None)


@pytest.mark.parametrize("when", ["fold", "_add"])  # at once, or when it is published
def test_a_stretch_that_cannot_be_put_in_costs_only_its_file(
    when: str,
    base: Any,
    events: Any,
    settings: Any,
    store: Any,
    steps: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    method = getattr(ScalarTable, when)

    def fail(self: Any, block: Any, *others: Any) -> None:
        if block.steps[0] == 7:
            raise IndexError("ours")
        method(self, block, *others)

    path = events.file(base / "a", events.records(1))
    events.file(base / "b", events.records(1))
    loader = Loader(settings, store)
    loader.load()
    monkeypatch.setattr(ScalarTable, when, fail)
    events.append(path, events.records(7))
    events.append(base / "b" / path.name, events.records(2))
    loader.load()
    assert (steps("./a"), steps("./b")) == (None, [1, 2])
    assert [file.error for file in store.snapshot().runs["./a"].files] == ["file.undecodable"]
    assert "IndexError: ours" in caplog.text
    monkeypatch.undo()
    events.append(path, events.records(8))
    loader.load()
    assert steps("./a") == [1, 7, 8]


def test_an_executor_that_refuses_is_asked_again(
    base: Any, events: Any, executor: Any, rounds: Any, steps: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(dispatcher, "INLINE", -1)
        raise RuntimeError("cannot schedule new futures after shutdown")

    events.file(base / "a", events.records(1))
    monkeypatch.setattr(executor, "submit", refuse, raising=False)
    rounds.scan()
    rounds.finish()
    assert steps() == [1]
