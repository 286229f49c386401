"""A loader in its own thread, following what other processes do to the base directory."""

import dataclasses
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest import piece_reader, watcher
from mindinsight.server.ingest.loader import Loader
from tests.narrowing import require

from .conftest import loader_threads

# The library warns, in a thread of its own, when a folder is moved and made anew in between.
pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")


@pytest.fixture(params=["polling", "events"])
def following(request: pytest.FixtureRequest, settings: Any, store: Any) -> Iterator[Any]:
    """By polling alone, and by events with polls so seldom that they cannot be what is seen."""
    often = {"polling": 0.25, "events": 300.0}[request.param]
    loader = Loader(dataclasses.replace(settings, watch=request.param, reload_interval=often), store)
    loader.start()
    yield request.param
    loader.stop()


def test_a_growing_file_is_followed(
    following: Any, base: Any, events: Any, store: Any, steps: Any, wait: Any
) -> None:
    path = events.file(base / "a", events.version())
    assert wait(lambda: "./a" in store.snapshot().runs)
    for step in range(5):
        events.append(path, events.records(step))
        assert wait(lambda end=step: steps() == list(range(end + 1)))
    assert store.snapshot().watch == following


def test_ranks_in_one_folder_are_followed_apart(
    following: Any, base: Any, events: Any, steps: Any, wait: Any
) -> None:
    names = [f"events.out.events.summary.{{}}.{rank}.host_MS" for rank in (0, 1)]
    now = int(time.time())
    paths = [events.file(base / "a", events.records(1), seconds=now, name=name) for name in names]
    assert wait(lambda: steps("./a") == steps("./a/rank_1") == [1])
    events.append(paths[1], events.records(2, 3))
    assert wait(lambda: steps("./a/rank_1") == [1, 2, 3])
    events.append(paths[0], events.records(2))
    assert wait(lambda: steps("./a") == [1, 2])
    assert steps("./a/rank_1") == [1, 2, 3]


def test_runs_appear_deeper_move_and_vanish(
    following: Any, base: Any, events: Any, store: Any, steps: Any, wait: Any
) -> None:
    events.file(base / "job" / "rank_0", events.records(1))
    assert wait(lambda: steps("./job/rank_0") == [1])
    (base / "job").rename(base / "other")
    assert wait(lambda: steps("./other/rank_0") == [1] and len(store.snapshot().runs) == 1)
    events.append(base / "other" / "rank_0" / events.name.format(1_700_000_000), events.records(2))
    assert wait(lambda: steps("./other/rank_0") == [1, 2])
    shutil.rmtree(base / "other")
    assert wait(lambda: store.snapshot().runs == {})


def test_files_are_replaced_truncated_and_removed(
    following: Any, base: Any, events: Any, steps: Any, wait: Any, tmp_path: Path
) -> None:
    path = events.file(base / "a", events.records(1, 2, 3))
    events.file(base / "a", events.records(0), seconds=1)
    assert wait(lambda: steps() == [0, 1, 2, 3])
    events.file(tmp_path, events.records(1, 2, 3, 4)).replace(path)
    assert wait(lambda: steps() == [0, 1, 2, 3, 4])
    path.write_bytes(events.records(9))
    assert wait(lambda: steps() == [0, 9])
    path.unlink()
    assert wait(lambda: steps() == [0])


def test_a_half_written_record_is_waited_for_quietly(
    following: Any, base: Any, events: Any, store: Any, steps: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = events.records(1, 2)
    path = events.file(base / "a", whole[:-3])
    assert wait(lambda: steps() == [1])
    reads = []

    def noted(descriptor: Any, request: Any) -> Any:
        reads.append(request.path)
        return decode(descriptor, request)

    decode = piece_reader._read_events
    monkeypatch.setattr(piece_reader, "_read_events", noted)
    events.file(base / "b", events.records(1))
    assert wait(lambda: steps("./b") == [1])
    assert str(path) not in reads
    monkeypatch.undo()
    events.append(path, whole[-3:])
    assert wait(lambda: steps() == [1, 2])


def test_a_base_that_vanishes_and_comes_back_is_followed_again(
    following: Any, base: Any, events: Any, store: Any, steps: Any, wait: Any
) -> None:
    path = events.file(base / "a", events.records(1))
    assert wait(lambda: steps() == [1])
    moved = base.rename(base.with_name("elsewhere"))
    assert wait(lambda: store.snapshot().base_missing)
    moved.rename(base)
    assert wait(lambda: steps() == [1] and not store.snapshot().base_missing)
    events.append(path, events.records(2))
    assert wait(lambda: steps() == [1, 2])


def test_what_happens_before_it_listens_is_seen(
    base: Any, events: Any, settings: Any, store: Any, steps: Any, wait: Any
) -> None:
    path = events.file(base / "a", events.records(1))
    loader = Loader(dataclasses.replace(settings, watch="events", reload_interval=300.0), store)

    def write(changes: Any) -> None:
        leave()
        events.append(path, events.records(2))

    leave = store.subscribe(write)
    loader.start()
    assert wait(lambda: steps() == [1, 2])
    loader.stop()


class NoInstances(watcher.Observer):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        raise OSError(24, "inotify instance limit reached")


class NoWatches(watcher.Observer):  # type: ignore[misc, name-defined]
    def start(self) -> None:
        raise OSError(28, "inotify watch limit reached")


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("Observer", NoInstances),
        ("Observer", NoWatches),
        ("watches", lambda: -100),
        ("reports_changes", lambda path: False),
    ],
)
def test_where_events_cannot_be_had_it_polls(
    name: str,
    instead: Any,
    base: Any,
    events: Any,
    settings: Any,
    store: Any,
    steps: Any,
    wait: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watcher, name, instead)
    loader = Loader(dataclasses.replace(settings, watch="auto"), store)
    loader.start()
    path = events.file(base / "a", events.records(1))
    assert wait(lambda: steps() == [1])
    events.append(path, events.records(2))
    assert wait(lambda: steps() == [1, 2])
    assert store.snapshot().watch == "polling"
    loader.stop()


