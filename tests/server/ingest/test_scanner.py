"""The scanner by polling: what it tells the catalogue after a scan, a change, a pause."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.ingest.catalogue import BaseStatus, Catalogue, ReadQueue
from mindinsight.server.ingest.scanner import PollSchedule, Scanner
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of
from mindinsight.server.store.store import Store


@pytest.fixture
def catalogue(store: Store, base: Path) -> Catalogue:
    return Catalogue(store, ReadQueue(), BaseStatus(str(base), "polling"))


@pytest.fixture
def scanner(settings: Settings, catalogue: Catalogue) -> Iterator[Scanner]:
    scanner = Scanner(settings, catalogue, lambda: None)
    yield scanner
    scanner.stop()


def look_until(scanner: Scanner, condition: Any) -> None:
    """Look whenever a folder is due, until the condition holds."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        scanner.look()
        time.sleep(min(max(scanner.rest(), 0), 0.05))


def test_a_scan_finds_the_runs_that_are_there(
    scanner: Scanner, catalogue: Catalogue, base: Path, events: Any
) -> None:
    events.file(base / "a")
    events.file(base / "b" / "rank_0")
    scanner.scan()
    assert catalogue.stages.keys() == {"./a", "./b/rank_0"}
    assert (catalogue.status.watch, catalogue.status.base_missing) == ("polling", False)
    assert [watched.missing for watched in catalogue.status.bases] == [False]


def test_runs_that_come_and_go_are_noticed_by_looking(
    scanner: Scanner, catalogue: Catalogue, base: Path, events: Any
) -> None:
    scanner.scan()
    scanner.follow()
    path = events.file(base / "new")
    look_until(scanner, lambda: "./new" in catalogue.stages)
    path.unlink()
    path.parent.rmdir()
    look_until(scanner, lambda: not catalogue.stages)


def test_a_file_that_grows_has_another_stamp(
    scanner: Scanner, catalogue: Catalogue, base: Path, events: Any
) -> None:
    path = events.file(base / "a", events.version())
    scanner.scan()
    (file,) = catalogue.stages["./a"].files.values()
    events.append(path, events.records(1))
    look_until(scanner, lambda: file.stamp.size == path.stat().st_size)


def test_during_a_pause_nothing_is_looked_at(
    scanner: Scanner, catalogue: Catalogue, base: Path, events: Any
) -> None:
    scanner.scan()
    scanner.pause(1000)
    assert 900 < scanner.rest() <= 1000
    events.file(base / "a")
    assert not scanner.look()
    assert catalogue.stages == {}


def test_a_base_that_comes_later_is_scanned(
    scanner: Scanner, catalogue: Catalogue, base: Path, events: Any
) -> None:
    base.rmdir()
    scanner.scan()
    assert catalogue.status.base_missing
    events.file(base / "a")
    look_until(scanner, lambda: "./a" in catalogue.stages)
    assert not catalogue.status.base_missing


def test_no_more_runs_are_kept_than_wanted(
    settings: Settings, catalogue: Catalogue, base: Path, events: Any
) -> None:
    for number in range(3):
        events.file(base / str(number))
    Scanner(replace(settings, max_runs=2), catalogue, lambda: None).scan()
    assert (len(catalogue.stages), catalogue.status.left_out) == (2, 1)


def test_each_of_several_bases_says_whether_it_is_there(
    settings: Settings, catalogue: Catalogue, base: Path, tmp_path: Path, events: Any
) -> None:
    events.file(base / "a")
    bases = bases_of([str(base), str(tmp_path / "absent")])
    Scanner(replace(settings, summary_base_dir=bases), catalogue, lambda: None).scan()
    assert catalogue.stages.keys() == {"./summary/a"}
    assert [(watched.name, watched.missing) for watched in catalogue.status.bases] == [
        ("summary", False),
        ("absent", True),
    ]


def looks(rounds: Any, until: Any, files: int = 1, stirred_at: Any = ()) -> Any:
    """Times at which a folder is looked at when each look is made the moment it is due."""
    times, stirs = [], list(stirred_at)
    while (now := rounds.next()) < until:
        while stirs and stirs[0] <= now:
            rounds.note_change("./a", stirs.pop(0))
        for folder in rounds.due(now):
            times.append(now)
            rounds.reschedule(folder, files, now)
    return times


def gaps(times: Any) -> list[Any]:
    return [round(later - earlier, 6) for earlier, later in pairwise(times)]


def test_what_was_there_at_the_start_is_looked_at_seldom() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a"], 0.0)
    assert set(gaps(looks(rounds, until=100))) == {3.0}


def test_a_folder_that_appears_is_looked_at_often_and_then_ever_more_seldom() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./"], 0.0)
    rounds.due(1.0)
    rounds.set_folders(["./", "./a"], 1.0)
    result = gaps(looks(rounds, until=300))
    assert result == sorted(result)
    assert (result[0], result[-1]) == (0.25, 3.0)


def test_a_folder_in_which_something_happens_is_looked_at_often_again() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a"], 0.0)
    times = looks(rounds, until=110, stirred_at=[100.0])
    assert len([time for time in times if time > 103]) > 20


def test_a_folder_with_very_many_files_is_looked_at_less_often() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a"], 0.0)
    times = looks(rounds, until=100, files=20_000)
    assert len(times) <= 11


def test_folders_that_went_away_are_forgotten() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./a", "./b"], 0.0)
    rounds.set_folders(["./b"], 0.0)
    assert rounds.due(1.0) == ["./b"]
    assert rounds.next() == float("inf")


def test_where_changes_are_told_a_quiet_folder_may_wait_longer_than_where_they_are_not() -> None:
    rounds = PollSchedule(longest=3.0)
    rounds.set_folders(["./told", "./asked"], 0.0)
    times: dict[Any, Any] = {"./told": [], "./asked": []}
    while (now := rounds.next()) < 100:
        for folder in rounds.due(now):
            times[folder].append(now)
            rounds.reschedule(folder, 1, now, trust=10 if folder == "./told" else 1)
    assert set(gaps(times["./asked"])) == {3.0}
    assert set(gaps(times["./told"])) == {30.0}
