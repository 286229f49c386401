"""The catalogue while files come, grow, fail and go: what it asks to be read, and what readers then see."""

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.server.ingest import catalogue as read_queue
from mindinsight.server.ingest.catalogue import (
    HANG,
    RETRY,
    RISK,
    BaseStatus,
    Catalogue,
    ReadQueue,
    request_of,
)
from mindinsight.server.ingest.file_stage import FileStage
from mindinsight.server.ingest.folder_tree import Stamp, stamp_of
from mindinsight.server.ingest.piece_reader import Fingerprint, SectionResult, read_file_section
from mindinsight.server.ingest.run_discovery import DiscoveredRun
from mindinsight.server.ingest.run_stage import RunStage
from mindinsight.server.store.series import JoinedColumns
from mindinsight.server.store.store import Store
from tests.narrowing import require
from tests.server.formats.tensorboard.conftest import Messages
from tests.server.ingest.stretches import discover


@pytest.fixture
def queue() -> ReadQueue:
    return ReadQueue()


@pytest.fixture
def catalogue(store: Store, queue: ReadQueue, base: Path) -> Catalogue:
    return Catalogue(store, queue, BaseStatus(str(base), "polling"))


@pytest.fixture
def path(base: Path, events: Any) -> Path:
    """The one file of the run ./a, with the steps 1 and 2."""
    return Path(events.file(base / "a", events.version() + events.records(1, 2)))


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """now(seconds) sets the clock by which files are tried again."""

    def set_clock(seconds: float) -> None:
        clock = SimpleNamespace(monotonic=lambda: seconds, time=time.time)
        monkeypatch.setattr("mindinsight.server.ingest.catalogue.time", clock)

    set_clock(0.0)
    return set_clock


def only_file(catalogue: Catalogue, run: str = "./a") -> tuple[RunStage, FileStage]:
    stage = catalogue.stages[run]
    (file,) = stage.files.values()
    return stage, file


def read(catalogue: Catalogue) -> None:
    """Read what is new in the file, as a worker would."""
    stage, file = begin(catalogue)
    request = request_of(file)
    catalogue.take(stage, file, request, read_file_section(request))


def begin(catalogue: Catalogue) -> tuple[RunStage, FileStage]:
    """The file, marked as the dispatcher marks what it gives to a worker."""
    stage, file = only_file(catalogue)
    file.busy, file.checked = True, file.stamp
    return stage, file


def stamp(path: Path) -> Stamp:
    return require(stamp_of(str(path)))


def fail(catalogue: Catalogue, reason: str) -> None:
    stage, file = begin(catalogue)
    catalogue.take(stage, file, request_of(file), SectionResult(reason=reason))


def test_a_file_that_appears_is_asked_for_and_shown_when_it_is_read(
    catalogue: Catalogue, queue: ReadQueue, store: Store, path: Path, base: Path, steps: Any
) -> None:
    catalogue.settle(discover(base))
    assert catalogue.changed
    assert only_file(catalogue) in queue.take()
    read(catalogue)
    assert steps() is None  # nothing is seen before it is published
    catalogue.publish()
    assert steps() == [1, 2]
    assert not catalogue.changed
    assert store.snapshot().runs["./a"].read == path.stat().st_size


def test_a_file_that_grew_keeps_what_was_read(
    catalogue: Catalogue, path: Path, base: Path, events: Any, steps: Any
) -> None:
    catalogue.settle(discover(base))
    read(catalogue)
    events.append(path, events.records(3))
    assert catalogue.update_stamps("./a", {path.name: stamp(path)})
    read(catalogue)
    catalogue.publish()
    assert steps() == [1, 2, 3]


def test_a_file_with_other_bytes_is_read_anew(
    catalogue: Catalogue, path: Path, base: Path, events: Any, steps: Any
) -> None:
    catalogue.settle(discover(base))
    read(catalogue)
    path.write_bytes(events.version(9.0) + events.records(7, 8, 9))
    catalogue.update_stamps("./a", {path.name: stamp(path)})
    read(catalogue)  # notices it
    read(catalogue)
    catalogue.publish()
    assert steps() == [7, 8, 9]


