"""What is read next."""

from typing import Any

import pytest

from mindinsight.server.ingest import read_queue
from mindinsight.server.ingest.discovery.folder_listing import Stamp
from mindinsight.server.ingest.discovery.run_discovery import DiscoveredRun
from mindinsight.server.ingest.piece_reader import Fingerprint
from mindinsight.server.ingest.read_queue import ReadQueue, request_of
from mindinsight.server.ingest.staging.file_stage import FileStage
from mindinsight.server.ingest.staging.run_stage import RunStage


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
    monkeypatch.setattr(read_queue, "_MOST_FILES", 3)
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
