"""Listening to several base directories, each as its file system allows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest import watcher
from mindinsight.server.ingest.folder_tree import stamp_of
from mindinsight.server.ingest.watcher import Watchers
from tests.narrowing import require


@pytest.fixture
def listening() -> Iterator[Any]:
    made = []

    def to(watch: Any = "auto") -> Any:
        made.append(Watchers(watch, lambda: None))
        return made[-1]

    yield to
    for group in made:
        group.stop()


@pytest.fixture
def folders(tmp_path: Path) -> Any:
    """Two directories, by path with device and inode."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return {str(tmp_path / name): require(stamp_of(str(tmp_path / name)))[:2] for name in ("a", "b")}


def modes(group: Any, folders: Any) -> Any:
    return [group.mode(path) for path in folders]


def test_each_is_listened_to_or_not_as_its_file_system_tells(
    listening: Any, folders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "reports_changes", lambda path: path.endswith("a"))
    group = listening()
    group.listen(folders, dict.fromkeys(folders, 1))
    assert modes(group, folders) == ["events", "polling"]


def test_what_happens_in_any_of_them_is_told(
    listening: Any, folders: Any, events: Any, tmp_path: Path, wait: Any
) -> None:
    group = listening("events")
    group.listen(folders, dict.fromkeys(folders, 1))
    paths = {str(events.file(tmp_path / name, b"1")) for name in ("a", "b")}
    seen = set()

    def saw_both() -> Any:
        seen.update(group.take().files)
        return paths <= seen

    assert wait(saw_both)
    assert not group.take().files


def test_one_that_goes_is_no_longer_listened_to_and_another_in_its_place_is(
    listening: Any, folders: Any, tmp_path: Path
) -> None:
    group = listening("events")
    group.listen(folders, dict.fromkeys(folders, 1))
    gone, stays = folders
    group.listen({stays: folders[stays]}, {stays: 1})
    assert (group.mode(gone), group.mode(stays)) == ("polling", "events")
    assert len(group._watchers) == 1
    before = group._watchers[stays][1]
    group.listen({stays: (0, 0)}, {stays: 1})
    assert group._watchers[stays][1] is not before
    assert group.mode(stays) == "events"


def test_only_so_many_are_listened_to(listening: Any, folders: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "MAX_WATCHERS", 1)
    group = listening("events")
    group.listen(folders, dict.fromkeys(folders, 1))
    assert modes(group, folders) == ["events", "polling"]
    second = list(folders)[1]
    group.listen({second: folders[second]}, {second: 1})
    assert group.mode(second) == "events"


def test_the_watches_of_one_are_not_taken_for_those_of_another(
    listening: Any, folders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the watches used up by the first of two, the second must not believe that it is told anything."""
    monkeypatch.setattr(watcher, "watches", lambda: 100)
    group = listening("events")
    monkeypatch.setattr(watcher, "_count_folders", lambda base, limit: (100, []))
    group.listen(folders, dict.fromkeys(folders, 100))
    assert modes(group, folders) == ["events", "polling"]
