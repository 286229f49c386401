"""What the file system tells, translated into folders and files to look at."""

import os
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog.events import (
    DirCreatedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
)

from mindinsight.server.compute import background_jobs
from mindinsight.server.ingest import watcher as module
from mindinsight.server.ingest.watcher import Watcher


@pytest.fixture
def rings() -> list[Any]:
    return []


@pytest.fixture
def listening(base: Any, rings: list[Any]) -> Iterator[Any]:
    watcher = Watcher(str(base), "polling", lambda: rings.append(1))
    watcher.start()
    yield watcher
    watcher.stop()


@pytest.mark.parametrize(
    ("event", "folders", "files"),
    [
        (FileModifiedEvent("/b/a/x"), set(), {"/b/a/x"}),
        (FileCreatedEvent("/b/a/x"), {"/b/a"}, set()),
        (FileDeletedEvent("/b/a/x"), {"/b/a"}, set()),
        (FileMovedEvent("/b/a/x", "/b/c/y"), {"/b/a", "/b/c"}, set()),
        (DirCreatedEvent("/b/a"), {"/b", "/b/a"}, set()),
        (DirMovedEvent("/b/a", "/b/c"), {"/b", "/b/a", "/b/c"}, set()),
        (FileModifiedEvent(b"/b/a/\xff"), set(), {b"/b/a/\xff".decode("utf-8", "surrogateescape")}),
    ],
)
def test_events_become_places_to_look_at(event: Any, folders: Any, files: Any, listening: Any) -> None:
    listening.on_any_event(event)
    assert listening.has_changes
    changes = listening.take()
    assert (changes.folders, changes.files) == (folders, files)
    assert not listening.has_changes


def test_the_bell_rings_once_until_somebody_asks(listening: Any, rings: list[Any]) -> None:
    for _ in range(5):
        listening.on_any_event(FileModifiedEvent("/b/a/x"))
    assert len(rings) == 1
    listening.take()
    listening.on_any_event(FileModifiedEvent("/b/a/x"))
    assert len(rings) == 2


def test_polling_listens_to_nothing(listening: Any) -> None:
    assert (listening.mode, listening.is_reliable(10)) == ("polling", True)


@pytest.fixture
def real(base: Any, rings: list[Any]) -> Iterator[Any]:
    watcher = Watcher(str(base), "events", lambda: rings.append(1))
    watcher.start()
    yield watcher
    watcher.stop()


def test_only_what_matters_is_told(real: Any, base: Any, events: Any, rings: list[Any], wait: Any) -> None:
    path = events.file(base, b"1")
    assert wait(lambda: rings)
    assert wait(lambda: str(path) in real._changed.files)
    real.take()
    path.read_bytes()
    with path.open("ab"):
        pass
    assert not real.has_changes
    real.on_any_event(FileClosedEvent(str(path)))
    assert real.take().files == set()


def test_folders_that_appear_are_listened_to(real: Any, base: Any, events: Any, wait: Any) -> None:
    (base / "a" / "b").mkdir(parents=True)
    assert wait(lambda: str(base) in real._changed.folders)
    path = events.file(base / "a" / "b", b"1")

    def grows() -> bool:
        events.append(path, b"2")
        return str(path) in real.take().files

    assert wait(grows)


def test_listening_ends(base: Any, wait: Any) -> None:
    before = module.watches()
    watcher = Watcher(str(base), "events", lambda: None)
    watcher.start()
    assert watcher.mode == "events"
    assert module.watches() == before + 1
    watcher.start()
    assert module.watches() == before + 1
    watcher.stop()
    assert (watcher.mode, watcher.is_reliable(10)) == ("polling", True)
    assert wait(lambda: module.watches() == before)


def test_a_base_that_is_not_there_is_not_listened_to(base: Any, caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher(str(base / "nothing"), "events", lambda: None)
    watcher.start()
    assert watcher.mode == "polling"
    assert "polling" in caplog.text


def test_where_no_thread_begins_nothing_is_listened_to_and_nobody_waits(
    base: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As when a thread gets its stack, and then no memory."""
    monkeypatch.setattr(background_jobs, "START_SECONDS", 0.05)
    monkeypatch.setattr(threading.Thread, "_bootstrap", lambda self: None)
    watcher = Watcher(str(base), "events", lambda: None)
    watcher.start()
    monkeypatch.undo()
    assert watcher.mode == "polling"
    assert "a new thread does not begin" in caplog.text
    watcher.start()
    assert watcher.mode == "events"
    watcher.stop()


def test_directories_that_cannot_be_read_are_told_once_in_our_words(
    base: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("a", "b", "c"):
        (base / name).mkdir()
    readable = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name == "c" and readable(path, mode))
    watcher = Watcher(str(base), "events", lambda: None)
    with warnings.catch_warnings(record=True) as library:
        warnings.simplefilter("always")
        watcher.start()
        warnings.warn("Callback with id '1' already exists for watch 1.", RuntimeWarning, stacklevel=1)
        watcher.stop()
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("cannot watch 2 unreadable directories, the first: ")
    assert library == []
