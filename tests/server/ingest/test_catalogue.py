"""The catalogue while files come, grow, fail and go: what it asks to be read, and what readers then see."""

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mindinsight.server.ingest.catalogue import HANG, RETRY, RISK, BaseStatus, Catalogue
from mindinsight.server.ingest.discovery.folder_listing import Stamp, stamp_of
from mindinsight.server.ingest.discovery.run_discovery import discover
from mindinsight.server.ingest.piece_reader import PieceResult, read_piece
from mindinsight.server.ingest.read_queue import ReadQueue, request_of
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.run_stage import RunStage
from mindinsight.server.store.store import Store
from tests.narrowing import require


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
    catalogue.take(stage, file, request, read_piece(request))


def begin(catalogue: Catalogue) -> tuple[RunStage, FileStage]:
    """The file, marked as the dispatcher marks what it gives to a worker."""
    stage, file = only_file(catalogue)
    file.busy, file.checked = True, file.stamp
    return stage, file


def stamp(path: Path) -> Stamp:
    return require(stamp_of(str(path)))


def fail(catalogue: Catalogue, reason: str) -> None:
    stage, file = begin(catalogue)
    catalogue.take(stage, file, request_of(file), PieceResult(reason=reason))


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
    assert catalogue.files_changed("./a", {path.name: stamp(path)})
    read(catalogue)
    catalogue.publish()
    assert steps() == [1, 2, 3]


def test_a_file_with_other_bytes_is_read_anew(
    catalogue: Catalogue, path: Path, base: Path, events: Any, steps: Any
) -> None:
    catalogue.settle(discover(base))
    read(catalogue)
    path.write_bytes(events.version(9.0) + events.records(7, 8, 9))
    catalogue.files_changed("./a", {path.name: stamp(path)})
    read(catalogue)  # notices it
    read(catalogue)
    catalogue.publish()
    assert steps() == [7, 8, 9]


def test_files_that_no_run_is_known_to_have_are_said(catalogue: Catalogue, path: Path, base: Path) -> None:
    catalogue.settle(discover(base))
    assert not catalogue.files_changed("./a", {"other": stamp(path)})
    assert not catalogue.files_changed("./b", {path.name: stamp(path)})


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
    catalogue.take(stage, file, request, read_piece(request))
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
