"""From files to what readers see: one look after another, each driven by the test."""

import os
import shutil
import signal
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.ingest import catalogue, piece_reader
from mindinsight.server.ingest import loader as dispatcher
from mindinsight.server.ingest import loader as loader_module
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.ingest.piece_reader import SectionRequest, read_file_section
from mindinsight.server.ingest.staged_columns import ScalarTable
from tests.narrowing import require


def run_of(store: Any, run: str = "./a") -> Any:
    return store.snapshot().runs[run]


def damage_of(store: Any, run: str = "./a") -> list[Any]:
    return [damage.reason for file in run_of(store, run).files for damage in file.damage]


def test_scalars_of_one_file(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    content = events.version() + events.records(1, 2, 3)
    path = events.file(base / "a", content)
    loader.load()
    run = run_of(store)
    assert steps() == [1, 2, 3]
    assert run.scalars["loss"].columns().values.tolist() == [1.0, 2.0, 3.0]
    assert (run.read, run.total, run.size) == (len(content),) * 3
    assert [(file.name, file.read, file.pending) for file in run.files] == [(path.name, len(content), 0)]
    assert store.snapshot().base == str(base)


def test_payloads_are_found_where_they_lie(base: Any, events: Any, loader: Any, store: Any) -> None:
    events.file(base / "a", events.record(4, image=("cat", b"PNG1"), tensor=("w", [1.0, 2.0]), loss=0.5))
    loader.load()
    references = run_of(store).references
    assert references["image"]["cat"].read(0).endswith(b"PNG1")
    assert references["tensor"]["w"].steps.tolist() == [4]
    assert run_of(store).scalars["loss"].last_value == 0.5


def test_graph_files_are_payloads_under_their_own_name(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    events.file(base / "a", b"graph bytes", name="ms_output_optimize.pb")
    loader.load()
    assert run_of(store).references["graph"]["ms_output_optimize.pb"].read(0) == b"graph bytes"


@pytest.mark.parametrize("piece", [1, 7, 40, 64, 1000])
def test_a_growing_file_shows_the_same_in_whatever_pieces_it_grows(
    piece: int, base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    content = events.version() + b"".join(
        events.record(step, loss=step * 0.5, **({"acc": 1.0} if step % 3 else {})) for step in range(12)
    )
    content += events.record(12, image=("cat", b"x" * 90), loss=6.0)
    path = events.file(base / "a")
    for end in range(0, len(content) + piece, piece):
        path.write_bytes(content[:end])
        loader.load()
        assert steps() in (None, list(range(len(steps() or []))))
        assert damage_of(store) == []
    assert steps() == list(range(13))
    assert steps(tag="acc") == [step for step in range(12) if step % 3]
    assert run_of(store).references["image"]["cat"].count == 1


def test_a_half_written_record_is_waited_for_and_not_read_again_until_it_grows(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    whole = events.records(1, 2)
    events.file(base / "a", whole[:-5])
    loader.load()
    (file,) = run_of(store).files
    assert (file.read + file.pending, file.damage) == (file.size, ())
    version = store.snapshot().version
    loader.load()
    assert store.snapshot().version == version


def test_damage_takes_nothing_from_what_lies_around_it(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    content = bytearray(events.records(1, 2, 3))
    content[len(content) // 2] ^= 0x40
    events.file(base / "a", bytes(content))
    events.file(base / "b", events.records(1))
    loader.load()
    assert steps() == [1, 3]
    assert steps("./b") == [1]
    assert damage_of(store) == ["damage.body_crc"]


def test_a_restart_in_a_newer_file_is_a_segment_of_its_own(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    events.file(base / "a", events.records(1, 2, 3, 4), seconds=999_999_999)
    events.file(base / "a", events.records(3, 4, 5, scale=-1.0), seconds=1_000_000_000)
    loader.load()
    columns = run_of(store).scalars["loss"].columns()
    assert columns.steps.tolist() == [1, 2, 3, 4, 3, 4, 5]
    assert columns.starts.tolist() == [0, 4]
    assert run_of(store).scalars["loss"].line().values.tolist() == [1, 2, -3, -4, -5]


def test_a_file_that_was_rolled_over_continues_its_line(
    base: Any, events: Any, loader: Any, store: Any
) -> None:
    events.file(base / "a", events.records(1, 2), seconds=1)
    events.file(base / "a", events.records(3, 4), seconds=2)
    loader.load()
    assert run_of(store).scalars["loss"].columns().starts.tolist() == [0]


def test_overlapping_files_grow_apart_and_cursors_learn_of_it(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    older = events.file(base / "a", events.records(1), seconds=1)
    newer = events.file(base / "a", events.records(5), seconds=2)
    loader.load()
    before = run_of(store).scalars["loss"]
    events.append(newer, events.records(6))
    loader.load()
    grown = run_of(store).scalars["loss"]
    assert (steps(), grown.generation) == ([1, 5, 6], before.generation)
    events.append(older, events.records(2))
    loader.load()
    moved = run_of(store).scalars["loss"]
    assert steps() == [1, 2, 5, 6]
    assert moved.generation > grown.generation
    assert before.columns().steps.tolist() == [1, 5]


def test_only_what_changed_gets_a_new_version(base: Any, events: Any, loader: Any, store: Any) -> None:
    events.file(base / "a", events.records(1))
    path = events.file(base / "b", events.records(1) + events.records(1, tag="acc"))
    loader.load()
    before = store.snapshot()
    messages: list[Any] = []
    store.subscribe(messages.append)
    events.append(path, events.records(2))
    loader.load()
    after = store.snapshot()
    assert after.runs["./a"] is before.runs["./a"]
    assert after.runs["./b"].scalars["acc"] is before.runs["./b"].scalars["acc"]
    assert after.runs["./b"].scalars["loss"].version == after.runs["./b"].version == after.version
    assert [(changes.runs, dict(changes.kinds), changes.list) for changes in messages[-1:]] == [
        (frozenset({"./b"}), {"./b": frozenset({"scalar"})}, False)
    ]


def test_a_truncated_file_is_read_afresh(base: Any, events: Any, loader: Any, steps: Any) -> None:
    path = events.file(base / "a", events.records(1, 2, 3))
    loader.load()
    path.write_bytes(events.records(7))
    loader.load()
    assert steps() == [7]


def test_a_file_rewritten_in_place_and_grown_is_read_afresh(
    base: Any, events: Any, loader: Any, steps: Any
) -> None:
    path = events.file(base / "a", events.records(1, 2, 3))
    loader.load()
    path.write_bytes(events.records(11, 12, 13, 14))
    loader.load()
    assert steps() == [11, 12, 13, 14]


def test_a_file_replaced_by_a_longer_copy_of_itself_goes_on(
    base: Any, events: Any, loader: Any, store: Any, steps: Any, tmp_path: Path
) -> None:
    """What rsync does: a new inode under the old name."""
    content = events.records(1) + events.record(1, image=("cat", b"one"))
    path = events.file(base / "a", content)
    loader.load()
    generation = run_of(store).scalars["loss"].generation
    copy = events.file(tmp_path, content + events.records(2))
    copy.replace(path)
    loader.load()
    assert steps() == [1, 2]
    assert run_of(store).scalars["loss"].generation == generation
    assert run_of(store).references["image"]["cat"].read(0).endswith(b"one")


def test_a_file_replaced_by_another_is_read_afresh(
    base: Any, events: Any, loader: Any, steps: Any, tmp_path: Path
) -> None:
    path = events.file(base / "a", events.records(1, 2))
    loader.load()
    events.file(tmp_path, events.records(5, 6, 7)).replace(path)
    loader.load()
    assert steps() == [5, 6, 7]


@pytest.mark.parametrize("how", ["written over", "put in its place"])
def test_a_damaged_file_that_is_healed_is_read_afresh(
    how: str, base: Any, events: Any, loader: Any, store: Any, steps: Any, tmp_path: Path
) -> None:
    """What cp and scp do, and what rsync does: the same size, and no difference where it begins and ends."""
    good = events.records(*range(20))
    bad = bytearray(good)
    bad[len(good) // 2] ^= 0x10
    path = events.file(base / "a", bytes(bad))
    loader.load()
    assert len(steps()) == 19
    if how == "written over":
        path.write_bytes(good)
    else:
        events.file(tmp_path, good).replace(path)
    loader.load()
    assert (steps(), damage_of(store)) == (list(range(20)), [])


def test_a_touched_file_is_not_read_again(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    path = events.file(base / "a", events.records(1, 2))
    loader.load()
    series = run_of(store).scalars["loss"]
    os.utime(path, (1, 1))
    loader.load()
    assert run_of(store).scalars["loss"] is series
    assert run_of(store).updated == 1.0


def test_removed_files_take_their_values_with_them(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1) + events.records(1, tag="old"), seconds=1)
    newer = events.file(base / "a", events.records(2, 3), seconds=2)
    loader.load()
    newer.unlink()
    loader.load()
    assert steps() == [1]
    newer.with_name(events.name.format(1)).rename(newer)
    loader.load()
    assert (steps(), steps(tag="old")) == ([1], [1])
    assert [file.name for file in run_of(store).files] == [newer.name]


def test_runs_that_vanish_appear_and_are_renamed_are_followed(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1))
    loader.load()
    messages: list[Any] = []
    store.subscribe(messages.append)
    (base / "a").rename(base / "b")
    loader.load()
    assert (steps("./a"), steps("./b")) == (None, [1])
    assert (messages[0].list, messages[0].runs) == (True, frozenset({"./a", "./b"}))
    shutil.rmtree(base / "b")
    loader.load()
    assert store.snapshot().runs == {}


def test_a_base_that_vanishes_and_comes_back(
    base: Any, events: Any, loader: Any, store: Any, steps: Any
) -> None:
    events.file(base / "a", events.records(1))
    loader.load()
    moved = base.rename(base.with_name("elsewhere"))
    loader.load()
    assert (store.snapshot().base_missing, store.snapshot().runs) == (True, {})
    moved.rename(base)
    loader.load()
    assert (store.snapshot().base_missing, steps()) == (False, [1])


def test_the_newest_runs_are_taken_and_others_make_room(
    base: Any, events: Any, store: Any, settings: Any
) -> None:
    paths = [events.file(base / f"run{number}", events.records(number)) for number in range(4)]
    for number, path in enumerate(paths):
        os.utime(path, (1000 + number, 1000 + number))
    loader = Loader(settings.__class__(base, settings.workspace, max_runs=2), store)
    loader.load()
    assert (set(store.snapshot().runs), store.snapshot().left_out) == ({"./run2", "./run3"}, 2)
    events.append(paths[0], events.records(9))
    loader.load()
    assert (set(store.snapshot().runs), store.snapshot().left_out) == ({"./run0", "./run3"}, 2)


def test_an_unreadable_file_is_named_and_read_when_it_can_be(
    base: Any, events: Any, loader: Any, store: Any, steps: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = events.file(base / "a", events.records(1))
    events.file(base / "b", events.records(1))
    opened = piece_reader.opened  # type: ignore[attr-defined]

    def refuse(name: Any) -> Any:
        if name == str(path):
            raise PermissionError(13, "Permission denied")
        return opened(name)

    monkeypatch.setattr(piece_reader, "opened", refuse)
    loader.load()
    assert [file.error for file in run_of(store).files] == ["file.permission"]
    assert (steps(), steps("./b")) == (None, [1])
    monkeypatch.undo()
    path.chmod(0o644 if path.stat().st_mode & 0o777 != 0o644 else 0o600)
    loader.load()
    assert (steps(), run_of(store).files[0].error) == ([1], "")


def test_lineage_is_read_whole_each_time_it_grows(
    base: Any, events: Any, loader: Any, store: Any, sample_lineage: list[Any]
) -> None:
    first, second = sample_lineage
    path = events.file(base / "a", first, name="events.out.events.summary.{}.0.host_lineage")
    loader.load()
    before = run_of(store).lineage
    assert before.user_defined == {"batch": 32}
    events.append(path, second[:-3])
    loader.load()
    assert run_of(store).files[0].pending == len(second) - 3
    events.append(path, second[-3:])
    loader.load()
    assert run_of(store).lineage.user_defined == {"batch": 32, "note": "warm"}
    path.unlink()
    events.file(base / "a", events.records(1))
    loader.load()
    assert run_of(store).lineage is None


@pytest.fixture
def sample_lineage() -> list[Any]:
    from mindinsight.proto.framing import encode_record
    from mindinsight.proto.lineage_pb2 import LineageEvent

    first, second = LineageEvent(wall_time=1.0), LineageEvent(wall_time=2.0)
    first.user_defined_info.user_info.add().map_int32["batch"] = 32
    second.user_defined_info.user_info.add().map_str["note"] = "warm"
    return [encode_record(event.SerializeToString()) for event in (first, second)]


def test_very_many_files_at_once(base: Any, events: Any, loader: Any, store: Any, steps: Any) -> None:
    for number in range(300):
        events.file(base / "a", events.records(number), seconds=1000 + number)
    loader.load()
    assert steps() == list(range(300))
    assert run_of(store).scalars["loss"].columns().starts.tolist() == [0]
    assert len(run_of(store).files) == 300


def test_a_tail_costs_no_copy_of_what_was_there(base: Any, events: Any, loader: Any, store: Any) -> None:
    path = events.file(base / "a", events.records(*range(1000)))
    loader.load()
    events.append(path, events.records(1000))
    loader.load()
    roomy = run_of(store).scalars["loss"].columns().steps
    events.append(path, events.records(1001))
    loader.load()
    assert np.shares_memory(roomy, run_of(store).scalars["loss"].columns().steps)


def test_freed_memory_is_released_once_after_much_was_moved(
    base: Any, events: Any, settings: Any, store: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[int] = []
    monkeypatch.setattr(loader_module, "release_freed_memory", lambda: released.append(1))
    monkeypatch.setattr(loader_module, "_MIN_MOVED", 64 << 10)
    path = events.file(base / "a", events.records(*range(6000)))
    loader = Loader(settings, store)
    loader.start()
    assert wait(lambda: released)
    events.append(path, events.records(6000))
    assert wait(lambda: run_of(store).scalars["loss"].count == 6001)
    loader.stop()
    assert released == [1]


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
    for module in ("catalogue", "loader"):
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
    known = read_file_section(SectionRequest(str(path), 0, len(first))).fingerprint
    answer = read_file_section(SectionRequest(str(path), len(first), 1000, known))
    assert require(answer.section).blocks[0].steps.tolist() == [3]
    path.write_bytes(events.records(7, 8, 9))
    assert read_file_section(SectionRequest(str(path), len(first), 1000, known)).replaced


def test_reasons_why_a_piece_cannot_be_read(base: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(base / "nothing")
    assert read_file_section(SectionRequest(path, 0, 10)).reason == "file.gone"
    (base / "nothing").touch()
    for failure, reason in [
        (OSError(5, "Input/output error"), "file.unreadable"),
        (MemoryError(), "file.memory"),
        (ValueError("ours"), "file.undecodable"),
    ]:

        def fail(*args: Any, failure: Any = failure) -> None:
            raise failure

        monkeypatch.setattr("mindinsight.server.formats.events.read_section", fail)
        answer = read_file_section(SectionRequest(path, 0, 10))
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
    monkeypatch.setattr("mindinsight.server.formats.events.read_section", fail)
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