def test_a_run_that_is_not_shown_is_published_once(
    catalogue: Catalogue, queue: ReadQueue, store: Store, base: Path
) -> None:
    """TensorBoard's list of hyperparameters, in the folder above those of the sessions."""
    tf, name = Messages(), "events.out.tfevents.1700000000.host"
    experiment = tf.plugin("hparams", tf.field(2, tf.field(5, tf.field(1, tf.field(2, b"accuracy")))))
    (base / "a" / "1").mkdir(parents=True)
    (base / "a" / name).write_bytes(tf.record(0, experiment))
    (base / "a" / "1" / name).write_bytes(tf.record(1, tf.scalar("accuracy", 0.5)))

    def publish() -> tuple[bool, list[str]]:
        catalogue.settle(discover(base))
        for stage, file in queue.take():
            request = request_of(file)
            file.checked = file.stamp
            catalogue.take(stage, file, request, read_file_section(request))
        catalogue.publish()
        return catalogue.changed, sorted(store.snapshot().runs)

    assert publish() == (False, ["./a/1"])
    assert publish() == (False, ["./a/1"])
    (base / "a" / "1" / name).unlink()
    (base / "a" / "1").rmdir()
    assert publish() == (False, ["./a"])
    (base / "a" / "2").mkdir()
    (base / "a" / "2" / name).write_bytes(tf.record(1, tf.scalar("accuracy", 0.5)))
    assert publish() == (False, ["./a/2"])


def test_files_that_no_run_is_known_to_have_are_said(catalogue: Catalogue, path: Path, base: Path) -> None:
    catalogue.settle(discover(base))
    assert not catalogue.update_stamps("./a", {"other": stamp(path)})
    assert not catalogue.update_stamps("./b", {path.name: stamp(path)})


def test_a_run_that_is_gone_is_gone_for_readers(
    catalogue: Catalogue, queue: ReadQueue, store: Store, path: Path, base: Path
) -> None:
    catalogue.settle(discover(base))
    item = only_file(catalogue)
    catalogue.publish()
    path.unlink()
    path.parent.rmdir()
    catalogue.settle(discover(base))
    assert catalogue.changed
    catalogue.publish()
    assert store.snapshot().runs == {}
    assert item not in queue.take()


def test_an_answer_about_a_file_that_was_replaced_meanwhile_is_dropped(
    catalogue: Catalogue, path: Path, base: Path, steps: Any
) -> None:
    catalogue.settle(discover(base))
    stage, file = only_file(catalogue)
    request = request_of(file)
    stage.remove(file.name)
    catalogue.take(stage, file, request, read_file_section(request))
    catalogue.publish()
    assert steps() is None


@pytest.mark.parametrize(("reason", "passing"), [("file.permission", True), ("file.link", False)])
def test_a_file_that_cannot_be_opened_is_tried_again_if_that_may_pass(
    catalogue: Catalogue, queue: ReadQueue, store: Store, path: Path, base: Path,
    now: Callable[[float], None], reason: str, passing: bool,
) -> None:  # fmt: skip
    catalogue.settle(discover(base))
    item = only_file(catalogue)
    queue.drop("./a", path.name)
    fail(catalogue, reason)
    catalogue.publish()
    assert [file.error for file in store.snapshot().runs["./a"].files] == [reason]
    catalogue.retry(RETRY - 0.1)
    assert item not in queue.take()
    catalogue.retry(RETRY)
    assert (item in queue.take()) == passing


def test_a_file_that_workers_die_of_is_read_alone_and_then_later_and_later(
    catalogue: Catalogue, queue: ReadQueue, path: Path, base: Path, now: Callable[[float], None]
) -> None:
    catalogue.settle(discover(base))
    stage, file = item = only_file(catalogue)
    queue.drop("./a", path.name)
    catalogue.record_crash(stage, file)
    assert file.suspect
    assert item in queue.take()
    waits = []
    for _ in range(3):
        catalogue.record_crash(stage, file)
        waits.append(file.wait)
    assert waits == [RISK, 2 * RISK, 4 * RISK]
    catalogue.record_crash(stage, file, hung=True)
    assert (file.wait, file.error) == (HANG, "file.hangs")


