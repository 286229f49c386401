"""When which folder is looked at."""

from itertools import pairwise
from typing import Any

from mindinsight.server.ingest.watch.poll_schedule import PollSchedule


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