def test_a_base_with_too_many_folders_is_polled(
    base: Any, settings: Any, store: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "_MAX_FOLDERS", 3)
    for number in range(5):
        (base / str(number)).mkdir()
    loader = Loader(dataclasses.replace(settings, watch="auto"), store)
    loader.start()
    assert wait(lambda: store.snapshot().scanned)
    loader.stop()
    assert store.snapshot().watch == "polling"


def test_watches_are_counted(base: Any, settings: Any, store: Any, wait: Any) -> None:
    for number in range(5):
        (base / str(number)).mkdir()
    (base / "link").symlink_to(base)
    before = watcher.watches()
    loader = Loader(dataclasses.replace(settings, watch="events"), store)
    loader.start()
    assert wait(lambda: store.snapshot().watch == "events")
    assert watcher.watches() - before == 6
    loader.stop()
    assert watcher.watches() == before


def test_watches_that_run_out_as_runs_come_are_polled_for(
    base: Any, events: Any, settings: Any, store: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mindinsight.server.ingest.scanner._SCAN", 0.1)
    loader = Loader(dataclasses.replace(settings, watch="events", reload_interval=300.0), store)
    loader.start()
    assert wait(lambda: store.snapshot().watch == "events")
    monkeypatch.setattr(watcher, "watches", lambda: 1)  # the library gets no more, and says nothing
    for number in range(20):
        events.file(base / f"run{number}", events.records(1))
    assert wait(lambda: store.snapshot().watch == "polling")
    assert wait(lambda: len(store.snapshot().runs) == 20)
    loader.stop()


def test_listening_that_breaks_down_is_begun_again(
    base: Any, events: Any, settings: Any, store: Any, steps: Any, wait: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mindinsight.server.ingest.scanner._SCAN", 0.1)
    loader = Loader(dataclasses.replace(settings, watch="events", reload_interval=300.0), store)
    loader.start()
    assert wait(lambda: store.snapshot().watch == "events")
    observer = require(loader._scanner._watchers._watchers[str(base)][1]._observer)
    observer.stop()
    assert wait(lambda: loader._scanner._watchers._watchers[str(base)][1]._observer is not observer)
    events.file(base / "a", events.records(1))
    assert wait(lambda: steps() == [1])
    assert store.snapshot().watch == "events"
    loader.stop()


def test_loading_once_ends_by_itself(
    base: Any, events: Any, settings: Any, store: Any, steps: Any, wait: Any
) -> None:
    events.file(base / "a", events.records(1))
    others = loader_threads()
    loader = Loader(dataclasses.replace(settings, reload_interval=0), store)
    loader.start()
    assert wait(lambda: steps() == [1])
    assert wait(lambda: loader_threads() <= others)
    loader.stop()


def test_a_round_that_fails_is_not_the_last(
    base: Any,
    events: Any,
    started: Any,
    steps: Any,
    wait: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = os.lstat

    def fail(path: Any) -> None:
        monkeypatch.undo()
        raise RuntimeError("a fault of ours")

    assert wait(lambda: started._scanner._tree.folders)
    monkeypatch.setattr("mindinsight.server.ingest.folder_tree.os.lstat", fail)
    assert wait(lambda: os.lstat is broken)
    events.file(base / "a", events.records(1))
    assert wait(lambda: steps() == [1])
    assert "a round of the loader failed" in caplog.text