def test_a_fault_of_ours_costs_one_file_and_no_other(
    catalogue: Catalogue, path: Path, base: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("a fault of ours")

    catalogue.settle(discover(base))
    monkeypatch.setattr(RunStage, "fold", broken)
    read(catalogue)
    catalogue.publish()
    (file,) = store.snapshot().runs["./a"].files
    assert file.error == "file.undecodable"


def test_columns_that_series_join_count_in_their_store(
    catalogue: Catalogue, base: Path, store: Store, events: Any
) -> None:
    store.joined = JoinedColumns(1)
    for number in range(4):
        events.file(base / "ab"[number % 2], events.version() + events.records(number), seconds=number)
    catalogue.settle(discover(base))
    for stage in catalogue.stages.values():
        for file in stage.files.values():
            file.busy, file.checked = True, file.stamp
            request = request_of(file)
            catalogue.take(stage, file, request, read_file_section(request))
    catalogue.publish()
    first, second = (store.snapshot().runs[name].scalars["loss"] for name in ("./a", "./b"))
    assert [len(series.columns().steps) for series in (first, second)] == [2, 2]
    assert (first._columns is None, second._columns is None) == (True, False)


@pytest.fixture
def waiting() -> Any:
    """A read_queue, and a way to put files of a run into it: name of the run, bytes of its files."""
    every = ReadQueue()

    def put(run: Any, *sizes: Any, updated: int = 0) -> Any:
        stage = RunStage(
            DiscoveredRun(f"./{run}", f"./{run}", f"/base/{run}", run, f"./{run}", None, 0.0, updated, {}, ())
        )
        for number, size in enumerate(sizes):
            name = f"events.out.events.summary.{number}.0.h_MS"
            file = FileStage(name, f"/base/{run}/{name}", Stamp(1, 1, size, int(updated * 1e9), 0))
            stage.add(file)
            every.add(stage, file)
        return stage

    every.put = put  # type: ignore[attr-defined]
    return every


def taken(items: Any) -> list[Any]:
    return [(stage.discovered.name, file.stamp.size) for stage, file in items]


def test_nothing_waits_at_first(waiting: Any) -> None:
    assert not waiting
    assert (waiting.take(), waiting.size) == ([], 0)


def test_the_run_written_to_last_comes_first_and_its_oldest_file(waiting: Any) -> None:
    waiting.put("old", 10, updated=1)
    waiting.put("new", 20, 30, updated=2)
    assert waiting.size == 60
    assert taken(waiting.take()) == [("new", 20), ("new", 30), ("old", 10)]
    assert not waiting


def test_what_is_looked_at_comes_before_all(waiting: Any) -> None:
    for number, run in enumerate("abc"):
        waiting.put(run, number + 1, updated=number)
    waiting.want(["./a"])
    assert [run for run, _ in taken(waiting.take())] == ["a", "c", "b"]


def test_as_many_as_fit_are_taken_and_at_least_one(waiting: Any) -> None:
    waiting.put("a", 50, 40, 20, 5)
    assert taken(waiting.take(budget=100)) == [("a", 50), ("a", 40)]
    assert taken(waiting.take(budget=10)) == [("a", 20)]
    assert taken(waiting.take(budget=10)) == [("a", 5)]


def test_very_many_small_files_are_taken_in_parts(waiting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_queue, "_MAX_FILES", 3)
    waiting.put("a", *[0] * 7)
    assert [len(waiting.take()) for _ in range(4)] == [3, 3, 1, 0]


def test_a_suspect_is_read_alone_and_last(waiting: Any) -> None:
    stage = waiting.put("a", 1, 2, 3)
    first = next(iter(stage.files.values()))
    first.suspect = True
    assert taken(waiting.take()) == [("a", 2), ("a", 3)]
    assert taken(waiting.take()) == [("a", 1)]


def test_what_is_being_read_does_not_wait(waiting: Any) -> None:
    stage = waiting.put("a", 1)
    ((_, file),) = waiting.take()
    file.busy = True
    waiting.add(stage, file)
    assert not waiting


def test_what_went_away_does_not_wait(waiting: Any) -> None:
    stage = waiting.put("a", 1, 2)
    names = list(stage.files)
    waiting.drop("./a", names[0])
    waiting.drop("./a", "never there")
    waiting.drop("./b", names[1])
    assert taken(waiting.take()) == [("a", 2)]


def test_a_request_begins_where_reading_ended(waiting: Any) -> None:
    stage = waiting.put("a", 100 << 20)
    (file,) = stage.files.values()
    file.read, file.fingerprint = 40, Fingerprint(b"h", b"t")
    request = request_of(file)
    assert (request.offset, request.size, request.fingerprint) == (40, read_queue.PIECE, file.fingerprint)
    file.stamp = file.stamp._replace(size=45)
    assert request_of(file).size == 5


def test_a_lineage_file_is_requested_whole() -> None:
    file = FileStage("events.out.events.summary.1.0.h_lineage", "/x", Stamp(1, 1, 70, 0, 0))
    file.read = 50
    request = request_of(file)
    assert (request.offset, request.size, request.lineage) == (0, 70, True)
